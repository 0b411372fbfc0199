"""What the worker of the embedding model promises to those who wait for it."""

import asyncio
import contextvars
import os
import threading

import pytest

from services.chassis import telemetry
from services.chassis.errors import Overloaded, Unavailable
from services.retrieval.batching import Batcher, Lane


class FakeEmbedder:
    """Remembers its batches; with a gate, each waits until the gate opens."""

    model = "fake"
    dimensions = 1

    def __init__(self, *, gate=None):
        self.batches = []
        self.started = threading.Event()
        self.at_work = 0
        self.most_at_work = 0
        self._gate = gate

    def encode(self, texts):
        self.at_work += 1
        self.most_at_work = max(self.most_at_work, self.at_work)
        self.batches.append(list(texts))
        self.started.set()
        if self._gate:
            assert self._gate.wait(10) is not False
        self.at_work -= 1
        if "poison" in texts:
            raise ValueError("secret text")
        return [[float(len(text))] for text in texts]


@pytest.fixture
def gate():
    gate = threading.Event()
    yield gate
    gate.set()


async def busy(batcher, embedder, lane=Lane.QUERY):
    """A batch is at work, so that all that follows in its lane waits."""
    task = asyncio.create_task(batcher.embed(["first"], lane))
    await asyncio.to_thread(embedder.started.wait, 10)
    return task


async def submitted(batcher, *calls):
    tasks = [asyncio.create_task(batcher.embed(texts, lane)) for texts, lane in calls]
    await asyncio.sleep(0)  # Each task runs up to where it waits.
    return tasks


async def test_each_caller_gets_its_own_vectors_in_order():
    async with Batcher(FakeEmbedder()).running() as batcher:
        results = await asyncio.gather(
            batcher.embed(["a", "bb"], Lane.QUERY),
            batcher.embed(["ccc"], Lane.INGEST),
            batcher.embed([], Lane.QUERY),
        )
    assert results == [[[1.0], [2.0]], [[3.0]], []]


async def test_64_that_wait_together_are_encoded_together_by_one_worker(gate):
    embedder = FakeEmbedder(gate=gate)
    async with Batcher(embedder).running() as batcher:
        first = await busy(batcher, embedder)
        tasks = await submitted(batcher, *[([f"q{n}"], Lane.QUERY) for n in range(64)])
        gate.set()
        await asyncio.gather(first, *tasks)
    assert [len(batch) for batch in embedder.batches] == [1, 64]
    assert embedder.most_at_work == 1


class LaneEmbedder(FakeEmbedder):
    """Only what an ingest sends waits at the gate."""

    def encode(self, texts):
        if texts[0].startswith("q"):
            return [[float(len(text))] for text in texts]
        return super().encode(texts)


async def test_a_query_waits_for_no_ingest(gate):
    async with Batcher(LaneEmbedder(gate=gate), threads=2).running() as batcher:
        tasks = await submitted(batcher, ([f"i{n}" for n in range(1000)], Lane.INGEST))
        assert await batcher.embed(["query"], Lane.QUERY) == [[5.0]]
        assert not tasks[0].done()
        gate.set()
        await asyncio.gather(*tasks)


async def test_a_lane_has_as_many_workers_as_it_was_given_threads():
    embedder = FakeEmbedder(gate=threading.Barrier(3))
    async with Batcher(embedder, threads=3, max_texts=1).running() as batcher:
        tasks = await submitted(batcher, (list("abcdef"), Lane.INGEST))
        # Only when three are at work at once does the barrier let any of them through.
        await asyncio.gather(*tasks)
    assert embedder.most_at_work == 3


async def test_idle_workers_share_what_waits():
    embedder = FakeEmbedder(gate=threading.Barrier(2))
    async with Batcher(embedder, threads=2).running() as batcher:
        tasks = await submitted(batcher, *[([f"q{n}"], Lane.QUERY) for n in range(64)])
        await asyncio.gather(*tasks)
    assert [len(batch) for batch in embedder.batches] == [32, 32]


async def test_what_an_ingest_embeds_gives_way_to_queries():
    class Nice(FakeEmbedder):
        def encode(self, texts):
            thread = threading.get_native_id()
            return [[float(os.getpriority(os.PRIO_PROCESS, thread))] for _ in texts]

    async with Batcher(Nice()).running() as batcher:
        ((query,),) = await batcher.embed(["q"], Lane.QUERY)
        ((ingest,),) = await batcher.embed(["i"], Lane.INGEST)
    assert query == os.getpriority(os.PRIO_PROCESS, 0)
    assert ingest == min(19, query + 10)


