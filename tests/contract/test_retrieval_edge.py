"""The embedded index while it is optimized, while it is written to, and after it was killed."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from services.retrieval import bm25, qdrant_shard
from services.retrieval.index import Kind, Point, SparseVector, Where
from services.retrieval.optimizing import Shards, optimize
from services.retrieval.qdrant_edge import open_edge_index

DIMENSIONS = 4
PASSAGES = Where("a", Kind.PASSAGE)
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _graphs_for_few(monkeypatch):
    monkeypatch.setattr(qdrant_shard, "_INDEXING_THRESHOLD", 1)


def opened(directory, **options):
    return open_edge_index(directory, model="m", dimensions=DIMENSIONS, **options)


def id_(name):
    return str(uuid.uuid5(uuid.NAMESPACE_OID, str(name)))


def point(name, text="word"):
    dense = [1.0, *(float(byte) / 255 for byte in uuid.UUID(id_(name)).bytes[:3])]
    payload = {"tenant": "a", "kind": "passage", "document_id": str(name), "sha256": "s"}
    return Point(id_(name), {**payload, "text": text}, dense, bm25.passage_vector(text))


async def texts(index):
    records = await index.scroll(PASSAGES)
    return {record.payload["document_id"]: record.payload["text"] for record in records}


async def near(index):
    return await index.nearest(PASSAGES, [1.0, 0, 0, 0], bm25.query_vector("word"), limit=9)


async def indexed(index):
    return await index._shard.read(lambda shard: shard.info().indexed_vectors_count)


def directories(directory):
    (collection,) = directory.iterdir()
    return sorted(path.name for path in collection.iterdir() if path.is_dir())


class Held:
    """Optimizing that waits until it is let go."""

    def __init__(self, monkeypatch, outcome=optimize):
        self.started, self.let_go = asyncio.Event(), asyncio.Event()
        self._outcome = outcome
        monkeypatch.setattr(qdrant_shard, "optimize", self)

    async def __call__(self, path):
        self.started.set()
        await self.let_go.wait()
        return await self._outcome(path)


async def test_reads_and_writes_go_on_while_it_is_optimized_and_none_is_lost(
    monkeypatch, directory
):
    held = Held(monkeypatch)
    async with opened(directory, optimize_after=300) as index:
        await index.prepare()
        await index.upsert([point(number) for number in range(300)])
        task = index._shard._optimizing
        await held.started.wait()
        # The copy is made: all of this has to reach it too, in its order.
        await index.upsert([point(number, "other") for number in range(290, 310)])
        await index.upsert([point(0, "not this"), point("new")], only_new=True)
        await index.amend(Where("a", Kind.PASSAGE, any_of={"document_id": ["5"]}), {"text": "five"})
        await index.delete(Where("a", Kind.PASSAGE, any_of={"document_id": ["7"]}))
        expected = {str(number): "word" for number in range(290)}
        expected |= {str(number): "other" for number in range(290, 310)}
        expected |= {"new": "word", "5": "five"}
        del expected["7"]
        assert await texts(index) == expected
        by_dense, by_sparse = await near(index)
        assert (len(by_dense), len(by_sparse)) == (9, 9)
        assert not task.done()
        before = await indexed(index)
        held.let_go.set()
        while not task.done():
            assert len((await near(index))[0]) == 9
        await task
        assert await indexed(index) > before
        assert await texts(index) == expected
        assert (await near(index))[0] == by_dense
        assert directories(directory) == ["2"]
    async with opened(directory) as index:
        assert await texts(index) == expected


async def test_an_index_that_cannot_be_optimized_goes_on_as_it_is(monkeypatch, directory):
    async def fail(path):
        return False

    held = Held(monkeypatch, fail)
    async with opened(directory, optimize_after=20) as index:
        await index.prepare()
        await index.upsert([point(number) for number in range(20)])
        task = index._shard._optimizing
        await held.started.wait()
        held.let_go.set()
        await asyncio.wait([task])
        assert isinstance(task.exception(), RuntimeError)
        await index.upsert([point("later")])
        assert set(await texts(index)) == {*map(str, range(20)), "later"}
        assert directories(directory) == ["1"]


async def test_closing_stops_the_optimizing_and_leaves_nothing_of_it(monkeypatch, directory):
    held = Held(monkeypatch)
    async with opened(directory, optimize_after=20) as index:
        await index.prepare()
        await index.upsert([point(number) for number in range(20)])
        await held.started.wait()
        assert directories(directory) == ["1", "2"]
    assert directories(directory) == ["1"]


async def as_it_is(path):
    return True


class Within:
    """A call on the index's thread, made when all others have come as far as they can meanwhile."""

    def __init__(self, monkeypatch, owner, name):
        self.begun = asyncio.Event()
        self._call = getattr(owner, name)
        self._loop = asyncio.get_running_loop()
        # One thread, so that what is given to it meanwhile is over before what is asked last.
        self._loop.set_default_executor(ThreadPoolExecutor(1))

        def call(*args):  # What is a method stays one.
            return self._made(*args)

        monkeypatch.setattr(owner, name, call)

    def _made(self, *args):
        if self.begun.is_set():
            return self._call(*args)
        self._loop.call_soon_threadsafe(self.begun.set)
        asyncio.run_coroutine_threadsafe(self._others_had_their_turn(), self._loop).result()
        return self._call(*args)

    async def _others_had_their_turn(self):
        for _ in range(20):
            await asyncio.sleep(0)
        await asyncio.to_thread(int)


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (qdrant_shard, "_load"),
        (qdrant_shard.LiveShard, "_replay"),
        (qdrant_shard.LiveShard, "_take_over"),
        (Shards, "switch"),
    ],
    ids=["opened", "brought up to date", "put in place", "named"],
)
async def test_closing_while_the_copy_takes_over_leaves_one_whole_index(
    monkeypatch, directory, owner, name
):
    held = Held(monkeypatch, as_it_is)
    async with opened(directory, optimize_after=20) as index:
        await index.prepare()
        await index.upsert([point(number) for number in range(20)])
        await held.started.wait()
        for number in range(20, 40):
            await index.upsert([point(number)])
        within = Within(monkeypatch, owner, name)
        held.let_go.set()
        await within.begun.wait()
    assert len(directories(directory)) == 1
    async with opened(directory) as index:
        assert set(await texts(index)) == set(map(str, range(40)))


