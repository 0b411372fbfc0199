"""Few workers for the embedding model: texts that wait together are encoded together."""

import asyncio
import contextvars
import os
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from math import ceil

from services.chassis import telemetry
from services.chassis.errors import Overloaded, Unavailable
from services.chassis.metrics import QueueMetrics
from services.retrieval.embedding import Embedder, Vector


class Lane(StrEnum):
    """Who waits. Each lane has workers of its own, so that no query waits for an ingest."""

    QUERY = "query"
    INGEST = "ingest"


# Added to the niceness of a lane's threads: where both want the CPU, a query gets nine tenths.
_NICENESS = {Lane.QUERY: 0, Lane.INGEST: 10}


@dataclass(slots=True)
class _Waiting:
    text: str
    lane: Lane
    done: asyncio.Future[Vector]
    context: contextvars.Context = field(default_factory=contextvars.copy_context)
    since: float = field(default_factory=time.perf_counter)


class Batcher:
    """Feeds an Embedder from a query lane and an ingest lane.

    There is no waiting for a batch to fill: a text that finds the worker idle is encoded at once,
    and those that come meanwhile form the next batch. Idle workers of a lane share what waits,
    and a batch is bounded in texts and in characters, so that none waits long.

    Args:
        embedder: The model.
        queries: The model as it reads queries, where it reads these otherwise than passages.
        threads: Workers of each lane, and so the most batches of it that are encoded at once.
        max_texts: The most texts in a batch.
        max_chars: The most characters in a batch; a longer text is a batch of its own.
        max_waiting: The most texts that may wait in a lane.
    """

    def __init__(
        self,
        embedder: Embedder,
        *,
        queries: Embedder | None = None,
        threads: int = 1,
        max_texts: int = 64,
        max_chars: int = 2000,
        max_waiting: int = 1024,
    ) -> None:
        self._embedders = {Lane.QUERY: queries or embedder, Lane.INGEST: embedder}
        self._max_texts = max_texts
        self._max_chars = max_chars
        self._max_waiting = max_waiting
        self._lanes: dict[Lane, deque[_Waiting]] = {lane: deque() for lane in Lane}
        self._arrived = {lane: asyncio.Event() for lane in Lane}
        self._closing = False
        self._workers = threads
        self._idle = dict.fromkeys(Lane, threads)
        self._threads = {
            lane: ThreadPoolExecutor(
                threads, f"embedding-{lane}", initializer=_be_nice, initargs=(_NICENESS[lane],)
            )
            for lane in Lane
        }
        self._queue = QueueMetrics("embedding")
        self._batch_size = telemetry.meter().create_histogram(
            "verity.embedding.batch.size", unit="{text}", description="Texts encoded together."
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Batcher"]:
        """Works inside the block; on leaving, all that waits is still encoded."""
        workers = [
            asyncio.create_task(self._work(lane)) for lane in Lane for _ in range(self._workers)
        ]
        try:
            yield self
        finally:
            self._closing = True
            for arrived in self._arrived.values():
                arrived.set()
            await asyncio.gather(*workers)
            for threads in self._threads.values():
                threads.shutdown()

    async def embed(self, texts: Sequence[str], lane: Lane) -> list[Vector]:
        """A vector for each text. Raises Overloaded when the lane has no room for them."""
        if self._closing:
            raise Unavailable("The service is shutting down; try again.")
        waiting = self._lanes[lane]
        if sum(not item.done.done() for item in waiting) + len(texts) > self._max_waiting:
            raise Overloaded("Too many texts wait to be embedded; try again.", retry_after=1.0)
        loop = asyncio.get_running_loop()
        mine = [_Waiting(text, lane, loop.create_future()) for text in texts]
        with telemetry.span("embedding", **{telemetry.LANE: lane.value}):
            for _ in mine:
                self._queue.entered(lane)
            waiting.extend(mine)
            self._arrived[lane].set()
            try:
                return await asyncio.gather(*(item.done for item in mine))
            finally:
                # If we were cancelled, or one failed, the others are not encoded for nobody.
                for item in mine:
                    item.done.cancel()

    async def _work(self, lane: Lane) -> None:
        loop = asyncio.get_running_loop()
        arrived = self._arrived[lane]
        while True:
            batch = self._next_batch(self._lanes[lane], self._idle[lane])
            if not batch:
                if self._closing:
                    return
                arrived.clear()
                await arrived.wait()
                continue
            self._batch_size.record(len(batch))
            texts = [item.text for item in batch]
            self._idle[lane] -= 1
            try:
                # Spans of the model belong to the trace of the batch's first text.
                vectors = await loop.run_in_executor(
                    self._threads[lane], batch[0].context.run, self._embedders[lane].encode, texts
                )
            except Exception as error:  # noqa: BLE001 - belongs to those who wait
                for item in batch:
                    if not item.done.done():
                        item.done.set_exception(error)
            else:
                for item, vector in zip(batch, vectors, strict=True):
                    if not item.done.done():
                        item.done.set_result(vector)
            finally:
                self._idle[lane] += 1

    def _next_batch(self, lane: deque[_Waiting], idle: int) -> list[_Waiting]:
        batch: list[_Waiting] = []
        chars = 0
        share = min(self._max_texts, ceil(len(lane) / idle))
        while lane and len(batch) < share:
            item = lane[0]
            if not item.done.done():
                if batch and chars + len(item.text) > self._max_chars:
                    break
                batch.append(item)
                chars += len(item.text)
            lane.popleft()
            self._queue.left(time.perf_counter() - item.since, item.lane)
        return batch


def _be_nice(by: int) -> None:
    # To Linux a thread is a process of its own here: the others keep their niceness.
    thread = threading.get_native_id()
    os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + by)
