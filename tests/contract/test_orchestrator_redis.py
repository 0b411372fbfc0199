"""What only a real store can show: keys, lifetimes, and every way of being down."""

import asyncio
import time
import uuid

import pytest
import structlog
from redis.cluster import key_slot
from stores import Store
from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding

from services.chassis.errors import FailedPrecondition, NotFound, Unavailable
from services.orchestrator.grounding_log import Entry
from services.orchestrator.memory import Lease, new_answer_id
from services.orchestrator.redis_memory import Keeping, open_memory

T, C = "tenant", "conversation"


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with Store(tmp_path_factory.mktemp("s")) as store:
        yield store


@pytest.fixture
def inside(running):
    with running.client() as client:
        client.flushall()
        yield client


def memory_on(url, *, ttl_seconds=60, timeout_seconds=5.0, pause_seconds=0.05):
    keeping = Keeping(ttl_seconds=ttl_seconds, turns=3)
    return open_memory(url, keeping, timeout_seconds=timeout_seconds, pause_seconds=pause_seconds)


def answer(text="An answer.", question="q?"):
    return grounding.Answer(
        id=new_answer_id(C),
        conversation_id=C,
        question=question,
        text=text,
        confidence=core.Confidence(grounding_confidence=1.0),
    )


async def eventually(use):
    """What the memory answers once the breaker lets callers try again."""
    async with asyncio.timeout(5):
        while True:
            try:
                return await use()
            except Unavailable:
                await asyncio.sleep(0.01)


async def test_every_key_has_a_lifetime_and_one_slot(running, inside):
    async with memory_on(running.url) as memory:
        for n in range(3):
            lease = Lease(f"k{n}", "f", uuid.uuid4().hex)
            await memory.claim(T, C, lease, 30)
            if n < 2:
                await memory.remember(T, answer(), lease)
    keys = inside.keys()
    assert len(keys) == 2 + 3 + 3
    assert all(0 < inside.ttl(key) <= 60 for key in keys)
    assert len({key_slot(key.encode()) for key in keys}) == 1
    assert all("{tenant:" in key for key in keys)


async def test_what_was_learned_has_a_lifetime_and_an_end(running, inside):
    keeping = Keeping(ttl_seconds=60, turns=3, log_length=5)
    async with open_memory(running.url, keeping, timeout_seconds=5, pause_seconds=1) as memory:
        entry = Entry(confidence=0.5)
        await asyncio.gather(*(memory.remember(T, answer(), None, entry) for _ in range(9)))
        log = await memory.log(T, C)
    assert len(log.conversation) == len(log.tenant) == 5
    logs = [key for key in inside.scan_iter() if key.endswith(":log")]
    assert len(logs) == 2
    assert all(0 < inside.ttl(key) <= 60 for key in logs)


async def test_what_is_not_of_this_build_in_the_log_is_passed_over(running, inside):
    async with memory_on(running.url) as memory:
        await memory.remember(T, answer(), None, Entry(confidence=0.5))
        inside.rpush(f"verity:1:{{{T}}}:log", "{}", "nonsense")
        log = await memory.log(T, C)
    assert list(log.tenant) == [Entry(confidence=0.5)]


async def test_a_log_that_cannot_be_written_takes_no_answer_with_it(running, inside):
    inside.set(f"verity:1:{{{T}}}:log", "a string, to which nothing can be appended")
    async with memory_on(running.url) as memory:
        one = answer()
        assert await memory.remember(T, one, None, Entry(confidence=1.0)) == 1.0
        assert (await memory.answer(T, one.id)).id == one.id


async def test_the_log_keeps_a_hundred_by_default(running, inside):
    async with memory_on(running.url) as memory:
        given = [answer() for _ in range(103)]
        for one in given:
            await memory.remember(T, one, None)
        page, more = await memory.answers(T, C, limit=200, before="")
    assert [a.id for a in page] == [a.id for a in given[:2:-1]]
    assert not more