async def test_a_write_that_is_cancelled_but_done_is_not_undone_by_the_copy(monkeypatch, directory):
    held = Held(monkeypatch, as_it_is)
    async with opened(directory, optimize_after=20) as index:
        await index.prepare()
        await index.upsert([point(number) for number in range(20)])
        task = index._shard._optimizing
        await held.started.wait()
        opening = Within(monkeypatch, qdrant_shard, "_load")
        held.let_go.set()
        await opening.begun.wait()
        writing = Within(monkeypatch, qdrant_shard.LiveShard, "_update")
        write = asyncio.create_task(index.upsert([point("late")]))
        await writing.begun.wait()
        write.cancel()
        await task
        assert "late" in await texts(index)


async def test_closing_ends_the_copying_and_the_process_too(directory):
    for moments in range(0, 30, 6):
        async with opened(directory, optimize_after=500) as index:
            await index.prepare()
            await index.upsert([point(f"{moments} {number}") for number in range(500)])
            for _ in range(moments):
                await index.get("a", Kind.PASSAGE, [id_("none")])
        assert len(directories(directory)) == 1


async def test_a_process_that_finds_no_index_says_so(directory):
    assert not await optimize(directory / "none")


async def test_few_points_of_many_are_no_reason_to_optimize(monkeypatch, directory):
    Held(monkeypatch).let_go.set()
    async with opened(directory, optimize_after=40) as index:
        await index.prepare()
        await index.upsert([point(number) for number in range(400)])
        await index._shard._optimizing
        await index.upsert([point(number) for number in range(40)])
        await index._shard._optimizing
        assert directories(directory) == ["2"]


CRASHING = """
    import asyncio, sys
    from pathlib import Path
    sys.path[:0] = [{tests!r}, {here!r}]
    from services.retrieval import qdrant_shard
    from test_retrieval_edge import opened, point

    async def never(path):
        print("optimizing", flush=True)
        await asyncio.Event().wait()

    async def main():
        qdrant_shard.optimize = never
        async with opened(Path({directory!r}), optimize_after={optimize_after}) as index:
            await index.prepare()
            for number in range(10_000):
                await index.upsert([point(f"{{number}}.{{part}}") for part in range(3)])
                print(number, flush=True)

    asyncio.run(main())
"""


@pytest.mark.parametrize("optimize_after", [10_000, 30], ids=["writing", "optimizing"])
async def test_what_was_confirmed_outlives_a_kill_and_no_write_is_half(directory, optimize_after):
    script = textwrap.dedent(CRASHING).format(
        tests=str(ROOT / "tests"),
        here=str(Path(__file__).parent),
        directory=str(directory),
        optimize_after=optimize_after,
    )
    with subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=ROOT, text=True
    ) as process:
        confirmed, optimizing = -1, optimize_after == 10_000
        for line in process.stdout:
            if line.strip() == "optimizing":
                optimizing = True
            else:
                confirmed = int(line)
            if optimizing and confirmed >= 40:
                break
        os.kill(process.pid, signal.SIGKILL)
    for _ in range(2):  # Opening repairs, and what is repaired stays so.
        async with opened(directory) as index:
            found = set(await texts(index))
            assert {f"{n}.{part}" for n in range(confirmed + 1) for part in range(3)} <= found
            assert len(found) % 3 == 0
            by_dense, by_sparse = await near(index)
            assert (len(by_dense), len(by_sparse)) == (9, 9)
            await index.nearest(PASSAGES, [1.0, 0, 0, 0], SparseVector((), ()), limit=3)
        assert directories(directory) == ["1"]
