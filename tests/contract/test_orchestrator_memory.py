"""What every memory must do, on the fake that other tests use and on a real store."""

import asyncio
import uuid

import pytest
from fakes import FakeMemory
from stores import Store
from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding

from services.chassis.errors import Aborted, FailedPrecondition, NotFound
from services.orchestrator.grounding_log import Entry, Log
from services.orchestrator.memory import Lease, kept_as, new_answer_id
from services.orchestrator.redis_memory import Keeping, open_memory

T, C = "tenant", "conversation"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with Store(tmp_path_factory.mktemp("s")) as running:
        yield running


@pytest.fixture(params=["fake", "redis"])
async def memory(request):
    if request.param == "fake":
        yield FakeMemory(turns=3, log_length=5)
        return
    store = request.getfixturevalue("store")
    with store.client() as client:
        client.flushall()
    keeping = Keeping(ttl_seconds=60, turns=3, log_length=5)
    async with open_memory(store.url, keeping, timeout_seconds=5, pause_seconds=1) as real:
        yield real


def answer(question="q?", confidence=0.5, conversation=C):
    return grounding.Answer(
        id=new_answer_id(conversation),
        conversation_id=conversation,
        question=question,
        text=f"An answer to {question}",
        status=grounding.Answer.STATUS_ANSWERED,
        confidence=core.Confidence(grounding_confidence=confidence),
    )


def lease(key="k", fingerprint="f"):
    return Lease(key, fingerprint, uuid.uuid4().hex)


async def remember(memory, *answers):
    for one in answers:
        one.historical_quality = await memory.remember(T, one, None)
    return list(answers)


async def test_an_unknown_conversation_has_no_turns(memory):
    assert await memory.recall(T, C) == []


async def test_the_last_turns_are_recalled_oldest_first(memory):
    await remember(memory, *(answer(f"q{n}?") for n in range(5)))
    turns = await memory.recall(T, C)
    assert [t.question for t in turns] == ["q2?", "q3?", "q4?"]
    assert turns[0].answer == "An answer to q2?"


async def test_an_answer_is_read_as_it_was_given(memory):
    [given] = await remember(memory, answer("Grüße, 你好 🎉?", confidence=0.1 + 0.2))
    assert await memory.answer(T, given.id) == given


@pytest.mark.parametrize("name", ["", "nonsense", "x" * 65, new_answer_id(C), "*"])
async def test_an_unknown_answer_is_not_found(memory, name):
    await remember(memory, answer())
    with pytest.raises(NotFound):
        await memory.answer(T, name)


async def test_nothing_is_found_across_tenants(memory):
    [given] = await remember(memory, answer())
    assert await memory.recall("other", C) == []
    with pytest.raises(NotFound):
        await memory.answer("other", given.id)
    with pytest.raises(NotFound):
        await memory.answers("other", C, limit=5, before="")
    with pytest.raises(NotFound):
        await memory.quality("other", C)


async def test_answers_are_listed_newest_first_in_pages(memory):
    given = await remember(memory, *(answer(f"q{n}?") for n in range(5)))
    first, more = await memory.answers(T, C, limit=2, before="")
    assert first == [given[4], given[3]]
    assert more
    second, more = await memory.answers(T, C, limit=2, before=first[-1].id)
    assert second == [given[2], given[1]]
    assert more
    third, more = await memory.answers(T, C, limit=2, before=second[-1].id)
    assert third == [given[0]]
    assert not more


async def test_a_page_that_ends_with_the_oldest_is_the_last(memory):
    await remember(memory, answer(), answer())
    page, more = await memory.answers(T, C, limit=2, before="")
    assert len(page) == 2
    assert not more


async def test_answers_given_while_paging_are_on_no_later_page(memory):
    given = await remember(memory, *(answer(f"q{n}?") for n in range(4)))
    first, _ = await memory.answers(T, C, limit=2, before="")
    await remember(memory, answer("later?"))
    second, _ = await memory.answers(T, C, limit=2, before=first[-1].id)
    assert second == [given[1], given[0]]


