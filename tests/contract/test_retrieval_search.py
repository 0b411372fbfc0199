"""What a search finds for a day, what it leaves out, and what it says of both; on every store."""

import asyncio
from datetime import date

import pytest
from retrieval_parts import WordEmbedder, ingest, put_together
from retrieval_stores import edge

from services.retrieval.catalog import Filter
from services.retrieval.preference import Preference
from services.retrieval.report import Outcome, Wishes
from services.retrieval.reranking import Reranking
from services.retrieval.routing import Kind
from services.retrieval.search import Ranking, Searcher
from services.retrieval.standing import Standing

TODAY = date(2026, 6, 1)
RULE = "owners above {} percent must file a notarized proof of funds with the bank\n"


@pytest.fixture
async def embedded(directory):
    async with edge(directory) as index, put_together(index, directory) as parts:
        yield parts


def searcher(parts, **ranking):
    ranking = {"dense_weight": 0.5, **ranking}
    return Searcher(parts.catalog, parts.batcher, Ranking(**ranking), today=lambda: TODAY)


async def search(parts, query="proof of funds", limit=8, narrow=None, ranking=None, **wishes):
    return await searcher(parts, **(ranking or {})).search(
        "a", query, narrow or Filter(), limit, Wishes(**wishes)
    )


def names(passages):
    return [passage.metadata.source_name for passage in passages]


async def versions(parts):
    """A rule that was, one that is and replaces another, and one that will be."""
    await ingest(parts, RULE.format(5), "past.txt", effective_to="2026-06-01")
    await ingest(parts, RULE.format(10), "replaced.txt")
    await ingest(
        parts,
        RULE.format(25),
        "present.txt",
        supersedes=("replaced.txt", "never-there.txt"),
        effective_from="2026-06-01",
    )
    await ingest(parts, RULE.format(30), "future.txt", effective_from="2026-06-02")


async def test_only_what_is_in_force_on_the_day_is_found_and_the_rest_is_reported(parts):
    await versions(parts)
    passages, report = await search(parts)
    assert names(passages) == ["present.txt"]
    assert (report.as_of, report.document_count, report.passage_count) == ("2026-06-01", 1, 1)
    left_out = {one.document.metadata.source_name: one for one in report.exclusions}
    assert {name: one.standing for name, one in left_out.items()} == {
        "past.txt": Standing.NO_LONGER_EFFECTIVE,
        "replaced.txt": Standing.SUPERSEDED,
        "future.txt": Standing.NOT_YET_EFFECTIVE,
    }
    by = left_out["replaced.txt"].superseded_by
    assert by.source_name == "present.txt"
    assert left_out["past.txt"].superseded_by is None


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        ("2026-05-31", {"past.txt", "replaced.txt"}),
        ("2026-06-01", {"present.txt"}),
        ("2026-06-02", {"present.txt", "future.txt"}),
        ("9999-12-31", {"present.txt", "future.txt"}),
    ],
)
async def test_the_day_decides_which_version_answers(embedded, day, expected):
    await versions(embedded)
    passages, _ = await search(embedded, as_of=day)
    assert set(names(passages)) == expected


@pytest.mark.parametrize(
    ("day", "in_force", "by"),
    [
        ("2021-12-31", {"first.txt"}, {}),
        ("2022-01-01", {"second.txt"}, {"first.txt": "second.txt"}),
        # The second has ended, and the third is not there yet.
        ("2024-01-01", {"first.txt"}, {}),
        ("2024-06-01", {"third.txt"}, {"first.txt": "third.txt"}),
        ("2026-01-01", {"fourth.txt"}, {"first.txt": "fourth.txt", "third.txt": "fourth.txt"}),
    ],
)
async def test_what_was_replaced_does_not_come_back_while_what_replaced_its_successor_is_in_force(
    embedded, day, in_force, by
):
    await ingest(embedded, RULE.format(5), "first.txt")
    await ingest(
        embedded,
        RULE.format(10),
        "second.txt",
        supersedes=("first.txt",),
        effective_from="2022-01-01",
        effective_to="2024-01-01",
    )
    for name, replaced, since in (
        ("third.txt", "second.txt", "2024-06-01"),
        ("fourth.txt", "third.txt", "2026-01-01"),
    ):
        await ingest(embedded, f"{name}\n", name, supersedes=(replaced,), effective_from=since)
    passages, report = await search(embedded, as_of=day)
    assert set(names(passages)) == in_force
    assert {
        one.document.metadata.source_name: one.superseded_by.source_name
        for one in report.exclusions
        if one.standing is Standing.SUPERSEDED
    } == by


