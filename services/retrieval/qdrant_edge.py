"""The Index inside this process: the Qdrant engine on local disk, behind one thread.

The engine holds Python's lock while it works, so that more threads would gain nothing.
"""

import asyncio
import contextvars
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import qdrant_edge as qdrant
import structlog

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
from services.retrieval.optimizing import Shards, optimize

T = TypeVar("T")
PointId = int | UUID | str

_SCROLL_PAGE = 1000
_MAX_TALLY = 100_000
_OPTIMIZE_AFTER = 10_000
_OPTIMIZE_SHARE = 4
_FEW_OPERATIONS = 8
# Vectors that are searched one by one rather than by a graph, in KiB.
_INDEXING_THRESHOLD = 5_000


@asynccontextmanager
async def open_edge_index(
    directory: Path, *, model: str, dimensions: int, optimize_after: int = _OPTIMIZE_AFTER
) -> AsyncIterator["EdgeIndex"]:
    """The index under `directory`; only one process may hold it."""
    name = collection_name(model, dimensions)
    index = EdgeIndex(directory, name, dimensions, optimize_after=optimize_after)
    try:
        yield index
    finally:
        await index.aclose()


class EdgeIndex:
    """Index on an EdgeShard. Calls block, so they take turns on one thread of their own.

    When many points were written, a copy is optimized in another process and then takes over; reads
    and writes go on meanwhile, except that writes wait while the copy is made.

    Args:
        directory: Where the index lies.
        collection: Its name.
        dimensions: Of the dense vectors.
        optimize_after: Points that are written before it is optimized; at least a quarter of all.
    """

    def __init__(
        self,
        directory: Path,
        collection: str,
        dimensions: int,
        *,
        optimize_after: int = _OPTIMIZE_AFTER,
    ) -> None:
        self._shards = Shards(directory / collection)
        self._collection = collection
        self._dimensions = dimensions
        self._optimize_after = optimize_after
        self._shard: qdrant.EdgeShard | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="index")
        self._writing = asyncio.Lock()
        self._written = 0
        # What was written since the copy was made that is being optimized.
        self._journal: deque[qdrant.UpdateOperation] | None = None
        self._optimizing: asyncio.Task[None] | None = None
        self._log = structlog.get_logger()

    @property
    def collection(self) -> str:
        return self._collection

    async def prepare(self) -> None:
        await self._run(self._open)
        self._optimize_if_due()

    async def upsert(self, points: Sequence[Point], *, only_new: bool = False) -> None:
        mode = qdrant.UpdateMode.InsertOnly if only_new else qdrant.UpdateMode.Upsert
        # By id: of two points with one id in a batch, the engine keeps whichever it likes.
        unique = {point.id: point for point in points}.values()
        operation = qdrant.UpdateOperation.upsert_points(
            [_to_point(point) for point in unique], update_mode=mode
        )
        await self._write(operation, len(points))

    async def amend(self, where: Where, fields: Mapping[str, Any]) -> None:
        operation = qdrant.UpdateOperation.set_payload_by_filter(_to_filter(where), dict(fields))
        await self._write(operation)

    async def delete(self, where: Where) -> None:
        operation = qdrant.UpdateOperation.delete_points_by_filter(_to_filter(where))
        await self._write(operation)

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

    async def copy(self, to: Path, also: Callable[[], None]) -> None:
        """Copies all that is written to a directory like its own, and calls `also`.

        Reads go on meanwhile; writes wait until both are done.
        """
        async with self._writing:
            await self._run(lambda: self._open().flush())
            copying = asyncio.create_task(asyncio.to_thread(self._copy, to, also))
            try:
                await asyncio.shield(copying)
            finally:
                # A thread cannot be cancelled, and what it copies must not change.
                await asyncio.wait([copying])

    async def optimized(self) -> None:
        """Opens the index, and returns when it is not being optimized."""
        await self.prepare()
        while self._optimizing is not None:
            await asyncio.wait([self._optimizing])

    async def aclose(self) -> None:
        """Finishes what is under way, writes it to disk and gives the directory free."""
        if self._optimizing is not None:
            self._optimizing.cancel()
            await asyncio.wait([self._optimizing])
        await self._run(self._close)
        self._thread.shutdown()

    async def _run(self, work: Callable[[], T]) -> T:
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(self._thread, context.run, work)

    async def _write(self, operation: qdrant.UpdateOperation, points: int = 0) -> None:
        async with self._writing:
            await self._run(partial(self._update, operation))
        self._written += points
        self._optimize_if_due()

    def _optimize_if_due(self) -> None:
        if self._written >= self._optimize_after and self._optimizing is None:
            # In a context of its own: the caller's deadline is not that of this work.
            task = asyncio.create_task(self._optimize(), context=contextvars.Context())
            self._optimizing = task
            task.add_done_callback(self._optimized)

    def _optimized(self, task: asyncio.Task[None]) -> None:
        self._optimizing = None
        self._journal = None
        if not task.cancelled() and (error := task.exception()):
            # Searches are slower than they could be, but whole.
            self._log.warning("index_not_optimized", error=type(error).__name__)

    async def _optimize(self) -> None:
        if self._written < await self._run(self._count) // _OPTIMIZE_SHARE:
            return
        new = self._shards.next()
        try:
            async with self._writing:
                self._written = 0
                await self._run(self._start_journal)
                # Reads go on: copying leaves Python's lock to others.
                copying = asyncio.create_task(asyncio.to_thread(self._shards.copy, new))
                try:
                    await asyncio.shield(copying)
                finally:
                    # A thread cannot be cancelled: what it still writes could not be removed.
                    await asyncio.wait([copying])
            if not await optimize(new):
                raise RuntimeError("the process that optimizes the index ended early")
            shard = await self._run(partial(_load, new))
            # Most of what was written since while others may write on, the last of it while not.
            while self._journal is not None and len(self._journal) > _FEW_OPERATIONS:
                await self._run(partial(self._replay, shard))
            async with self._writing:
                while self._journal:
                    await self._run(partial(self._replay, shard))
                await self._run(partial(self._take_over, shard, new))
        finally:
            await asyncio.shield(asyncio.to_thread(self._shards.clean))

    def _copy(self, to: Path, also: Callable[[], None]) -> None:
        self._shards.copy_whole(to / self._collection)
        also()

    # All below runs on the index's thread.

    def _update(self, operation: qdrant.UpdateOperation) -> None:
        self._open().update(operation)
        if self._journal is not None:
            self._journal.append(operation)

    def _count(self) -> int:
        return self._open().info().points_count

    def _start_journal(self) -> None:
        self._open().flush()
        self._journal = deque()

    def _replay(self, shard: qdrant.EdgeShard) -> None:
        if self._journal:
            shard.update(self._journal.popleft())

    def _take_over(self, shard: qdrant.EdgeShard, path: Path) -> None:
        shard.flush()
        self._shards.switch(path)
        old, self._shard, self._journal = self._open(), shard, None
        old.close()

    def _open(self) -> qdrant.EdgeShard:
        if self._shard is None:
            path = self._shards.current()
            if path is not None:
                shard = _load(path)
            else:
                path = self._shards.next()
                shard = qdrant.EdgeShard.create(str(path), _config(self._dimensions))
                self._shards.switch(path)
            # Only now: before, another process may be at work here.
            self._shards.clean()
            info = shard.info()
            # Every passage has two vectors, and both are counted once they are indexed.
            self._written = max(0, 2 * info.points_count - info.indexed_vectors_count)
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
        optimizers=qdrant.EdgeOptimizersConfig(indexing_threshold=_INDEXING_THRESHOLD),
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


def _to_hits(points: Sequence[qdrant.ScoredPoint]) -> list[Hit]:
    return [Hit(str(point.id), point.score, point.payload or {}) for point in points]
