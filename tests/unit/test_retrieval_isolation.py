"""What happens here when something happens in the other process."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from services.chassis.errors import InvalidInput, Violation
from services.retrieval.isolation import Worker, WorkerDied, WorkerOutOfMemory, WorkerTimeout

# These run in the other process, which finds them as functions of modules on its path.


def refuse():
    raise InvalidInput(
        "It is encrypted.", reason="ENCRYPTED_FILE", violations=(Violation("f", "d"),)
    )


def fail():
    raise KeyError("secret" * 3)  # The traceback shows this line, but not what it makes.


def chatter():
    sys.stdout.write("a library says something\n")
    os.write(1, b"and so does its C code\n")
    return "answer"


def compute():
    while True:
        pass


def start_sleeping(holding):
    with Path(holding).open("wb") as held:
        subprocess.Popen(["sleep", "60"], stdout=held)


def count(upto, *, tell):
    for number in range(upto):
        tell(number, upto)
    if upto > 2:
        raise InvalidInput("Too many.")
    return "counted"


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), *sys.path]))


@pytest.fixture
async def worker():
    async with Worker().running() as worker:
        yield worker


async def test_what_a_function_returns_comes_back_whole(worker):
    data = os.urandom(3_000_000)
    assert await worker.call(10, bytes.upper, data) == data.upper()


async def test_what_a_function_tells_on_its_way_is_heard_before_its_answer(worker):
    heard = []

    def tell(*told):
        heard.append(told)

    assert await worker.call_telling(tell, 10, count, 2) == "counted"
    with pytest.raises(InvalidInput):
        await worker.call_telling(tell, 10, count, 3)
    assert heard == [(0, 2), (1, 2), (0, 3), (1, 3), (2, 3)]


async def test_calls_share_one_process(worker):
    pids = {await worker.call(10, os.getpid) for _ in range(3)}
    assert len(pids) == 1
    assert pids != {os.getpid()}


async def test_the_process_is_of_our_session_where_niceness_counts_but_not_of_our_group(worker):
    assert await worker.call(10, os.getsid, 0) == os.getsid(0)
    assert await worker.call(10, os.getpgid, 0) != os.getpgid(0)


async def test_calls_take_turns(worker):
    results = await asyncio.gather(*(worker.call(10, abs, -n) for n in range(20)))
    assert results == list(range(20))


async def test_our_own_exceptions_come_back_as_they_were_raised(worker):
    with pytest.raises(InvalidInput, match="encrypted") as caught:
        await worker.call(10, refuse)
    assert caught.value.reason == "ENCRYPTED_FILE"
    assert caught.value.violations == (Violation("f", "d"),)


async def test_of_other_exceptions_the_type_and_the_place_come_back_but_not_the_text(worker):
    with pytest.raises(RuntimeError) as caught:
        await worker.call(10, fail)
    assert "KeyError" in str(caught.value)
    assert "in fail" in str(caught.value)
    assert "secretsecret" not in str(caught.value)
    assert await worker.call(10, abs, -1) == 1


async def test_what_is_printed_there_does_not_disturb_the_answers(worker):
    assert await worker.call(10, chatter) == "answer"


async def test_a_function_that_hangs_is_killed_in_time_and_the_next_call_works(worker):
    await worker.call(10, abs, -1)
    with pytest.raises(WorkerTimeout):
        await worker.call(0.1, time.sleep, 3600)
    assert await worker.call(10, abs, -1) == 1


async def test_one_that_waits_for_the_cpu_has_longer_by_the_clock_than_it_may_use_of_it(
    worker, monkeypatch
):
    clock, given = asyncio.timeout, []

    def timeout(seconds):
        given.append(seconds)
        return clock(seconds)

    monkeypatch.setattr(asyncio, "timeout", timeout)
    await worker.call(10, abs, -1)
    async with Worker(waits_seconds=300).running() as waiting:
        await waiting.call(10, abs, -1)
    assert given == [40, 340]


async def test_a_process_that_is_killed_fails_its_call_and_the_next_call_works(worker):
    with pytest.raises(WorkerDied):
        await worker.call(10, signal.raise_signal, signal.SIGKILL)
    assert await worker.call(10, abs, -1) == 1


async def test_a_function_that_takes_too_much_memory_fails_its_call_and_the_next_call_works():
    async with Worker(memory_bytes=200 * 2**20).running() as worker:
        assert len(await worker.call(10, bytearray, 50 * 2**20)) == 50 * 2**20
        with pytest.raises(WorkerOutOfMemory):
            await worker.call(10, bytearray, 300 * 2**20)
        # What fits may still not fit a second time, as the answer.
        with pytest.raises(WorkerOutOfMemory):
            await worker.call(10, bytearray, 120 * 2**20)
        assert await worker.call(10, abs, -1) == 1


async def test_a_process_without_a_parent_that_kills_it_ends_when_its_cpu_time_is_used(
    worker, monkeypatch
):
    await worker.call(10, abs, -1)
    # The parent is as good as stopped: the clock that it keeps never ends this call.
    clock = asyncio.timeout
    monkeypatch.setattr(asyncio, "timeout", lambda seconds: clock(None))
    with pytest.raises(WorkerTimeout):
        await worker.call(0.5, compute)
    assert await worker.call(10, abs, -1) == 1


async def test_what_a_killed_process_has_started_ends_too(worker, tmp_path):
    fifo = tmp_path / "held-open"
    os.mkfifo(fifo)
    closed = asyncio.create_task(asyncio.to_thread(fifo.read_bytes))
    await worker.call(10, start_sleeping, str(fifo))
    with pytest.raises(WorkerTimeout):
        await worker.call(0.1, time.sleep, 3600)
    async with asyncio.timeout(5):
        assert await closed == b""


async def test_a_call_that_is_cancelled_leaves_no_process_at_work(worker):
    pid = await worker.call(10, os.getpid)
    task = asyncio.create_task(worker.call(60, time.sleep, 60))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_the_process_ends_with_the_block():
    async with Worker().running() as worker:
        pid = await worker.call(10, os.getpid)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_the_process_gives_way_as_far_as_it_was_told():
    own = os.getpriority(os.PRIO_PROCESS, 0)
    async with Worker(niceness=3).running() as worker:
        assert await worker.call(30, os.getpriority, os.PRIO_PROCESS, 0) == min(own + 3, 19)