async def test_a_document_that_is_deleted_supersedes_no_more_and_one_that_names_both_does(embedded):
    await ingest(embedded, RULE.format(5), "first.txt")
    (*_, second) = await ingest(embedded, RULE.format(10), "second.txt", supersedes=("first.txt",))
    await ingest(embedded, RULE.format(25), "third.txt", supersedes=("second.txt",))
    await embedded.ingestor.delete("a", second.document.id)
    assert set(names((await search(embedded))[0])) == {"first.txt", "third.txt"}
    await ingest(embedded, RULE.format(25), "third.txt", supersedes=("second.txt", "first.txt"))
    assert names((await search(embedded))[0]) == ["third.txt"]


async def test_what_is_out_of_force_is_searched_when_asked_for(embedded):
    await versions(embedded)
    passages, report = await search(embedded, include_out_of_force=True)
    assert len(passages) == 4
    assert report.included_out_of_force
    assert report.exclusions == ()


async def test_of_what_was_left_out_that_which_would_have_answered_is_said_first(embedded):
    await ingest(embedded, "the weather was fine\n", "idle.txt", effective_to="2020-01-01")
    await ingest(embedded, RULE.format(5), "replaced.txt")
    await ingest(embedded, "nothing of that kind\n", "now.txt", supersedes=("replaced.txt",))
    passages, report = await search(embedded, limit=1)
    assert names(passages) == ["now.txt"]
    first, second = report.exclusions
    assert first.document.metadata.source_name == "replaced.txt"
    assert first.best.text == RULE.format(5)
    assert second.best is None


async def test_a_filter_decides_what_is_reported_as_left_out_but_not_what_supersedes(embedded):
    await ingest(embedded, RULE.format(5), "old.txt", document_type="policy")
    await ingest(
        embedded, RULE.format(6), "new.txt", document_type="notice", supersedes=("old.txt",)
    )
    _, report = await search(embedded, narrow=Filter(document_types=("policy",)))
    assert [one.document.metadata.source_name for one in report.exclusions] == ["old.txt"]
    _, report = await search(embedded, narrow=Filter(document_types=("notice",)))
    assert report.exclusions == ()


async def test_another_tenants_documents_supersede_nothing_here(embedded):
    await ingest(embedded, RULE.format(5), "old.txt")
    await ingest(embedded, RULE.format(6), "new.txt", tenant="b", supersedes=("old.txt",))
    passages, report = await search(embedded)
    assert names(passages) == ["old.txt"]
    assert report.exclusions == ()


async def test_authorities_are_a_list_and_a_least_one(parts):
    for authority in (1, 2, 3):
        text = RULE.format(authority)
        await ingest(parts, text, f"{authority}.txt", authority=authority)
    for narrow, expected in (
        (Filter(authorities=(1, 3)), {"1.txt", "3.txt"}),
        (Filter(authorities=(1, 2), min_authority=2), {"2.txt"}),
        (Filter(min_authority=2), {"2.txt", "3.txt"}),
    ):
        passages, report = await search(parts, narrow=narrow)
        assert set(names(passages)) == expected
        assert report.document_count == len(expected)


async def test_the_section_that_a_query_names_comes_first_and_is_reported(parts):
    # Each form feed starts another page, and each page is a section of its number.
    text = "\f".join(f"proof of funds, said here as {'more ' * n}\n" for n in range(6))
    await ingest(parts, text, "manual.txt")
    passages, report = await search(parts, "proof of funds in Section 5.1 or section 77", limit=3)
    assert passages[0].section_id == "5.1"
    assert [passage.section_id for passage in passages[1:]] != ["5.1", "5.1"]
    scores = [passage.score for passage in passages]
    assert scores == sorted(scores, reverse=True)
    assert [(one.kind, one.text, count) for one, count in report.routed] == [
        (Kind.SECTION, "Section 5.1", 1),
        (Kind.SECTION, "section 77", 0),
    ]


