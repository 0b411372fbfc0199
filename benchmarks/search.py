"""Filtered hybrid search on the embedded index: what it costs once the question is embedded.

Timed are both searches under one filter (tenant, type, authority, dates), the records that say
which versions are current, fusion, the best passages, and the count of what was searched; not the
look for documents that are superseded or out of date. The index is in the page cache. Passages and
questions are made up (--data is not read): words by Zipf's law, the commonest of them real ones (a
question's little words are not looked for), vectors in clusters, sizes as in real documents; a
second tenant has a tenth as many.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from services.retrieval import bm25, payload
from services.retrieval.catalog import Catalog
from services.retrieval.document import Box
from services.retrieval.fusion import best_first, fuse
from services.retrieval.index import Kind, Point, SparseVector, Where
from services.retrieval.passage import Metadata, Passage, Region, StoredDocument
from services.retrieval.passage import document_id as id_of
from services.retrieval.passage import passage_id as passage_id_of
from services.retrieval.qdrant_edge import EdgeIndex, open_edge_index
from services.retrieval.sparse_files import pieces

DIMENSIONS = 384
DEPTH, RETURNED = 100, 24
TENANT, OTHER = "tenant", "other"
PER_DOCUMENT, WORDS, QUESTION_WORDS = 50, 150, 12
TOPICS, VOCABULARY = 300, 40_000
TYPES = ("policy", "regulation", "filing", "kyc")
# In the order in which rulebooks have them.
COMMONEST = [
    *("the", "of", "to", "a", "in", "and", "or", "an", "that", "is"),
    *("for", "person", "be", "as", "by", "with", "any", "authorised", "on", "its"),
]
DAY = 20200101
WARM_UP = 20
TARGETS = {"p95_ms_at_100000": 15, "p95_ratio": 2}


def measure(arguments: list[str]) -> dict[str, Any]:
    parser = argparse.ArgumentParser(prog="python -m benchmarks search")
    parser.add_argument("--data", type=Path, help="not read: passages are made up")
    parser.add_argument("--passages", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--directory", type=Path, help="keeps the indexes, and takes those there")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.directory or Path(temporary)
        sizes = [
            asyncio.run(_size(where, count, options.queries, fill=not where.exists()))
            for count in options.passages
            if (where := directory / str(count))
        ]
    smallest, largest = sizes[0], sizes[-1]
    return {
        "sizes": sizes,
        "p95_ratio": round(largest["p95_ms"] / smallest["p95_ms"], 2),
        "targets": TARGETS,
    }


@dataclass(frozen=True, slots=True)
class _Question:
    dense: list[float]
    sparse: SparseVector


class _World:
    """Where made-up passages and questions come from: topics, and words of which few are common."""

    def __init__(self, seed: int) -> None:
        self._chance = np.random.default_rng(seed)
        self._topics = np.random.default_rng(0).standard_normal((TOPICS, DIMENSIONS))
        self._ranks = np.cumsum(1 / np.arange(1, VOCABULARY + 1) ** 1.05)

    def topic(self) -> int:
        return int(self._chance.integers(TOPICS))

    def vector(self, topic: int) -> list[float]:
        vector = 0.8 * self._topics[topic] + self._chance.standard_normal(DIMENSIONS)
        floats: list[float] = (vector / np.linalg.norm(vector)).tolist()
        return floats

    def text(self, words: int) -> str:
        drawn = np.searchsorted(self._ranks, self._chance.random(words) * self._ranks[-1])
        return " ".join(map(_word, drawn.tolist()))


async def _size(directory: Path, count: int, queries: int, *, fill: bool) -> dict[str, Any]:
    figures: dict[str, Any] = {"passages": count}
    if fill:
        started = time.perf_counter()
        # Not optimized on the way: that is measured below, and once is enough.
        async with _opened(directory, optimize_after=10**9) as index:
            await _fill(index, TENANT, count)
            await _fill(index, OTHER, count // 10)
        figures["filling_seconds"] = round(time.perf_counter() - started, 1)
    world = _World(1)
    questions = [
        _Question(world.vector(world.topic()), bm25.query_vector(world.text(QUESTION_WORDS)))
        for _ in range(WARM_UP + queries)
    ]
    started = time.perf_counter()
    async with _opened(directory, optimize_after=count // 2) as index:
        optimizing = asyncio.create_task(index.optimized())
        meanwhile: list[float] = []
        while not optimizing.done():
            meanwhile.append(await _timed(index, questions[len(meanwhile) % len(questions)]))
            await asyncio.sleep(0.05)
        if len(meanwhile) > 1:
            figures["optimizing_seconds"] = round(time.perf_counter() - started, 1)
            figures["while_optimizing"] = {**_spread(meanwhile), "reads": len(meanwhile)}
        _read(directory)
        for question in questions[:WARM_UP]:
            await _search(index, question)
        return {**figures, **_spread([await _timed(index, one) for one in questions[WARM_UP:]])}


def _read(directory: Path) -> None:
    """Brings the index into the page cache, where a service that is at work has it.

    What was written long ago may not be there any more, and then the disk is measured.
    """
    for path in directory.rglob("*"):
        if path.is_file():
            with path.open("rb", buffering=0) as file:
                for _ in pieces(file):
                    pass


def _opened(directory: Path, *, optimize_after: int) -> Any:
    return open_edge_index(
        directory, model="made-up", dimensions=DIMENSIONS, optimize_after=optimize_after
    )


async def _timed(index: EdgeIndex, question: _Question) -> float:
    started = time.perf_counter()
    await _search(index, question)
    return (time.perf_counter() - started) * 1000


async def _search(index: EdgeIndex, question: _Question) -> None:
    catalog = Catalog(index)
    passages, _ = await asyncio.gather(
        _found(index, catalog, question),
        index.tally(_filter(Kind.DOCUMENT), "passage_count"),
    )
    if len(passages) != RETURNED:
        raise RuntimeError("A search came back short: what is measured is not what is meant.")


async def _found(index: EdgeIndex, catalog: Catalog, question: _Question) -> dict[str, Passage]:
    by_dense, by_sparse = await index.nearest(
        _filter(Kind.PASSAGE), question.dense, question.sparse, limit=DEPTH, bare=True
    )
    sums = fuse(by_dense, by_sparse, depth=DEPTH, dense_weight=0.4)
    return await catalog.read(TENANT, best_first(sums)[:RETURNED])


def _filter(kind: Kind) -> Where:
    return Where(
        TENANT,
        kind,
        any_of={"document_type": list(TYPES[:2])},
        at_least={"authority": 2, "to_day": DAY + 1},
        at_most={"from_day": DAY},
    )


async def _fill(index: EdgeIndex, tenant: str, count: int) -> None:
    world = _World(2 if tenant == TENANT else 3)
    for number in range(count // PER_DOCUMENT):
        document = _document(tenant, number)
        await index.upsert(list(_points(world, tenant, document)))
        await index.upsert([Point(document.id, payload.from_document(tenant, document))])


def _document(tenant: str, number: int) -> StoredDocument:
    year = 2012 + number % 13
    name = f"document {number}"
    return StoredDocument(
        id=id_of(tenant, name),
        metadata=Metadata(
            name,
            TYPES[number % len(TYPES)],
            authority=number // len(TYPES) % 3 + 1,
            published=f"{year}-01-01",
            effective_from=f"{year}-03-01",
            effective_to=f"{year + 10}-03-01" if number % 2 else "",
            tags=(f"tag-{number % 7}",),
        ),
        version=1,
        sha256=f"{number:064x}",
        content_type="application/pdf",
        size_bytes=100_000,
        page_count=20,
        passage_count=PER_DOCUMENT,
        ingest_time=datetime.now(UTC),
        pages_without_text=(),
    )


def _points(world: _World, tenant: str, document: StoredDocument) -> Iterator[Point]:
    topic = world.topic()
    start = 0
    texts = [world.text(WORDS) for _ in range(PER_DOCUMENT)]
    for number, text in enumerate(texts):
        end = start + len(text)
        passage = Passage(
            id=passage_id_of(tenant, document.id, document.sha256, start, end),
            document_id=document.id,
            document_sha256=document.sha256,
            version=1,
            metadata=document.metadata,
            text=text,
            page_number=number // 3 + 1,
            section_id=f"{number // 20}.{number // 2 % 10}",
            heading_path=("Part", f"Section {number // 2}"),
            start=start,
            end=end,
            regions=tuple(
                Region(at, min(at + 80, len(text)), number // 3 + 1, Box(72, at / 8, 540, 12.25))
                for at in range(0, len(text), 80)
            ),
        )
        start = end
        # A document is about one thing, but not only.
        vector = world.vector(topic if number % 3 else world.topic())
        # Two passages are a section: with the words beside them vectors are longer by a third, as
        # those of filings are (ADR 25).
        around = [texts[number ^ 1]]
        terms = bm25.passage_vector(text, "", around)
        yield Point(passage.id, payload.from_passage(tenant, passage), vector, terms)


def _word(rank: int) -> str:
    """The word of a rank, from 0: a real one, or letters for digits, which would not be a word."""
    if rank < len(COMMONEST):
        return COMMONEST[rank]
    return "".join(chr(ord("a") + int(digit)) for digit in f"{rank:05}") + "x"


def _spread(milliseconds: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(milliseconds, n=20, method="inclusive")
    return {
        "p50_ms": round(statistics.median(milliseconds), 2),
        "p95_ms": round(cuts[-1], 2),
        "max_ms": round(max(milliseconds), 2),
    }