async def test_a_batch_is_bounded_in_characters_and_a_longer_text_is_one_of_its_own(gate):
    embedder = FakeEmbedder(gate=gate)
    async with Batcher(embedder, max_chars=10).running() as batcher:
        first = await busy(batcher, embedder)
        texts = ["x" * 4, "y" * 6, "z", "w" * 25, "v"]
        (task,) = await submitted(batcher, (texts, Lane.INGEST))
        gate.set()
        await asyncio.gather(first, task)
    assert embedder.batches[1:] == [texts[:2], texts[2:3], texts[3:4], texts[4:]]


async def test_a_cancelled_request_is_dropped_before_it_is_encoded(gate):
    embedder = FakeEmbedder(gate=gate)
    async with Batcher(embedder).running() as batcher:
        first = await busy(batcher, embedder)
        dropped, kept = await submitted(batcher, (["gone"], Lane.QUERY), (["kept"], Lane.QUERY))
        dropped.cancel()
        with pytest.raises(asyncio.CancelledError):
            await dropped
        gate.set()
        assert await kept == [[4.0]]
        await first
    assert embedder.batches == [["first"], ["kept"]]


async def test_a_lane_that_is_full_turns_its_own_callers_away_and_no_others(gate):
    embedder = FakeEmbedder(gate=gate)
    async with Batcher(embedder, max_waiting=2).running() as batcher:
        first = await busy(batcher, embedder)
        tasks = await submitted(batcher, (["i1", "i2"], Lane.INGEST))
        with pytest.raises(Overloaded) as caught:
            await batcher.embed(["i3"], Lane.INGEST)
        assert caught.value.retry_after > 0
        tasks += await submitted(batcher, (["q"], Lane.QUERY))
        gate.set()
        await asyncio.gather(first, *tasks)


async def test_requests_whose_callers_left_take_no_room(gate):
    embedder = FakeEmbedder(gate=gate)
    async with Batcher(embedder, max_waiting=1).running() as batcher:
        first = await busy(batcher, embedder)
        (gone,) = await submitted(batcher, (["gone"], Lane.QUERY))
        gone.cancel()
        (kept,) = await submitted(batcher, (["kept"], Lane.QUERY))
        gate.set()
        assert await kept == [[4.0]]
        await first


async def test_a_failure_reaches_those_of_its_batch_and_the_worker_goes_on(gate):
    embedder = FakeEmbedder(gate=gate)
    async with Batcher(embedder, max_texts=2).running() as batcher:
        first = await busy(batcher, embedder)
        tasks = await submitted(
            batcher, (["poison"], Lane.QUERY), (["bystander"], Lane.QUERY), (["next"], Lane.QUERY)
        )
        gate.set()
        results = await asyncio.gather(first, *tasks, return_exceptions=True)
    assert [type(result) for result in results] == [list, ValueError, ValueError, list]


async def test_the_event_loop_goes_on_while_the_model_works(gate):
    embedder = FakeEmbedder(gate=gate)
    async with Batcher(embedder).running() as batcher:
        task = await busy(batcher, embedder)
        for _ in range(100):
            await asyncio.sleep(0)  # Would not come back while the model held the loop.
        assert not task.done()
        gate.set()
        await task


async def test_leaving_encodes_what_waits_and_then_takes_no_more(gate):
    embedder = FakeEmbedder(gate=gate)
    batcher = Batcher(embedder)
    async with batcher.running():
        first = await busy(batcher, embedder)
        (task,) = await submitted(batcher, (["last"], Lane.INGEST))
        gate.set()
    assert await first == [[5.0]]
    assert await task == [[4.0]]
    with pytest.raises(Unavailable):
        await batcher.embed(["late"], Lane.QUERY)


async def test_the_model_works_in_the_trace_of_the_request():
    seen = []

    class TracingEmbedder(FakeEmbedder):
        def encode(self, texts):
            seen.append((telemetry.trace_id(), variable.get()))
            return super().encode(texts)

    variable = contextvars.ContextVar("variable")
    variable.set("of the request")
    with telemetry.configured("test", telemetry.Settings()):
        async with Batcher(TracingEmbedder()).running() as batcher:
            with telemetry.span("request"):
                await batcher.embed(["x"], Lane.QUERY)
                assert seen == [(telemetry.trace_id(), "of the request")]
                assert len(telemetry.trace_id()) == 32
