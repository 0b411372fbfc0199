"""The path of one question, with fakes for the agents."""

import asyncio
from contextlib import aclosing
from dataclasses import replace

import pytest
from fakes import (
    FakeGeneration,
    FakeMemory,
    FakeRetrieval,
    FakeVerification,
    InProcess,
    citation,
    draft,
    honest,
    passage,
    statement,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import verification_service_pb2 as verification

from services.chassis.errors import (
    Aborted,
    DeadlineExceeded,
    FailedPrecondition,
    NotFound,
    Unavailable,
)
from services.orchestrator.answer import ABSTENTION
from services.orchestrator.asking import Asker, Limits
from services.orchestrator.graph import Agents, Budgets, build
from services.orchestrator.measures import Measures

GOOD = statement("A UBO must submit proof.")
BAD = statement("A UBO must submit a passport.", "a certified passport")
WORSE = statement("A UBO must submit a pet.", "a pet")
INSUFFICIENT = draft(insufficient=True)

Answer = grounding.Answer


class World:
    """The agents of one test, and the asker that calls them."""

    def __init__(self, *drafts, passages=None):
        self.retrieval = FakeRetrieval(*(passages if passages is not None else [passage()]))
        self.generation = FakeGeneration(*drafts)
        self.verification = FakeVerification()
        self.memory = FakeMemory()
        self.metrics = InMemoryMetricReader()
        self.agents = Agents(
            retrieval=self.retrieval,
            generation=InProcess(self.generation),
            verification=self.verification,
            memory=self.memory,
            budgets=Budgets(1, 1, 1, 1),
            measures=Measures(MeterProvider([self.metrics]).get_meter("test")),
        )
        self.asker = Asker(build().compile(), self.agents, Limits(max_attempts=3, passages=8))

    def use(self, generation, **changes):
        """Another drafter from now on, or other settings."""
        self.generation = generation
        self.agents = replace(self.agents, generation=InProcess(generation), **changes)
        limits = Limits(max_attempts=3, passages=8)
        self.asker = Asker(build().compile(), self.agents, limits)

    async def ask(self, question="What must a UBO submit?", tenant="t", **request) -> Answer:
        return await self.asker.ask(tenant, grounding.AskRequest(question=question, **request))

    async def events(self, **request):
        asked = grounding.AskRequest(question="What must a UBO submit?", **request)
        return [event async for event in self.asker.stream("t", asked)]

    def total(self, name: str) -> float:
        metrics = self.metrics.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics
        return sum(p.value for m in metrics if m.name == name for p in m.data.data_points)

    def counted(self, name: str, label: str) -> dict[str, float]:
        metrics = self.metrics.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics
        points = next(m for m in metrics if m.name == name).data.data_points
        return {p.attributes[label]: getattr(p, "value", None) or p.count for p in points}


def kinds(events):
    return [event.WhichOneof("event") for event in events]


async def test_a_verified_draft_is_the_answer():
    world = World(draft(GOOD))
    answer = await world.ask()
    assert answer.status == Answer.STATUS_ANSWERED
    assert answer.text == "A UBO must submit proof. [1]"
    assert answer.statements[0].verdict == core.VERDICT_SUPPORTED
    assert answer.confidence.grounding_confidence == 1
    assert answer.historical_quality == 1
    assert answer.attempts == 1
    assert answer.question == "What must a UBO submit?"
    assert answer.conversation_id
    assert answer.create_time.seconds > 0
    assert not answer.memory_degraded


async def test_stages_are_timed_in_the_order_in_which_they_ran():
    answer = await World(draft(BAD), draft(GOOD)).ask()
    assert [(t.stage, t.attempt) for t in answer.stage_timings] == [
        ("recall", 1),
        ("retrieve", 1),
        ("generate", 1),
        ("verify", 1),
        ("generate", 2),
        ("verify", 2),
        ("score", 2),
    ]
    ends = [t.start_offset.ToNanoseconds() for t in answer.stage_timings]
    assert ends == sorted(ends)
    spent = sum(t.duration.ToNanoseconds() for t in answer.stage_timings)
    assert 0 < spent <= answer.duration.ToNanoseconds()


async def test_an_unsupported_statement_sends_the_draft_back_with_the_reason():
    world = World(draft(GOOD, BAD), draft(GOOD))
    answer = await world.ask()
    assert answer.status == Answer.STATUS_ANSWERED
    assert answer.attempts == 2
    sent = world.generation.requests[1].objections
    assert [o.statement.text for o in sent] == [BAD.text]
    assert sent[0].reasons[0].code == core.Reason.CODE_QUOTE_NOT_FOUND
    assert [one.outcome for one in answer.objections] == [core.Objection.OUTCOME_DROPPED]
    assert answer.objections[0].reasons == sent[0].reasons
    assert len(world.retrieval.requests) == 1


async def test_attempts_used_up_leave_what_was_verified():
    world = World(draft(GOOD, BAD), draft(GOOD, WORSE), draft(GOOD, BAD))
    answer = await world.ask()
    assert answer.status == Answer.STATUS_PARTIAL
    assert answer.attempts == 3
    assert answer.text == "A UBO must submit proof. [1]"
    assert [o.attempt for o in answer.objections] == [1, 2, 3]
    assert len(world.verification.scored[0].statements) == 2


async def test_the_best_draft_is_kept_when_later_ones_are_worse():
    other = statement("Any corporate entity is meant.", "Any corporate entity")
    answer = await World(draft(GOOD, other, BAD), draft(GOOD, WORSE), draft(BAD)).ask()
    assert [s.text for s in answer.statements] == [GOOD.text, other.text]


async def test_attempts_used_up_with_nothing_verified_are_an_abstention():
    world = World(draft(BAD), draft(WORSE), draft(BAD))
    answer = await world.ask()
    assert answer.status == Answer.STATUS_ABSTAINED
    assert answer.abstention.type == core.Abstention.TYPE_UNVERIFIABLE
    assert answer.text == ABSTENTION
    assert answer.confidence.grounding_confidence == 0
    assert len(world.generation.requests) == 3
    assert world.verification.scored == []


async def test_the_same_failure_twice_is_not_tried_a_third_time():
    world = World(draft(GOOD, BAD))
    answer = await world.ask()
    assert answer.status == Answer.STATUS_PARTIAL
    assert len(world.generation.requests) == 2


@pytest.mark.parametrize("most", [1, 2, 10])
async def test_the_request_bounds_its_attempts(most):
    world = World(*(draft(statement(f"Wrong {n}.", "invented")) for n in range(12)))
    answer = await world.ask(max_attempts=most)
    assert answer.attempts == len(world.generation.requests) == most
    assert answer.status == Answer.STATUS_ABSTAINED


async def test_missing_evidence_is_searched_for_more_widely():
    passages = [passage(f"p{n}", f"Nothing of note, page {n}.") for n in range(8)]
    wider = passage("p9")
    world = World(INSUFFICIENT, draft(statement("Yes.", source="p9")), passages=[*passages, wider])
    answer = await world.ask()
    assert [r.limit for r in world.retrieval.requests] == [8, 16]
    assert answer.status == Answer.STATUS_ANSWERED
    assert answer.attempts == 2
    assert [(t.stage, t.attempt) for t in answer.stage_timings][3] == ("retrieve", 2)


async def test_widening_ends_at_fifty_passages():
    world = World(INSUFFICIENT, passages=[passage(f"p{n}") for n in range(60)])
    answer = await world.ask(max_attempts=10)
    assert [r.limit for r in world.retrieval.requests] == [8, 16, 32, 50]
    assert answer.attempts == 4
    assert answer.abstention.type == core.Abstention.TYPE_NO_EVIDENCE


async def test_a_wider_search_without_news_is_not_drafted_from_again():
    world = World(INSUFFICIENT)
    answer = await world.ask()
    assert answer.abstention.type == core.Abstention.TYPE_NO_EVIDENCE
    assert answer.attempts == len(world.generation.requests) == 1
    assert len(world.retrieval.requests) == 2


async def test_an_empty_index_is_an_abstention_without_a_draft():
    world = World(draft(GOOD), passages=[])
    answer = await world.ask()
    assert answer.abstention.type == core.Abstention.TYPE_NO_EVIDENCE
    assert answer.attempts == 0
    assert world.generation.requests == []


async def test_what_was_verified_survives_a_drafter_who_then_gives_up():
    answer = await World(draft(GOOD, BAD), INSUFFICIENT).ask()
    assert answer.status == Answer.STATUS_PARTIAL
    assert [s.text for s in answer.statements] == [GOOD.text]


async def test_the_filter_goes_to_the_search():
    world = World(draft(GOOD))
    await world.ask(filter={"document_types": ["policy"]})
    assert list(world.retrieval.requests[0].filter.document_types) == ["policy"]


@pytest.mark.parametrize("agent", ["retrieval", "generation", "verification"])
async def test_an_agent_that_is_down_is_an_error_and_never_an_answer(agent):
    world = World(draft(GOOD))
    getattr(world, agent).error = Unavailable("down")
    with pytest.raises(Unavailable):
        await world.ask(conversation_id="c")
    assert world.memory.records == {}


async def test_a_stage_over_its_time_is_an_error():
    world = World(draft(GOOD))
    world.verification.error = DeadlineExceeded("too slow")
    with pytest.raises(DeadlineExceeded):
        await world.ask()


@pytest.mark.parametrize(
    "unusable",
    [
        draft(core.DraftStatement(text=" ")),
        draft(core.DraftStatement(text="x" * 20_001)),
        draft(core.DraftStatement(text="A.", citations=[core.DraftCitation()] * 51)),
    ],
)
async def test_a_draft_beyond_all_bounds_is_an_error_before_it_is_verified(unusable):
    world = World(unusable)
    with pytest.raises(Unavailable):
        await world.ask()
    assert world.verification.requests == []


async def test_events_come_in_order_and_end_with_the_answer():
    events = await World(draft(GOOD)).events()
    assert kinds(events) == [
        "stage_started",
        "stage_finished",
        "stage_started",
        "passages_found",
        "stage_finished",
        "stage_started",
        "attempt_started",
        "statement_verified",
        "stage_finished",
        "stage_started",
        "stage_finished",
        "stage_started",
        "stage_finished",
        "stage_started",
        "stage_finished",
        "answer",
    ]
    started = [e.stage_started.stage for e in events if e.HasField("stage_started")]
    finished = [e.stage_finished.stage for e in events if e.HasField("stage_finished")]
    assert started == finished == ["recall", "retrieve", "generate", "verify", "score", "remember"]


async def test_objections_and_attempts_are_told_as_they_happen():
    events = await World(draft(GOOD, BAD), draft(GOOD)).events()
    attempts = [e.attempt_started.attempt for e in events if e.HasField("attempt_started")]
    assert attempts == [1, 2]
    objected = [e.objection for e in events if e.HasField("objection")]
    assert [o.statement for o in objected] == [BAD]
    assert [o.reasons for o in objected] == [o.reasons for o in events[-1].answer.objections]
    assert kinds(events).index("objection") < kinds(events).index("answer")


async def test_every_statement_sent_is_in_the_answer_at_its_place():
    for drafts in ([draft(GOOD, BAD), draft(BAD, GOOD)], [draft(GOOD, GOOD)], [draft(BAD)]):
        events = await World(*drafts).events()
        sent = [e.statement_verified for e in events if e.HasField("statement_verified")]
        assert [s.statement for s in sent] == list(events[-1].answer.statements)
        assert [s.index for s in sent] == list(range(len(sent)))


async def test_a_stream_that_fails_after_a_statement_was_sent_leaves_no_answer_behind():
    world = World(draft(GOOD))
    seen = []

    async def no_score(request, **call):
        raise Unavailable("down")

    world.verification.ScoreConfidence = no_score

    async def listen():
        asked = grounding.AskRequest(question="q?", conversation_id="c", idempotency_key="k")
        async for event in world.asker.stream("t", asked):
            seen.append(event)  # noqa: PERF401 - a comprehension would keep nothing of a failed stream

    with pytest.raises(Unavailable):
        await listen()
    assert "statement_verified" in kinds(seen)
    assert "answer" not in kinds(seen)
    assert world.memory.records == world.memory.claims == world.memory.entries == {}


words = st.sampled_from([GOOD.text, BAD.text, WORSE.text, "Else."])
statements = st.builds(
    core.VerifiedStatement,
    text=words,
    verdict=st.sampled_from([0, 1, 1, 2, 3, 4, 5]),
    citations=st.lists(
        st.sampled_from([citation(passage(), "25% equity"), core.Citation(quote="25% equity")]),
        max_size=2,
    ),
)
replies = st.lists(
    st.builds(verification.VerifyResponse, statements=st.lists(statements, max_size=3)),
    min_size=1,
    max_size=4,
)


async def heard(world):
    """The events of a question, and whether it ended in an error."""
    events = []
    try:
        async for event in world.asker.stream("t", grounding.AskRequest(question="q?")):
            events.append(event)  # noqa: PERF401 - a comprehension would keep nothing
    except Unavailable:
        return events, True
    return events, False


@settings(max_examples=60, deadline=None)
@given(replies)
def test_whatever_verification_replies_nothing_unverified_leaves(some):
    """Over the whole graph: the answer, the stream and the stored record."""
    world = World(draft(GOOD, BAD), draft(WORSE), draft(GOOD))
    asked = iter(range(10))
    known: dict[str, core.VerifiedStatement] = {}

    def reply(request):
        if request.without_judge:  # Mostly as before: the second time is there for the rest.
            again = [known.get(s.text, core.VerifiedStatement()) for s in request.statements]
            return verification.VerifyResponse(statements=again)
        said = some[min(next(asked), len(some) - 1)]
        known.update({s.text: s for s in said.statements if s.verdict == core.VERDICT_SUPPORTED})
        return said

    world.verification.answering = reply
    events, failed = asyncio.run(heard(world))
    if failed:
        assert world.memory.records == {}
        assert "answer" not in kinds(events)
        return
    answer = events[-1].answer
    supported = {s.text for r in some for s in r.statements if s.verdict == core.VERDICT_SUPPORTED}
    sent = [e.statement_verified.statement for e in events if e.HasField("statement_verified")]
    assert sent == list(answer.statements)
    for one in answer.statements:
        assert one.verdict == core.VERDICT_SUPPORTED
        assert one.text in supported
        assert one.citations
        assert all(c.passage_id == "p1" for c in one.citations)
    said = {s.text for s in answer.statements}
    for unsaid in {GOOD.text, BAD.text, WORSE.text, "Else."} - said:
        assert unsaid not in answer.text
    assert world.memory.records[("t", answer.id)] == answer


some_drafts = st.lists(
    st.sampled_from([draft(GOOD), draft(GOOD, BAD), draft(BAD), draft(WORSE), INSUFFICIENT]),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(some_drafts, st.integers(1, 6), st.integers(0, 60))
def test_every_question_ends_within_its_attempts(drafts, most, found):
    world = World(*drafts, passages=[passage(f"p{n}") for n in range(1, found + 1)])
    answer = asyncio.run(world.ask(max_attempts=most))
    assert answer.attempts == len(world.generation.requests) <= most
    assert 1 <= len(world.retrieval.requests) <= most
    assert bool(answer.statements) == (answer.status != Answer.STATUS_ABSTAINED)
    assert answer.HasField("abstention") == (answer.status == Answer.STATUS_ABSTAINED)


async def test_history_reaches_the_drafter_and_nobody_else():
    world = World(draft(GOOD))
    first = await world.ask("What must a UBO submit?", conversation_id="c")
    await world.ask("And how?", conversation_id="c")
    turns = world.generation.requests[1].history
    assert [(t.question, t.answer) for t in turns] == [("What must a UBO submit?", first.text)]
    assert [p.id for p in world.verification.requests[1].passages] == ["p1"]


async def test_answers_come_without_a_memory_and_say_so():
    world = World(draft(GOOD))
    world.memory.down = True
    answer = await world.ask(conversation_id="c", idempotency_key="k")
    assert answer.status == Answer.STATUS_ANSWERED
    assert answer.memory_degraded
    assert not answer.HasField("historical_quality")


async def test_a_memory_lost_on_the_way_degrades_the_answer_too():
    world = World(draft(GOOD))

    def losing(request):
        world.memory.down = True
        return honest(request)

    world.verification.answering = losing
    answer = await world.ask(conversation_id="c")
    assert answer.memory_degraded
    assert not answer.HasField("historical_quality")


async def test_a_memory_that_comes_back_midway_stores_no_answer_without_history():
    world = World(draft(GOOD))
    world.memory.down = True

    def returning(request):
        world.memory.down = False
        return honest(request)

    world.verification.answering = returning
    assert (await world.ask(conversation_id="c")).memory_degraded
    assert world.memory.records == {}


async def test_a_key_answers_once():
    world = World(draft(GOOD))
    first = await world.ask(conversation_id="c", idempotency_key="k")
    assert await world.ask(conversation_id="c", idempotency_key="k") == first
    assert len(world.generation.requests) == 1
    assert kinds(await world.events(conversation_id="c", idempotency_key="k")) == ["answer"]


async def test_a_key_without_a_conversation_answers_once_too():
    world = World(draft(GOOD))
    first = await world.ask(idempotency_key="k")
    assert await world.ask(idempotency_key="k") == first


async def test_a_key_belongs_to_its_conversation_and_tenant():
    world = World(draft(GOOD))
    first = await world.ask(conversation_id="c", idempotency_key="k")
    assert (await world.ask(conversation_id="d", idempotency_key="k")).id != first.id
    assert (await world.ask(conversation_id="c", idempotency_key="k", tenant="u")).id != first.id


@pytest.mark.parametrize("other", [{"question": "Other?"}, {"max_attempts": 1}])
async def test_another_question_under_a_key_is_refused(other):
    world = World(draft(GOOD))
    await world.ask(conversation_id="c", idempotency_key="k")
    with pytest.raises(FailedPrecondition):
        await world.ask(conversation_id="c", idempotency_key="k", **other)


async def test_a_key_in_use_turns_the_second_call_away():
    world = World(draft(GOOD))
    released = world.generation.hold()
    first = asyncio.create_task(world.ask(conversation_id="c", idempotency_key="k"))
    await world.generation.asked_once.wait()
    with pytest.raises(Aborted):
        await world.ask(conversation_id="c", idempotency_key="k")
    released.set()
    assert (await first).status == Answer.STATUS_ANSWERED


async def test_a_key_is_free_again_after_a_failure():
    world = World(draft(GOOD))
    world.generation.error = Unavailable("down")
    with pytest.raises(Unavailable):
        await world.ask(conversation_id="c", idempotency_key="k")
    world.generation.error = None
    assert (await world.ask(conversation_id="c", idempotency_key="k")).attempts == 1


async def test_a_key_is_free_again_after_a_cancelled_call_and_its_work_ends():
    world = World(draft(GOOD))
    world.generation.hold()
    call = asyncio.create_task(world.ask(conversation_id="c", idempotency_key="k"))
    await world.generation.asked_once.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert world.generation.cancelled.is_set()
    assert world.memory.claims == {}
    assert world.memory.records == {}


async def test_a_claim_that_is_cancelled_after_it_took_hold_is_given_back():
    world = World(draft(GOOD))
    taking = world.memory.claim

    taken = asyncio.Event()

    async def slow_to_say_so(*claim):
        await taking(*claim)
        taken.set()
        await asyncio.Event().wait()

    world.memory.claim = slow_to_say_so
    call = asyncio.create_task(world.ask(conversation_id="c", idempotency_key="k"))
    await taken.wait()
    assert world.memory.claims
    call.cancel()
    await asyncio.wait([call])
    assert world.memory.claims == {}


async def test_a_stream_that_nobody_reads_on_ends_its_work():
    world = World(draft(GOOD))
    asked = grounding.AskRequest(question="q?", conversation_id="c", idempotency_key="k")
    async with aclosing(world.asker.stream("t", asked)) as events:
        await anext(events)
        assert world.memory.claims
    assert world.memory.claims == {}
    assert len(asyncio.all_tasks()) == 1


async def test_ten_questions_at_once_in_one_conversation_are_all_remembered():
    world = World(draft(GOOD))
    answers = await asyncio.gather(*(world.ask(f"q{n}?", conversation_id="c") for n in range(10)))
    stored, more = await world.memory.answers("t", "c", limit=100, before="")
    assert {a.id for a in stored} == {a.id for a in answers}
    assert not more


async def test_another_tenant_finds_nothing():
    world = World(draft(GOOD))
    answer = await world.ask(conversation_id="c")
    with pytest.raises(NotFound):
        await world.memory.answer("other", answer.id)


async def test_what_becomes_of_questions_is_counted():
    world = World(draft(GOOD, BAD), draft(GOOD))
    await world.ask()
    world.generation.drafts = [INSUFFICIENT]
    await world.ask()
    assert world.counted("verity.answers", "status") == {
        "STATUS_ANSWERED": 1,
        "STATUS_ABSTAINED": 1,
    }
    assert world.counted("verity.abstentions", "type") == {"TYPE_NO_EVIDENCE": 1}
    assert world.counted("verity.verdicts", "verdict") == {
        "VERDICT_SUPPORTED": 2,
        "VERDICT_UNSUPPORTED": 1,
    }
    assert world.counted("verity.reasons", "code") == {"CODE_QUOTE_NOT_FOUND": 1}
    assert world.counted("verity.stage.duration", "stage")["generate"] == 3