async def test_a_claim_ends_by_itself(running, inside):
    async with memory_on(running.url) as memory:
        await memory.claim(T, C, Lease("k", "f", "1"), 0.05)
        deadline = time.monotonic() + 5
        while inside.exists(*inside.keys() or ["none"]):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)  # A key that ends raises no event here.
        assert await memory.claim(T, C, Lease("k", "f", "2"), 60) is None


async def test_an_answer_whose_claim_was_lost_does_not_take_it_back(running, inside):
    async with memory_on(running.url) as memory:
        await memory.claim(T, C, Lease("k", "f", "second"), 60)
        await memory.remember(T, answer(), Lease("k", "f", "first"))
        [key] = inside.keys("*:claim:k")
        assert inside.get(key) == "held:f:second"


async def test_a_key_whose_answer_was_evicted_says_so(running, inside):
    async with memory_on(running.url) as memory:
        lease = Lease("k", "f", "1")
        await memory.claim(T, C, lease, 60)
        await memory.remember(T, answer(), lease)
        inside.delete(*inside.keys("*:answer:*"))
        with pytest.raises(FailedPrecondition):
            await memory.claim(T, C, lease, 60)
        assert await memory.answers(T, C, limit=5, before="") == ([], False)


async def test_an_answer_longer_than_a_turn_is_cut_between_characters(running, inside):
    async with memory_on(running.url) as memory:
        given = answer(text="ü" * 60_000)
        given.historical_quality = await memory.remember(T, given, None)
        [turn] = await memory.recall(T, C)
        assert turn.answer == "ü" * 50_000
        assert await memory.answer(T, given.id) == given


async def test_a_page_is_no_larger_than_a_reply_may_be(running, inside):
    async with memory_on(running.url) as memory:
        given = [answer(text="x" * 3_000_000) for _ in range(4)]
        for one in given:
            one.historical_quality = await memory.remember(T, one, None)
        first, more = await memory.answers(T, C, limit=4, before="")
        assert first == [given[3], given[2]]
        assert more
        second, more = await memory.answers(T, C, limit=4, before=first[-1].id)
        assert second == [given[1], given[0]]
        assert not more


async def test_an_answer_larger_than_a_page_is_a_page_of_its_own(running, inside):
    async with memory_on(running.url) as memory:
        for _ in range(2):
            await memory.remember(T, answer(text="x" * 9_000_000), None)
        page, more = await memory.answers(T, C, limit=4, before="")
        assert len(page) == 1
        assert more


async def test_what_was_remembered_survives_a_crash_of_the_store(tmp_path):
    with Store(tmp_path, appendfsync="always") as store:
        async with memory_on(store.url) as memory:
            given = answer()
            given.historical_quality = await memory.remember(T, given, None)
            store.stop()
            with pytest.raises(Unavailable):
                await memory.recall(T, C)
            store.start()
            assert await eventually(lambda: memory.answer(T, given.id)) == given


async def test_every_method_says_unavailable_while_the_store_is_down(tmp_path):
    lease = Lease("k", "f", "1")
    for use in (
        lambda m: m.recall(T, C),
        lambda m: m.claim(T, C, lease, 60),
        lambda m: m.release(T, C, lease),
        lambda m: m.remember(T, answer(), lease),
        lambda m: m.answer(T, new_answer_id(C)),
        lambda m: m.answers(T, C, limit=5, before=""),
        lambda m: m.quality(T, C),
    ):
        async with memory_on(f"unix://{tmp_path}/nobody") as memory:
            with pytest.raises(Unavailable) as raised:
                await use(memory)
            assert "nobody" not in str(raised.value)