async def test_a_part_that_is_no_section_of_its_own_is_found_in_the_section_around_it(parts):
    text = "\f".join(f"proof of funds, said here as {'more ' * n}\n" for n in range(6))
    await ingest(parts, text, "manual.txt")
    passages, report = await search(parts, "clause 5.1(b) and Sections 2.1 to 4.1", limit=8)
    assert {passage.section_id for passage in passages[:3]} == {"5.1", "2.1", "4.1"}
    assert [(one.text, count) for one, count in report.routed] == [
        ("clause 5.1(b)", 0),
        ("clause 5.1", 1),
        ("Sections 2.1", 1),
        ("Sections 4.1", 1),
    ]


async def test_a_section_that_a_long_query_mentions_has_a_place_and_not_the_first(embedded):
    text = "\f".join(f"books {'kept ' * n}for an auditor of a fund\n" for n in range(6))
    await ingest(embedded, text + "\fsome other thing\n", "manual.txt")
    asked = "which books must be kept for whoever comes as auditor of such a fund under section 7.1"
    passages, report = await search(embedded, asked, limit=3)
    assert [passage.section_id for passage in passages].index("7.1") == 2
    assert [count for _, count in report.routed] == [1]


async def test_a_quoted_phrase_comes_first_even_where_other_words_are_nearer(embedded):
    await ingest(embedded, "funds proof funds proof of of proof funds\nthe proof of funds\n")
    passages, report = await search(embedded, 'funds proof funds "the proof of funds"')
    assert passages[0].text == "the proof of funds\n"
    assert [count for _, count in report.routed] == [1]


async def test_copies_are_collapsed_into_the_one_of_most_authority(embedded):
    await ingest(embedded, RULE.format(25) + "\n", "blog.txt", authority=1)
    await ingest(embedded, RULE.format(25), "law.txt", authority=3)
    await ingest(embedded, RULE.format(10), "draft.txt")
    passages, report = await search(embedded)
    assert sorted(names(passages)) == ["draft.txt", "law.txt"]
    (law,) = [passage for passage in passages if passage.copies]
    assert [copy.source_name for copy in law.copies] == ["blog.txt"]
    assert report.collapsed == 1


async def test_a_document_takes_no_more_places_than_it_is_given(embedded):
    await ingest(embedded, "proof one\nproof two\nproof three\n", "many.txt")
    await ingest(embedded, "other proof\n", "one.txt")
    passages, report = await search(embedded, "proof", limit=2, max_per_document=1)
    assert sorted(names(passages)) == ["many.txt", "one.txt"]
    by_setting, _ = await search(embedded, "proof", limit=2, ranking={"max_per_document": 1})
    assert by_setting == passages
    assert report.crowded_out <= 2


async def test_neighbours_follow_what_was_found_and_say_whose_they_are(embedded):
    await ingest(embedded, "first\nsecond\nthe proof of funds\nfourth\nfifth\n")
    passages, _ = await search(embedded, limit=1, neighbours=1)
    found, before, after = passages
    assert [p.text for p in passages] == ["the proof of funds\n", "second\n", "fourth\n"]
    assert found.neighbour_of == ""
    assert before.neighbour_of == after.neighbour_of == found.id
    everything, _ = await search(embedded, limit=5, neighbours=3)
    assert len({passage.id for passage in everything}) == len(everything) == 5


async def test_authority_decides_between_equals_and_nothing_else(embedded):
    await ingest(embedded, "proof of funds\n", "a.txt", authority=1)
    await ingest(embedded, "proof of funds \n", "b.txt", authority=3)
    await ingest(embedded, "something quite different\n", "c.txt", authority=3)
    ranking = {"preference": Preference(authority=0.05, recency=0.0)}
    passages, _ = await search(embedded, ranking=ranking)
    assert names(passages) == ["b.txt", "a.txt", "c.txt"]