async def test_a_page_after_one_that_left_the_log_is_empty(memory):
    [oldest] = await remember(memory, answer())
    await remember(memory, *(answer() for _ in range(5)))
    assert await memory.answers(T, C, limit=5, before=oldest.id) == ([], False)


async def test_an_unknown_conversation_is_not_found(memory):
    with pytest.raises(NotFound):
        await memory.answers(T, C, limit=5, before="")
    with pytest.raises(NotFound):
        await memory.quality(T, C)


async def test_the_log_is_capped(memory):
    given = await remember(memory, *(answer(f"q{n}?", n / 10) for n in range(8)))
    page, more = await memory.answers(T, C, limit=100, before="")
    assert page == given[:2:-1]
    assert not more
    assert await memory.quality(T, C) == [0.3, 0.4, 0.5, 0.6, 0.7]


async def test_historical_quality_is_the_mean_of_the_log_with_the_new_answer(memory):
    given = await remember(memory, *(answer(confidence=c) for c in (1.0, 0.0, 0.5)))
    assert [a.historical_quality for a in given] == [1.0, 0.5, 0.5]
    given = await remember(memory, *(answer(confidence=c) for c in (0.2, 0.2, 0.2)))
    assert given[-1].historical_quality == pytest.approx((0.0 + 0.5 + 0.6) / 5)


async def test_fifty_answers_at_once_lose_none(memory):
    """And each sees a log of its own: the mean of ones and zeros says how long it was."""
    asked = [answer(f"q{n}?", confidence=1.0) for n in range(50)]
    qualities = await asyncio.gather(*(memory.remember(T, one, None) for one in asked))
    assert qualities == [1.0] * 50
    assert await memory.quality(T, C) == [1.0] * 5
    page, _ = await memory.answers(T, C, limit=100, before="")
    assert len({a.id for a in page}) == 5
    for one in asked:
        assert (await memory.answer(T, one.id)).question == one.question


async def test_a_free_key_is_claimed(memory):
    assert await memory.claim(T, C, lease(), 60) is None


async def test_a_claimed_key_is_in_use(memory):
    await memory.claim(T, C, lease(), 60)
    with pytest.raises(Aborted):
        await memory.claim(T, C, lease(), 60)


async def test_a_claimed_key_is_refused_to_another_question(memory):
    await memory.claim(T, C, lease(), 60)
    with pytest.raises(FailedPrecondition):
        await memory.claim(T, C, lease(fingerprint="other"), 60)


async def test_of_many_claims_at_once_one_succeeds(memory):
    claims = await asyncio.gather(
        *(memory.claim(T, C, lease(), 60) for _ in range(20)), return_exceptions=True
    )
    assert claims.count(None) == 1
    assert sum(isinstance(c, Aborted) for c in claims) == 19


async def test_an_answered_key_returns_its_answer(memory):
    mine, given = lease(), answer()
    await memory.claim(T, C, mine, 60)
    given.historical_quality = await memory.remember(T, given, mine)
    await remember(memory, answer())
    assert await memory.claim(T, C, lease(), 60) == given


async def test_an_answered_key_is_refused_to_another_question(memory):
    mine = lease()
    await memory.claim(T, C, mine, 60)
    await memory.remember(T, answer(), mine)
    with pytest.raises(FailedPrecondition):
        await memory.claim(T, C, lease(fingerprint="other"), 60)


async def test_a_released_key_is_free(memory):
    mine = lease()
    await memory.claim(T, C, mine, 60)
    await memory.release(T, C, mine)
    assert await memory.claim(T, C, lease(fingerprint="other"), 60) is None


async def test_nobody_releases_anothers_key(memory):
    await memory.claim(T, C, lease(), 60)
    await memory.release(T, C, lease())
    with pytest.raises(Aborted):
        await memory.claim(T, C, lease(), 60)