async def test_a_store_that_hangs_slows_one_caller_and_not_the_next(tmp_path):
    asked = []

    async def silent(reader, writer):
        asked.append(await reader.read(1))
        await reader.read()
        writer.close()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        url = f"redis://127.0.0.1:{port}/0"
        async with memory_on(url, timeout_seconds=0.2, pause_seconds=30) as memory:
            for _ in range(100):
                with pytest.raises(Unavailable):
                    await memory.recall(T, C)
    assert len(asked) == 1  # The others are told without asking it.


async def test_a_store_that_hangs_up_is_not_asked_again():
    """What it did with the first request is not known: a second one could store an answer twice."""
    requests = []

    async def hang_up(reader, writer):
        requests.append(await reader.read(1000))
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with memory_on(f"redis://127.0.0.1:{port}/0", timeout_seconds=2) as memory:
            with pytest.raises(Unavailable):
                await memory.remember(T, answer(), None)
    assert len(requests) == 1


async def test_a_full_store_refuses_writes_and_still_reads(tmp_path):
    with Store(tmp_path) as store, store.client() as inside:
        async with memory_on(store.url) as memory:
            given = answer()
            given.historical_quality = await memory.remember(T, given, None)
            inside.config_set("maxmemory", 1)
            with pytest.raises(Unavailable):
                await memory.remember(T, answer(), None)
            with pytest.raises(Unavailable):
                await memory.claim(T, C, Lease("k", "f", "1"), 60)
            assert await memory.answer(T, given.id) == given
            assert len(await memory.quality(T, C)) == 1
            inside.config_set("maxmemory", 0)
            await memory.remember(T, answer(), None)


async def test_a_cancelled_use_leaves_the_connection_in_order(running, inside):
    async with memory_on(running.url) as memory:
        given = [answer(question=f"q{n}?") for n in range(3)]
        for one in given:
            one.historical_quality = await memory.remember(T, one, None)
        for _ in range(20):
            use = asyncio.create_task(memory.recall(T, C))
            await asyncio.sleep(0)
            use.cancel()
            await asyncio.gather(use, return_exceptions=True)
            assert await memory.answer(T, given[0].id) == given[0]


@pytest.mark.parametrize(("policy", "warns"), [("noeviction", False), ("allkeys-lru", True)])
async def test_a_store_that_may_evict_is_warned_of_at_start(running, inside, policy, warns):
    inside.config_set("maxmemory-policy", policy)
    try:
        async with memory_on(running.url) as memory:
            with structlog.testing.capture_logs() as logs:
                await memory.store.check()
    finally:
        inside.config_set("maxmemory-policy", "noeviction")
    assert [line["event"] for line in logs] == (["memory_may_evict"] if warns else [])


async def test_a_store_that_is_down_at_start_is_warned_of_and_no_more(tmp_path):
    async with memory_on(f"unix://{tmp_path}/nobody") as memory:
        with structlog.testing.capture_logs() as logs:
            await memory.store.check()
    assert [line["event"] for line in logs] == ["memory_unchecked"]


async def test_what_is_not_there_is_not_taken_for_a_failure(running, inside):
    async with memory_on(running.url) as memory:
        with pytest.raises(NotFound):
            await memory.quality(T, C)
        assert await memory.recall(T, C) == []


@pytest.mark.parametrize(("policy", "kept"), [("allkeys-lru", False), ("noeviction", True)])
async def test_a_store_that_may_evict_is_a_dependency_that_is_missing(
    running, inside, policy, kept
):
    inside.config_set("maxmemory-policy", policy)
    try:
        async with memory_on(running.url) as memory:
            reason = await memory.store.missing()
            assert abs(await memory.store.clock_offset()) < 60
    finally:
        inside.config_set("maxmemory-policy", "noeviction")
    assert (reason == "") is kept
    assert kept or policy in reason


async def test_a_store_that_is_down_is_a_dependency_that_is_missing(tmp_path):
    async with memory_on(f"unix://{tmp_path}/nobody") as memory:
        with pytest.raises(Unavailable):
            await memory.store.missing()
