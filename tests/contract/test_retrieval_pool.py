"""A search returns as many passages as are wanted while there are others, whatever falls out."""

from collections import Counter
from datetime import date

import pytest
from retrieval_parts import ingest, put_together
from retrieval_stores import edge

from services.retrieval.catalog import Filter
from services.retrieval.index import Kind
from services.retrieval.report import Wishes
from services.retrieval.reranking import Reranking
from services.retrieval.search import Ranking, Searcher

CLAUSE = "owners above 25 percent must file a notarized proof of funds with the bank\n"
NO_RERANKING = Reranking()
ASKED = "which owners must file proof of funds with the bank"


class Counted:
    """An index that counts what it is asked."""

    def __init__(self, index):
        self.index = index
        self.calls = Counter()
        self.read = 0

    def __getattr__(self, name):
        self.calls[name] += 1
        return getattr(self.index, name)

    async def get(self, tenant, kind, ids):
        self.calls["get"] += 1
        if kind is Kind.PASSAGE:
            self.read += len(ids)
        return await self.index.get(tenant, kind, ids)


class Counting:
    """A reranker that counts the texts it is given and finds each as near as the others."""

    name = "counting"

    def __init__(self):
        self.texts = 0

    async def scores(self, query, texts):
        self.texts += len(texts)
        return [0.5] * len(texts)


@pytest.fixture
async def parts(directory):
    async with (
        edge(directory) as index,
        put_together(Counted(index), directory, max_bytes=10**6) as parts,
    ):
        yield parts


async def search(parts, query=ASKED, limit=8, reranking=NO_RERANKING, **wishes):
    ranking = Ranking(dense_weight=0.5, reranking=reranking)
    searcher = Searcher(parts.catalog, parts.batcher, ranking, today=lambda: date(2026, 6, 1))
    parts.index.calls.clear()
    parts.index.read = 0
    return await searcher.search("a", query, Filter(), limit, Wishes(**wishes))


async def test_an_ordinary_search_is_one_of_the_index_and_reads_its_best_at_once(parts):
    text = "".join(f"owner {n} must file a proof of funds\n" for n in range(150))
    await ingest(parts, text, "many.txt")
    passages, report = await search(parts)
    assert (len(passages), len(report.nearest_misses)) == (8, 5)
    # What is read are the passages, and their documents' records.
    assert (parts.index.calls["nearest"], parts.index.calls["get"]) == (1, 2)
    assert parts.index.read == 24


async def test_a_reranker_is_given_as_many_as_it_reads(parts):
    text = "".join(f"owner {n} must file a proof of funds\f" for n in range(60))
    await ingest(parts, text, "many.txt")
    reranker = Counting()
    await search(parts, reranking=Reranking(reranker, depth=30))
    assert (reranker.texts, parts.index.read) == (30, 30)


async def test_copies_take_no_places_of_others(parts):
    for n in range(45):
        await ingest(parts, f"{CLAUSE}\fbranch office number {n}\n", f"copy{n:02}.txt")
    await ingest(parts, "a proof of funds is filed by the notary within two weeks\n", "other.txt")
    passages, report = await search(parts)
    assert (len(passages), len(report.nearest_misses), report.collapsed) == (8, 5, 44)
    assert {passages[0].text, passages[1].metadata.source_name} == {CLAUSE, "other.txt"}
    assert len(passages[0].copies) == 44
    assert parts.index.calls["nearest"] == 1


async def test_more_copies_than_a_search_goes_deep_take_no_places_of_others(parts):
    for n in range(120):
        # Of the same bytes there would be one document.
        await ingest(parts, CLAUSE + "\n" * n, f"copy{n:03}.txt")
    await ingest(parts, f"{CLAUSE}\fthe notary\fthe branch office\n", "copy.txt", authority=3)
    await ingest(parts, "the manager\n", "other.txt")
    passages, report = await search(parts)
    assert passages[0].metadata.source_name == "copy.txt"
    assert {passage.text for passage in passages[1:]} == {
        "the notary",
        "the branch office\n",
        "the manager\n",
    }
    assert report.collapsed == 120


async def test_a_long_document_takes_no_places_of_others_than_its_own(parts):
    text = "".join(f"net revenue of segment number {n} in the year\n" for n in range(250))
    await ingest(parts, text, "long.txt")
    for n in range(20):
        await ingest(parts, f"revenue elsewhere {n}, told at length\n", f"short{n:02}.txt")
    passages, report = await search(parts, "net revenue of segment in the year", max_per_document=1)
    assert passages[0].metadata.source_name == "long.txt"
    assert len({passage.document_id for passage in passages}) == 8
    assert len(report.nearest_misses) == 5


async def test_a_search_ends_where_there_is_nothing_else(parts):
    text = "".join(f"net revenue of segment number {n} in the year\n" for n in range(250))
    await ingest(parts, text, "long.txt")
    passages, report = await search(parts, "net revenue", max_per_document=2)
    assert (len(passages), report.nearest_misses) == (2, ())
    assert parts.index.calls["nearest"] == 2
