"""Whether the right passage is found, beside plain BM25 on the same passages.

DIR is laid out as one of three data sets: ObliQA's rulebooks and questions, articles of EU
regulations and their titles, or FinanceBench's filings and questions.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Hashable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from benchmarks.cached_embedder import CachedEmbedder, cached_embedder
from benchmarks.corpora import TENANT, Corpus, Shelf, load
from benchmarks.ranking import CUT, PlainBM25, figures
from services.retrieval import bm25, payload
from services.retrieval.batching import Batcher
from services.retrieval.catalog import Catalog, Filter
from services.retrieval.embedding import Vector
from services.retrieval.index import Index, Point
from services.retrieval.passage import Passage
from services.retrieval.qdrant_edge import open_edge_index
from services.retrieval.reading import terms_of
from services.retrieval.search import Ranking, Searcher

_GROUP = 256
# Where a document has one place, others of its passages fall out: as many as a request may ask for.
_MOST = 50
_DEPTH = 100
_RRF_K = 60

Ranked = Sequence[Passage]


def measure(arguments: list[str]) -> dict[str, Any]:
    """The figures of one run, through the real searcher and the embedded engine.

    Returns:
        `verity` and `bm25`, each with `recall_at_1`, `recall_at_10`, `mrr_at_10` and `found_at_10`,
        the share of queries for which anything relevant is among the first ten passages; `ratio`:
        the one's `found_at_10` by the other's; with `--ablate`, what each part does by itself.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks retrieval")
    parser.add_argument("--data", type=Path, required=True, help="the folder of a data set")
    parser.add_argument("--cache", type=Path, help="where vectors are kept between runs")
    parser.add_argument("--ablate", action="store_true", help="the parts one by one as well")
    parser.add_argument("--dense-weight", type=float, default=0.4)
    options = parser.parse_args(arguments)
    corpus = load(options.data)
    with (
        tempfile.TemporaryDirectory() as scratch,
        cached_embedder(options.cache or Path(scratch) / "vectors") as embedder,
    ):
        return asyncio.run(_measure(corpus, embedder, Path(scratch), options))


async def _measure(
    corpus: Corpus, embedder: CachedEmbedder, scratch: Path, options: argparse.Namespace
) -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        index = await stack.enter_async_context(
            open_edge_index(scratch, model=embedder.model, dimensions=embedder.dimensions)
        )
        await index.prepare()
        catalog = Catalog(index)
        for shelf in corpus.shelves:
            await _write(index, catalog, embedder, shelf)
        batcher = await stack.enter_async_context(Batcher(embedder).running())
        searcher = Searcher(catalog, batcher, Ranking(options.dense_weight))
        limit = _MOST if corpus.per_document else CUT
        verity = [
            (await searcher.search(TENANT, question.text, Filter(), limit))[0]
            for question in corpus.questions
        ]
        ablations = await _ablations(corpus, catalog, embedder) if options.ablate else {}
    plain = _plain(corpus)
    report = {"verity": _judged(corpus, verity), "bm25": _judged(corpus, plain)}
    return {
        "queries": len(corpus.questions),
        "passages": sum(len(shelf.passages) for shelf in corpus.shelves),
        **report,
        "ratio": round(report["verity"]["found_at_10"] / report["bm25"]["found_at_10"], 3),
        **{name: _judged(corpus, rankings) for name, rankings in ablations.items()},
    }


async def _write(index: Index, catalog: Catalog, embedder: CachedEmbedder, shelf: Shelf) -> None:
    vectors: list[Vector] = []
    for start in range(0, len(shelf.texts), _GROUP):
        texts = shelf.texts[start : start + _GROUP]
        vectors += await asyncio.to_thread(embedder.encode, texts)
    terms = terms_of(shelf.texts, shelf.passages, shelf.document.metadata.source_name)
    points = [
        Point(passage.id, payload.from_passage(TENANT, passage), dense, sparse)
        for passage, dense, sparse in zip(shelf.passages, vectors, terms, strict=True)
    ]
    for start in range(0, len(points), _GROUP):
        await index.upsert(points[start : start + _GROUP])
    await catalog.publish(TENANT, shelf.document)


async def _ablations(
    corpus: Corpus, catalog: Catalog, embedder: CachedEmbedder
) -> dict[str, list[Ranked]]:
    """Rankings by meaning alone, by our BM25 alone, and by the sum of reciprocal ranks."""
    passages = {passage.id: passage for shelf in corpus.shelves for passage in shelf.passages}
    rankings: dict[str, list[Ranked]] = {"dense_only": [], "bm25_only": [], "rrf": []}
    for question in corpus.questions:
        (dense,) = await asyncio.to_thread(embedder.encode, [question.text])
        sparse = bm25.query_vector(question.text)
        lists = [
            [hit.id for hit in hits]
            for hits in await catalog.candidates(TENANT, Filter(), dense, sparse, depth=_DEPTH)
        ]
        for name, ids in zip(rankings, [*lists, _reciprocal(lists)], strict=True):
            rankings[name].append([passages[id_] for id_ in ids])
    return rankings


def _reciprocal(lists: Sequence[Sequence[str]]) -> list[str]:
    scores: dict[str, float] = {}
    for ids in lists:
        for rank, id_ in enumerate(ids, 1):
            scores[id_] = scores.get(id_, 0.0) + 1 / (_RRF_K + rank)
    return sorted(scores, key=lambda id_: (-scores[id_], id_))


def _plain(corpus: Corpus) -> list[Ranked]:
    passages = [passage for shelf in corpus.shelves for passage in shelf.passages]
    peer = PlainBM25(passage.text for passage in passages)
    return [
        [passages[number] for number in peer.best(question.text)] for question in corpus.questions
    ]


def _judged(corpus: Corpus, rankings: Sequence[Ranked]) -> dict[str, float]:
    shown = [
        [frozenset(corpus.shows(passage)) for passage in _spread(ranking, corpus.per_document)]
        for ranking in rankings
    ]
    return figures(shown, [question.gold for question in corpus.questions])


def _spread(ranking: Ranked, per_document: int) -> list[Passage]:
    """The first ten, of which at most so many are of one document."""
    taken: list[Passage] = []
    places: dict[Hashable, int] = {}
    for passage in ranking:
        place = places.get(passage.document_id, 0)
        if not per_document or place < per_document:
            places[passage.document_id] = place + 1
            taken.append(passage)
        if len(taken) == CUT:
            break
    return taken