class Backwards:
    """A reranker that prefers what was found last."""

    name = "backwards"

    def __init__(self, trouble=None):
        self.trouble = trouble
        self.read = []

    async def scores(self, query, texts):
        self.read += texts
        if self.trouble:
            await self.trouble()
        return [n / len(texts) for n in range(len(texts))]


async def broken():
    raise RuntimeError("no memory for " + "secret words")


async def endless():
    await asyncio.Event().wait()


async def test_a_reranker_orders_the_best_anew_and_is_named(embedded):
    await ingest(embedded, "proof of funds\nproof\nfunds\n")
    plain, report = await search(embedded)
    assert (report.reranking, report.reranker) == (Outcome.NOT_ASKED, "")
    ranking = {"reranking": Reranking(Backwards(), depth=2)}
    passages, report = await search(embedded, ranking=ranking)
    assert [p.id for p in passages] == [plain[1].id, plain[0].id, plain[2].id]
    scores = [passage.score for passage in passages]
    assert scores == sorted(scores, reverse=True)
    assert (report.reranking, report.reranker) == (Outcome.DONE, "backwards")


@pytest.mark.parametrize("trouble", [broken, endless])
async def test_a_reranker_that_fails_leaves_the_order_of_the_search_and_the_report_says_so(
    embedded, trouble, capsys
):
    await ingest(embedded, "proof of funds\nproof\nfunds\n")
    plain, _ = await search(embedded)
    ranking = {"reranking": Reranking(Backwards(trouble), seconds=0.01)}
    passages, report = await search(embedded, ranking=ranking)
    assert passages == plain
    assert report.reranking is Outcome.FAILED
    said = capsys.readouterr()
    assert "secret" not in said.out + said.err


async def test_the_section_that_a_query_names_comes_first_with_a_reranker_too(embedded):
    text = "\f".join(f"proof of funds, said here as {'more ' * n}\n" for n in range(6))
    await ingest(embedded, text, "manual.txt")
    ranking = {"reranking": Reranking(Backwards())}
    passages, report = await search(embedded, "Section 5.1", limit=3, ranking=ranking)
    assert passages[0].section_id == "5.1"
    assert report.reranking is Outcome.DONE


async def test_a_reranker_reads_each_text_once(embedded):
    await ingest(embedded, RULE.format(25), "law.txt")
    await ingest(embedded, RULE.format(25) + "\n", "blog.txt")
    await ingest(embedded, "funds\n", "other.txt")
    reranker = Backwards()
    passages, _ = await search(embedded, ranking={"reranking": Reranking(reranker, depth=2)})
    assert sorted(reranker.read) == [f"Page 1\n{text}" for text in ("funds\n", RULE.format(25))]
    assert [len(passage.copies) for passage in passages] == [0, 1]


async def test_a_request_may_do_without_the_reranker_and_hears_when_there_is_none(embedded):
    await ingest(embedded, "proof of funds\nproof\n")
    reranker = Backwards()
    ranking = {"reranking": Reranking(reranker)}
    _, report = await search(embedded, ranking=ranking, rerank=False)
    assert (report.reranking, reranker.read) == (Outcome.NOT_ASKED, [])
    _, report = await search(embedded, rerank=True)
    assert report.reranking is Outcome.NOT_CONFIGURED


async def test_only_one_question_is_embedded_whatever_is_asked_for(directory):
    embedder = WordEmbedder()
    async with (
        edge(directory) as index,
        put_together(index, directory, embedder=embedder) as parts,
    ):
        await versions(parts)
        embedder.batches.clear()
        await search(parts, 'section 1.1 "proof of funds"', neighbours=2)
        assert len(embedder.batches) == 1


async def test_a_passage_is_found_by_what_stands_beside_it_in_its_section(parts):
    await ingest(parts, "alpha\nbeta\n\fgamma\n", "whole.txt")
    await ingest(parts, "beta\n\falpha\n", "apart.txt")
    best, _ = await search(parts, "alpha beta", 2)
    assert names(best) == ["whole.txt", "whole.txt"]
