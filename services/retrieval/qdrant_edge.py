"""The Index inside this process: the Qdrant engine on local disk, behind one thread."""

import asyncio
import contextvars
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import qdrant_edge as qdrant

from services.retrieval.index import (
    DENSE_VECTOR,
    FIELDS,
    SPARSE_VECTOR,
    FieldType,
    Hit,
    Kind,
    Point,
    Record,
    SparseVector,
    Where,
    collection_name,
    well_formed,
)

T = TypeVar("T")
PointId = int | UUID | str

_SCROLL_PAGE = 1000
_MAX_TALLY = 100_000


@asynccontextmanager
async def open_edge_index(
    directory: Path, *, model: str, dimensions: int
) -> AsyncIterator["EdgeIndex"]:
    """The index under `directory`; only one process may hold it."""
    index = EdgeIndex(directory, collection_name(model, dimensions), dimensions)
    try:
        yield index
    finally:
        await index.aclose()


class EdgeIndex:
    """Index on an EdgeShard. Calls block, so they take turns on one thread of their own."""

    def __init__(self, directory: Path, collection: str, dimensions: int) -> None:
        self._path = directory / collection
        self._collection = collection
        self._dimensions = dimensions
        self._shard: qdrant.EdgeShard | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="index")

    @property
    def collection(self) -> str:
        return self._collection

    async def prepare(self) -> None:
        await self._run(self._open)

    async def upsert(self, points: Sequence[Point], *, only_new: bool = False) -> None:
        mode = qdrant.UpdateMode.InsertOnly if only_new else qdrant.UpdateMode.Upsert
        # By id: of two points with one id in a batch, the engine keeps whichever it likes.
        unique = {point.id: point for point in points}.values()
        operation = qdrant.UpdateOperation.upsert_points(
            [_to_point(point) for point in unique], update_mode=mode
        )
        await self._run(lambda: self._open().update(operation))

    async def amend(self, where: Where, fields: Mapping[str, Any]) -> None:
        operation = qdrant.UpdateOperation.set_payload_by_filter(_to_filter(where), dict(fields))
        await self._run(lambda: self._open().update(operation))

    async def delete(self, where: Where) -> None:
        operation = qdrant.UpdateOperation.delete_points_by_filter(_to_filter(where))
        await self._run(lambda: self._open().update(operation))

    async def get(self, tenant: str, kind: Kind, ids: Sequence[str]) -> dict[str, Record]:
        found = await self._run(
            lambda: self._open().retrieve([*well_formed(ids)], with_payload=True, with_vector=False)
        )
        records = (Record(str(point.id), point.payload or {}) for point in found)
        return {
            record.id: record
            for record in records
            if record.payload.get("tenant") == tenant and record.payload.get("kind") == kind
        }

    async def nearest(
        self, where: Where, dense: Sequence[float], sparse: SparseVector, *, limit: int
    ) -> tuple[list[Hit], list[Hit]]:
        condition = _to_filter(where)
        payload = qdrant.PayloadSelector.Include(["document_id", "sha256"])
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
            corpus = _to_filter(Where(where.tenant, where.kind))
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
        results = await self._run(lambda: self._open().query_batch(batch))
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
            points, offset = await self._run(partial(self._scroll, request))
            records += (Record(str(point.id), point.payload or {}) for point in points)
            if offset is None:
                return records

    async def tally(self, where: Where, name: str) -> dict[int, int]:
        request = qdrant.FacetRequest(name, _MAX_TALLY, True, _to_filter(where))
        response = await self._run(lambda: self._open().facet(request))
        return {int(hit.value): hit.count for hit in response.hits}

    async def flush(self) -> None:
        await self._run(lambda: self._open().flush())

    async def aclose(self) -> None:
        """Finishes what is under way, writes it to disk and gives the directory free."""
        await self._run(self._close)
        self._thread.shutdown()

    async def _run(self, work: Callable[[], T]) -> T:
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(self._thread, context.run, work)

    # All below runs on the index's thread.

    def _open(self) -> qdrant.EdgeShard:
        if self._shard is None:
            self._path.mkdir(parents=True, exist_ok=True)
            if any(self._path.iterdir()):
                shard = _load(self._path)
            else:
                shard = qdrant.EdgeShard.create(str(self._path), _config(self._dimensions))
            for name, kind in FIELDS.items():
                if name not in shard.info().payload_schema:
                    shard.update(qdrant.UpdateOperation.create_field_index(name, _to_schema(kind)))
            self._shard = shard
        return self._shard

    def _scroll(self, request: qdrant.ScrollRequest) -> tuple[list[qdrant.Record], PointId | None]:
        return self._open().scroll(request)

    def _close(self) -> None:
        if self._shard is not None:
            self._shard.flush()
            self._shard.close()
            self._shard = None


def _load(path: Path) -> qdrant.EdgeShard:
    try:
        return qdrant.EdgeShard.load(str(path))
    except Exception as error:  # The engine knows no other.
        if "WouldBlock" in str(error):
            raise RuntimeError(f"{path} is in use by another process") from error
        raise


def _config(dimensions: int) -> qdrant.EdgeConfig:
    return qdrant.EdgeConfig(
        vectors={DENSE_VECTOR: qdrant.EdgeVectorParams(dimensions, qdrant.Distance.Cosine)},
        sparse_vectors={SPARSE_VECTOR: qdrant.EdgeSparseVectorParams(modifier=qdrant.Modifier.Idf)},
    )


def _to_schema(kind: FieldType) -> qdrant.KeywordIndexParams | qdrant.IntegerIndexParams:
    match kind:
        case FieldType.TENANT:
            return qdrant.KeywordIndexParams(is_tenant=True)
        case FieldType.KEYWORD:
            return qdrant.KeywordIndexParams()
        case FieldType.INTEGER:
            return qdrant.IntegerIndexParams(lookup=True, range=True)


def _to_point(point: Point) -> qdrant.Point:
    vectors: dict[str, qdrant.NamedVector] = {}
    if point.dense is not None:
        vectors[DENSE_VECTOR] = list(point.dense)
    if point.sparse:
        vectors[SPARSE_VECTOR] = qdrant.SparseVector(
            list(point.sparse.indices), list(point.sparse.values)
        )
    return qdrant.Point(point.id, vectors, dict(point.payload))


def _to_filter(where: Where) -> qdrant.Filter:
    return qdrant.Filter(
        must=[
            qdrant.FieldCondition("tenant", match=qdrant.MatchValue(where.tenant)),
            qdrant.FieldCondition("kind", match=qdrant.MatchValue(where.kind.value)),
            *(
                qdrant.FieldCondition(name, match=qdrant.MatchAny(list(values)))
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


def _to_hits(points: Sequence[qdrant.ScoredPoint]) -> list[Hit]:
    return [Hit(str(point.id), point.score, point.payload or {}) for point in points]
