"""The Index inside this process: the Qdrant engine on local disk."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import qdrant_edge as qdrant

from services.retrieval.index import (
    DENSE_VECTOR,
    SPARSE_VECTOR,
    Hit,
    Kind,
    Point,
    Record,
    SparseVector,
    Where,
    collection_name,
    of_kind,
    well_formed,
)
from services.retrieval.qdrant_shard import OPTIMIZE_AFTER, LiveShard

PointId = int | UUID | str

_SCROLL_PAGE = 1000
_MAX_TALLY = 100_000


@asynccontextmanager
async def open_edge_index(
    directory: Path, *, model: str, dimensions: int, optimize_after: int = OPTIMIZE_AFTER
) -> AsyncIterator["EdgeIndex"]:
    """The index under `directory`; only one process may hold it."""
    name = collection_name(model, dimensions)
    shard = LiveShard(directory / name, dimensions, optimize_after=optimize_after)
    try:
        yield EdgeIndex(shard, name)
    finally:
        await shard.aclose()


class EdgeIndex:
    """Index on an EdgeShard.

    Args:
        shard: Holds the points.
        collection: Its name.
    """

    def __init__(self, shard: LiveShard, collection: str) -> None:
        self._shard = shard
        self._collection = collection

    @property
    def collection(self) -> str:
        return self._collection

    async def prepare(self) -> None:
        await self._shard.prepare()

    async def upsert(self, points: Sequence[Point], *, only_new: bool = False) -> None:
        mode = qdrant.UpdateMode.InsertOnly if only_new else qdrant.UpdateMode.Upsert
        # By id: of two points with one id in a batch, the engine keeps whichever it likes.
        unique = {point.id: point for point in points}.values()
        operation = qdrant.UpdateOperation.upsert_points(
            [_to_point(point) for point in unique], update_mode=mode
        )
        await self._shard.write(operation, len(points))

    async def amend(self, where: Where, fields: Mapping[str, Any]) -> None:
        operation = qdrant.UpdateOperation.set_payload_by_filter(_to_filter(where), dict(fields))
        await self._shard.write(operation)

    async def delete(self, where: Where) -> None:
        operation = qdrant.UpdateOperation.delete_points_by_filter(_to_filter(where))
        await self._shard.write(operation)

    async def get(self, tenant: str, kind: Kind, ids: Sequence[str]) -> dict[str, Record]:
        found = await self._shard.read(
            lambda shard: shard.retrieve([*well_formed(ids)], with_payload=True, with_vector=False)
        )
        return of_kind(map(_to_record, found), tenant, kind)

    async def nearest(
        self,
        where: Where,
        dense: Sequence[float],
        sparse: SparseVector,
        *,
        limit: int,
        bare: bool = False,
    ) -> tuple[list[Hit], list[Hit]]:
        # Only passages have vectors. To ask for the kind too would cost more than all the rest.
        condition = _to_filter(where, kind=False)
        payload = False if bare else qdrant.PayloadSelector.Include(["document_id", "sha256"])
        requests = [
            qdrant.QueryRequest(
                limit,
                query=qdrant.Query.Nearest(list(dense), DENSE_VECTOR),
                filter=condition,
                with_payload=payload,
            )
        ]
        if sparse:
            vector = qdrant.SparseVector(list(sparse.indices), list(sparse.values))
            corpus = _to_filter(Where(where.tenant, where.kind), kind=False)
            requests.append(
                qdrant.QueryRequest(
                    limit,
                    query=qdrant.Query.Nearest(vector, SPARSE_VECTOR),
                    filter=condition,
                    with_payload=payload,
                    params=qdrant.SearchParams(idf=qdrant.IdfParams(corpus)),
                )
            )
        batch = qdrant.QueryBatchRequest(requests)
        results = await self._shard.read(lambda shard: shard.query_batch(batch))
        by_dense, by_sparse, *_ = *map(_to_hits, results), []
        return by_dense, by_sparse

    async def scroll(self, where: Where, *, fields: Sequence[str] | None = None) -> list[Record]:
        payload = True if fields is None else qdrant.PayloadSelector.Include(list(fields))
        condition = _to_filter(where)
        records: list[Record] = []
        offset: PointId | None = None
        while True:
            request = qdrant.ScrollRequest(
                offset=offset, limit=_SCROLL_PAGE, filter=condition, with_payload=payload
            )
            points, offset = await self._shard.read(partial(_scroll, request))
            records += map(_to_record, points)
            if offset is None:
                return records

    async def tally(self, where: Where, name: str) -> dict[int, int]:
        request = qdrant.FacetRequest(name, _MAX_TALLY, True, _to_filter(where))
        response = await self._shard.read(lambda shard: shard.facet(request))
        return {int(hit.value): hit.count for hit in response.hits}

    async def flush(self) -> None:
        await self._shard.read(qdrant.EdgeShard.flush)

    async def copy(self, to: Path, also: Callable[[], None]) -> None:
        """Copies all that is written to a directory like its own, and calls `also`.

        Reads go on meanwhile; writes wait until both are done.
        """
        await self._shard.copy(to / self._collection, also)

    async def optimized(self) -> None:
        """Opens the index, and returns when it is not being optimized."""
        await self._shard.optimized()


def _to_point(point: Point) -> qdrant.Point:
    vectors: dict[str, qdrant.NamedVector] = {}
    if point.dense is not None:
        vectors[DENSE_VECTOR] = list(point.dense)
    if point.sparse:
        vectors[SPARSE_VECTOR] = qdrant.SparseVector(
            list(point.sparse.indices), list(point.sparse.values)
        )
    return qdrant.Point(point.id, vectors, dict(point.payload))


def _to_filter(where: Where, *, kind: bool = True) -> qdrant.Filter:
    names = {"tenant": where.tenant, **({"kind": where.kind.value} if kind else {})}
    return qdrant.Filter(
        must=[
            *(
                qdrant.FieldCondition(name, match=qdrant.MatchValue(value))
                for name, value in names.items()
            ),
            *(
                qdrant.FieldCondition(name, match=qdrant.MatchAny(values))
                for name, values in where.any_of.items()
            ),
            *(
                qdrant.FieldCondition(name, range=qdrant.RangeFloat(gte=float(number)))
                for name, number in where.at_least.items()
            ),
            *(
                qdrant.FieldCondition(name, range=qdrant.RangeFloat(lte=float(number)))
                for name, number in where.at_most.items()
            ),
        ],
        must_not=[
            qdrant.FieldCondition(name, match=qdrant.MatchAny(list(values)))
            for name, values in where.none_of.items()
        ],
    )


def _scroll(
    request: qdrant.ScrollRequest, shard: qdrant.EdgeShard
) -> tuple[list[qdrant.Record], PointId | None]:
    return shard.scroll(request)


def _to_record(point: qdrant.Record) -> Record:
    return Record(str(point.id), point.payload or {})


def _to_hits(points: Sequence[qdrant.ScoredPoint]) -> list[Hit]:
    return [Hit(str(point.id), point.score, point.payload or {}) for point in points]
