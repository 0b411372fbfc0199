"""Finds passages by meaning and by words, and says what was searched."""

import asyncio
from dataclasses import dataclass, replace

from services.chassis import telemetry
from services.retrieval import bm25
from services.retrieval.batching import Batcher, Lane
from services.retrieval.catalog import Catalog, Filter, in_motion
from services.retrieval.embedding import Vector
from services.retrieval.fusion import fuse
from services.retrieval.passage import Passage

# How far each of the two searches looks. A passage that is beyond this in both is not found.
_DEPTH = 100
_MISSES = 5
# A document may be replaced between the search and the reading of its passages.
_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Report:
    """What a search looked through.

    Attributes:
        nearest_misses: The passages right after the last one returned, best first.
    """

    collection: str
    document_count: int
    passage_count: int
    query: str
    nearest_misses: tuple[Passage, ...]


class Searcher:
    """Searches a tenant's documents.

    Args:
        catalog: What is searched.
        batcher: Embeds the question.
        dense_weight: Share of the meaning's score against that of the words, 0 to 1.
    """

    def __init__(self, catalog: Catalog, batcher: Batcher, *, dense_weight: float) -> None:
        self._catalog = catalog
        self._batcher = batcher
        self._dense_weight = dense_weight

    async def search(
        self, tenant: str, query: str, narrow: Filter, limit: int
    ) -> tuple[tuple[Passage, ...], Report]:
        """At most `limit` passages, best first, ties by id."""
        (dense,) = await self._batcher.embed([query], Lane.QUERY)
        with telemetry.span("search"):
            ranked, (documents, passages) = await asyncio.gather(
                self._ranked(tenant, query, dense, narrow, limit + _MISSES),
                self._catalog.counts(tenant, narrow),
            )
        report = Report(
            collection=self._catalog.collection,
            document_count=documents,
            passage_count=passages,
            query=query,
            nearest_misses=tuple(ranked[limit:]),
        )
        return tuple(ranked[:limit]), report

    async def _ranked(
        self, tenant: str, query: str, dense: Vector, narrow: Filter, wanted: int
    ) -> list[Passage]:
        sparse = bm25.query_vector(query)
        for _ in range(_ROUNDS):
            hits = await self._catalog.candidates(tenant, narrow, dense, sparse, depth=_DEPTH)
            best = fuse(*hits, depth=_DEPTH, dense_weight=self._dense_weight)[:wanted]
            found = await self._catalog.read(tenant, [id_ for id_, _ in best])
            if len(found) == len(best):
                return [replace(found[id_], score=score) for id_, score in best]
        raise in_motion()
