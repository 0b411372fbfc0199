"""The embedded engine's shard: opened, written to and optimized, on one thread of its own.

The engine holds Python's lock while it works, so that more threads would gain nothing.
"""

import asyncio
import contextvars
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import qdrant_edge as qdrant
import structlog

from services.retrieval.index import DENSE_VECTOR, FIELDS, SPARSE_VECTOR, FieldType
from services.retrieval.optimizing import Shards, optimize

T = TypeVar("T")

OPTIMIZE_AFTER = 10_000
_OPTIMIZE_SHARE = 4
_FEW_OPERATIONS = 8
# Vectors that are searched one by one rather than by a graph, in KiB.
_INDEXING_THRESHOLD = 5_000


class LiveShard:
    """A shard in use. Its calls block, so they take turns on one thread.

    When many points were written, a copy is optimized in another process and then takes over; reads
    and writes go on meanwhile, except that writes wait while the copy is made.

    Args:
        directory: Where it lies; only one process may hold it. It is made at the first use.
        dimensions: Of the dense vectors.
        optimize_after: Points that are written before it is optimized; at least a quarter of all.
    """

    def __init__(self, directory: Path, dimensions: int, *, optimize_after: int) -> None:
        self._shards = Shards(directory)
        self._dimensions = dimensions
        self._optimize_after = optimize_after
        self._shard: qdrant.EdgeShard | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="index")
        self._writing = asyncio.Lock()
        self._written = 0
        # What was written since the copy was made that is being optimized.
        self._journal: deque[qdrant.UpdateOperation] | None = None
        # That copy, from when it is opened until it takes over.
        self._next: qdrant.EdgeShard | None = None
        self._optimizing: asyncio.Task[None] | None = None
        self._log = structlog.get_logger()

    async def prepare(self) -> None:
        """Opens it, and makes it where there is none."""
        await self._run(self._open)
        self._optimize_if_due()

    async def read(self, work: Callable[[qdrant.EdgeShard], T]) -> T:
        """What `work` returns, which may look at the shard but not write to it."""
        return await self._run(lambda: work(self._open()))

    async def write(self, operation: qdrant.UpdateOperation, points: int = 0) -> None:
        """Returns once the operation is done; `points` is how many it brings."""
        async with self._writing:
            await self._run(partial(self._update, operation))
        self._written += points
        self._optimize_if_due()

    async def copy(self, to: Path, also: Callable[[], None]) -> None:
        """Copies all that is written to a directory like its own, and calls `also`.

        Reads go on meanwhile; writes wait until both are done.
        """

        def work() -> None:
            self._shards.copy_whole(to)
            also()

        async with self._writing:
            await self.read(qdrant.EdgeShard.flush)
            await _to_the_end(asyncio.to_thread(work))

    async def optimized(self) -> None:
        """Opens it, and returns when it is not being optimized."""
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

    def _optimize_if_due(self) -> None:
        if self._written >= self._optimize_after and self._optimizing is None:
            # In a context of its own: the caller's deadline is not that of this work.
            task = asyncio.create_task(self._optimize(), context=contextvars.Context())
            self._optimizing = task
            task.add_done_callback(self._optimized)

    def _optimized(self, task: asyncio.Task[None]) -> None:
        self._optimizing = None
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
                await _to_the_end(asyncio.to_thread(self._shards.copy, new))
            if not await optimize(new):
                raise RuntimeError("the process that optimizes the index ended early")
            shard = await self._run(partial(self._open_next, new))
            # Most of what was written since while others may write on, the last of it while not.
            while self._journal is not None and len(self._journal) > _FEW_OPERATIONS:
                await self._run(partial(self._replay, shard))
            async with self._writing:
                await self._run(partial(self._take_over, shard, new))
        finally:
            await _to_the_end(self._clean())

    async def _clean(self) -> None:
        # After what was begun on the index's thread, which may yet make the copy the current one.
        await self._run(self._close_next)
        await asyncio.to_thread(self._shards.clean)

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

    def _open_next(self, path: Path) -> qdrant.EdgeShard:
        self._next = _load(path)
        return self._next

    def _replay(self, shard: qdrant.EdgeShard) -> None:
        if self._journal:
            shard.update(self._journal.popleft())

    def _take_over(self, shard: qdrant.EdgeShard, path: Path) -> None:
        while self._journal:  # Also of a write that was cancelled, and was done all the same.
            self._replay(shard)
        shard.flush()
        self._shards.switch(path)
        old, self._shard, self._next, self._journal = self._open(), shard, None, None
        old.close()

    def _close_next(self) -> None:
        shard, self._next, self._journal = self._next, None, None
        if shard is not None:
            shard.close()

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
            raise RuntimeError(f"{path} is in use by another process; stop that one") from error
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


async def _to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Returns or raises when the work is over, even if this is cancelled.

    Threads cannot be: what they copy must not change, and what they still write not be removed.
    """
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    finally:
        await asyncio.wait([task])