async def test_an_answered_key_is_not_released(memory):
    mine = lease()
    await memory.claim(T, C, mine, 60)
    await memory.remember(T, answer(), mine)
    await memory.release(T, C, mine)
    assert await memory.claim(T, C, lease(), 60) is not None


async def test_keys_belong_to_a_conversation_and_a_tenant(memory):
    await memory.claim(T, C, lease(), 60)
    assert await memory.claim(T, "other", lease(), 60) is None
    assert await memory.claim("other", C, lease(), 60) is None


async def test_what_is_to_be_learned_is_kept_for_the_conversation_and_its_tenant(memory):
    assert await memory.log(T, C) == Log([], [])
    kept = [Entry(confidence=n / 10, codes={1: n}) for n in range(7)]
    for n, one in enumerate(kept):
        conversation = C if n % 2 else "other"
        await memory.remember(T, answer(conversation=conversation), None, one)
    log = await memory.log(T, C)
    assert list(log.conversation) == kept[1::2]
    assert list(log.tenant) == kept[-5:]
    assert await memory.log("another", C) == Log([], [])


async def test_a_turn_holds_the_question_as_it_was_read(memory):
    one = answer("And before?")
    one.standalone_question = "What was it in 2023?"
    await remember(memory, one)
    assert [turn.question for turn in await memory.recall(T, C)] == ["What was it in 2023?"]


async def test_conversations_are_listed_by_their_last_answer_under_their_first_question(memory):
    for name, question in [("a", "1?"), ("b", "2?"), ("c", "3?"), ("a", "4?"), ("b", "5?")]:
        await memory.note(T, kept_as("ann", name), question)
    page, more = await memory.conversations(T, "ann", limit=2, before=0)
    assert [(one.id, one.first_question) for one in page] == [("b", "2?"), ("a", "1?")]
    assert more
    rest, more = await memory.conversations(T, "ann", limit=2, before=page[-1].last_micros)
    assert [one.id for one in rest] == ["c"]
    assert not more


async def test_conversations_are_those_of_the_tenant_and_the_subject(memory):
    for subject in ("", "ann", "ann\nann"):
        assert await memory.conversations(T, subject, limit=5, before=0) == ([], False)
        await memory.note(T, kept_as(subject, C), f"By {subject}?")
    for subject in ("", "ann", "ann\nann"):
        page, _ = await memory.conversations(T, subject, limit=5, before=0)
        assert [(one.id, one.first_question) for one in page] == [(C, f"By {subject}?")]
    assert await memory.conversations("other", "ann", limit=5, before=0) == ([], False)


async def test_the_list_of_conversations_is_bounded(store):
    with store.client() as client:
        client.flushall()
    keeping = Keeping(ttl_seconds=60, turns=3, conversations=3)
    async with open_memory(store.url, keeping, timeout_seconds=5, pause_seconds=1) as real:
        for n in range(5):
            await real.note(T, f"c{n}", f"{n}?")
        page, more = await real.conversations(T, "", limit=10, before=0)
    assert [one.id for one in page] == ["c4", "c3", "c2"]
    assert not more
    with store.client() as client:
        held, questions = sorted(client.keys())
        assert client.hlen(questions) == client.zcard(held) == 3
        assert 0 < client.ttl(held) <= 60
        assert 0 < client.ttl(questions) <= 60


async def test_a_conversation_that_has_expired_leaves_the_list(store):
    with store.client() as client:
        client.flushall()
    keeping = Keeping(ttl_seconds=60, turns=3)
    async with open_memory(store.url, keeping, timeout_seconds=5, pause_seconds=1) as real:
        await real.note(T, "old", "Long ago?")
        with store.client() as client:
            held, questions = sorted(client.keys())
            client.zadd(held, {"old": 1_000_000})
        assert await real.conversations(T, "", limit=10, before=0) == ([], False)
        await real.note(T, C, "Now?")
    with store.client() as client:
        assert client.hkeys(questions) == [C]
