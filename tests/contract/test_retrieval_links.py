"""How documents and passages name each other: neighbours in a text, and what supersedes what."""

import pytest
from retrieval_parts import ingest

from services.chassis.errors import InvalidInput, NotFound
from services.retrieval import payload
from services.retrieval.catalog import Filter
from services.retrieval.index import Kind

TEXT = "one\ntwo\n\nthree\n\f\nfour\nfive\n"


async def passage_of(parts, text):
    passages, _ = await parts.searcher.search("a", text, Filter(), 50)
    return next(passage for passage in passages if passage.text.strip() == text)


def texts(passages):
    return [passage.text.strip() for passage in passages]


@pytest.mark.parametrize(
    ("text", "each_side", "before", "after"),
    [
        ("one", 0, [], []),
        ("one", 2, [], ["two", "three"]),
        ("three", 1, ["two"], ["four"]),
        ("three", 10, ["one", "two"], ["four", "five"]),
        ("five", 1, ["four"], []),
    ],
)
async def test_a_passage_comes_with_those_around_it_in_the_order_of_the_document(
    parts, text, each_side, before, after
):
    await ingest(parts, "other\n", "other.txt")
    await ingest(parts, TEXT)
    passage = await parts.catalog.passage("a", (await passage_of(parts, text)).id)
    found = await parts.catalog.neighbours("a", passage, each_side)
    assert tuple(map(texts, found)) == (before, after)


async def test_neighbours_of_another_tenant_are_not_there(parts):
    await ingest(parts, TEXT)
    passage = await passage_of(parts, "three")
    with pytest.raises(NotFound):
        await parts.catalog.neighbours("b", passage, 1)


async def test_a_passage_that_was_written_before_passages_were_linked_has_no_neighbours(parts):
    await ingest(parts, TEXT)
    passage = await passage_of(parts, "three")
    (record,) = (await parts.index.get("a", Kind.PASSAGE, [passage.id])).values()
    old = dict(record.payload)
    for field in ("previous_id", "next_id", "supersedes"):
        del old[field]
    read = payload.to_passage(passage.id, old)
    assert await parts.catalog.neighbours("a", read, 3) == ([], [])
    assert read.metadata.supersedes == ()


async def test_a_document_names_what_it_supersedes_be_it_there_or_not(parts):
    await ingest(parts, "one\n", "2025.txt")
    events = await ingest(parts, "two\n", "2026.txt", supersedes=("2025.txt", "2024.txt"))
    document = await parts.catalog.document("a", events[-1].document.id)
    assert document.metadata.supersedes == ("2025.txt", "2024.txt")
    assert (await passage_of(parts, "two")).metadata == document.metadata


@pytest.mark.parametrize(
    "supersedes",
    [("c.txt",), ("x.txt", "c.txt"), ("a.txt",), ("b.txt",)],
    ids=["itself", "itself-among-others", "round-three", "round-two"],
)
async def test_a_document_that_would_supersede_itself_is_refused_and_nothing_changes(
    parts, supersedes
):
    await ingest(parts, "one\n", "a.txt", supersedes=("b.txt",))
    await ingest(parts, "two\n", "b.txt", supersedes=("c.txt",))
    await ingest(parts, "x\n", "c.txt", tenant="b", supersedes=("b.txt",))  # Another's chain.
    with pytest.raises(InvalidInput) as caught:
        await ingest(parts, "three\n", "c.txt", supersedes=supersedes)
    (violation,) = caught.value.violations
    assert violation.field == "metadata.supersedes"
    assert len(await parts.catalog.named("a", ["a.txt", "b.txt", "c.txt"])) == 2
