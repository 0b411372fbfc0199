"""The same bytes again: with other metadata, under another name, and at every moment between."""

from contextlib import aclosing

import pytest
from retrieval_parts import everything, found, ingest, pieces, put_together, upload

from services.retrieval.catalog import Filter
from services.retrieval.index import Kind, Where
from services.retrieval.passage import document_id
from services.retrieval.progress import Outcome, Progress, Stage

TEXT = "funds one\nfunds two\nfunds three\n"
ID = document_id("a", "policy.txt")
WAS = {"authority": 3, "document_type": "policy", "tags": ("aml", "both")}
IS = {"authority": 1, "document_type": "draft", "tags": ("kyc", "both")}
IS_DATED = {**IS, "effective_from": "2026-01-01", "supersedes": ("old.txt",)}
# What finds the document under what is said of it first, and what under what is said afterwards.
FINDS_WAS = [{"min_authority": 2}, {"document_types": ("policy",)}, {"tags": ("aml", "x")}]
FINDS_IS = [{"document_types": ("draft",)}, {"tags": ("kyc",)}]


async def what_holds(parts):
    """WAS or IS, whichever readers see; fails when they see anything between."""
    first, _ = await parts.searcher.search("a", "funds", Filter(), 50)
    assert len(first) == 3
    ((listed,), _) = await parts.listing.page("a", 10, "")
    document = listed.document
    assert {passage.metadata for passage in first} == {document.metadata}
    was = document.metadata.authority == 3
    for finds, expected in ((FINDS_WAS, was), (FINDS_IS, not was)):
        for narrow in finds:
            passages, report = await parts.searcher.search("a", "funds", Filter(**narrow), 50)
            assert len(passages) == (3 if expected else 0)
            assert report.passage_count == len(passages)
    assert len(await found(parts, "funds", tags=("both",))) == 3
    return "was" if was else "is"


async def test_other_metadata_for_the_same_bytes_hold_from_then_on_and_ids_stay(index, directory):
    async with put_together(index, directory) as parts:
        (created,) = (await ingest(parts, TEXT, **WAS))[-1:]
        before, _ = await parts.searcher.search("a", "funds", Filter(), 50)
        stored = await everything(parts)
        assert await what_holds(parts) == "was"
        *_, last = await ingest(parts, TEXT, **IS_DATED)
        assert last.outcome is Outcome.METADATA_UPDATED
        assert (last.document.version, last.document.sha256) == (1, created.document.sha256)
        assert await what_holds(parts) == "is"
        after, _ = await parts.searcher.search("a", "funds", Filter(), 50)
        assert {(p.id, p.text) for p in after} == {(p.id, p.text) for p in before}
        assert after[0].metadata.effective_from == "2026-01-01"
        assert after[0].metadata.supersedes == ("old.txt",)
        assert (await parts.catalog.passage("a", after[0].id)).metadata == after[0].metadata
        # Back again, and all is as it was: nothing of what was between is left in any passage.
        await ingest(parts, TEXT, **WAS)
        assert await everything(parts) == stored
        *_, last = await ingest(parts, TEXT, **WAS)
        assert last.outcome is Outcome.UNCHANGED


async def test_nothing_is_embedded_for_other_metadata(index, directory):
    async with put_together(index, directory) as parts:
        await ingest(parts, TEXT, **WAS)
        embedded = len(parts.embedder.batches)
        await ingest(parts, TEXT, **IS)
        assert len(parts.embedder.batches) == embedded


class Killed(BaseException):
    """Stands for the end of the process: nothing after it runs."""


class Watched:
    """An index that calls back before each write, and dies at the n-th of its writes."""

    def __init__(self, index, *, before=None, dies_at=-1):
        self._index = index
        self._before = before
        self._left = dies_at
        self.writes = 0

    def __getattr__(self, name):
        real = getattr(self._index, name)
        if name not in {"upsert", "amend", "delete"}:
            return real

        async def write(*args, **kwargs):
            if self._before:
                await self._before()
            if self._left == self.writes:
                raise Killed
            self.writes += 1
            return await real(*args, **kwargs)

        return write


async def test_between_any_two_writes_readers_see_the_old_metadata_or_the_new(index, directory):
    seen = []
    async with put_together(index, directory) as parts:
        await ingest(parts, TEXT, **WAS)

        async def look():
            seen.append(await what_holds(parts))

        async with put_together(Watched(index, before=look), directory) as writing:
            await ingest(writing, TEXT, **IS)
        await look()
    assert len(seen) > 5
    assert seen == sorted(seen, reverse=True)
    assert {*seen} == {"was", "is"}


@pytest.mark.parametrize("writes", range(6))
async def test_a_change_of_metadata_that_was_killed_is_whole_or_was_not(index, directory, writes):
    async with put_together(index, directory) as parts:
        await ingest(parts, TEXT, **IS)
        new = await everything(parts)
        await ingest(parts, TEXT, **WAS)
        old = await everything(parts)
        async with put_together(Watched(index, dies_at=writes), directory) as dying:
            with pytest.raises(Killed):
                await ingest(dying, TEXT, **IS)
        await what_holds(parts)
        await parts.leases.recover(alone=True)
        stored = await everything(parts)
        assert stored == (old if await what_holds(parts) == "was" else new)


async def test_the_same_bytes_under_a_name_that_is_not_known_are_the_document_they_were(
    index, directory
):
    async with put_together(index, directory) as parts:
        await ingest(parts, TEXT, **WAS)
        before = await everything(parts)
        *_, last = await ingest(parts, TEXT, "copy.txt", **IS)
        assert (last.outcome, last.document.id) == (Outcome.UNCHANGED, ID)
        assert await everything(parts) == before


async def test_bytes_of_another_document_under_a_known_name_replace_what_was_there(
    index, directory
):
    async with put_together(index, directory) as parts:
        await ingest(parts, TEXT)
        await ingest(parts, "stale\n", "other.txt", authority=3)
        async with aclosing(
            parts.ingestor.ingest("a", upload("other.txt"), pieces(TEXT))
        ) as events:
            async for event in events:
                if isinstance(event, Progress) and event.stage is Stage.INDEXING:
                    # What is being written hides nothing of the document that has these bytes.
                    texts = await found(parts, "funds", limit=50)
                    assert sorted(texts) == sorted(["stale\n", *TEXT.splitlines(keepends=True)])
        assert event.outcome is Outcome.REPLACED
        assert sorted(await found(parts, "funds")) == sorted(TEXT.splitlines(keepends=True) * 2)
        await parts.ingestor.delete("a", ID)
        assert len(await found(parts, "funds")) == 3
        where = Where("a", Kind.PASSAGE, any_of={"document_id": [ID]})
        assert await parts.index.scroll(where) == []
