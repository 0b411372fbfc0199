"""What each stage does: a call to an agent, and what is learned from its reply."""

import asyncio
import time
from collections.abc import Sequence

from google.protobuf.duration_pb2 import Duration
from langgraph.runtime import Runtime
from opentelemetry import trace
from verity.v1 import core_pb2 as core
from verity.v1 import generation_service_pb2 as generation
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import retrieval_service_pb2 as retrieval
from verity.v1 import verification_service_pb2 as verification

from services.chassis import telemetry
from services.chassis.errors import Unavailable
from services.orchestrator import grounding_log, objections, searching, strategy
from services.orchestrator.agents import Agents, within
from services.orchestrator.answer import compose
from services.orchestrator.drafting import Heard, hear
from services.orchestrator.memory import new_answer_id
from services.orchestrator.release import MOST_STATEMENTS, Release
from services.orchestrator.review import Checked, conflicts, objection, review
from services.orchestrator.state import State

Event = grounding.AskStreamResponse
Attempt = grounding.Attempt

# What GenerateRequest takes at most.
_MOST_OBJECTIONS = 100
_MOST_QUESTION = 4000
_CONTRADICTION = "The verification contradicts itself; try again."


async def recall(state: State, runtime: Runtime[Agents]) -> State:
    asked = state["asked"]
    if state["degraded"]:
        return {}
    try:
        memory = runtime.context.memory
        history = await memory.recall(asked.tenant, asked.conversation)
        log = await memory.log(asked.tenant, asked.conversation)
    except Unavailable:
        return {"degraded": True}
    chosen = strategy.choose(log, passages=state["limit"])
    return {"history": history, "strategy": chosen, "limit": chosen.passages}


async def resolve(state: State, runtime: Runtime[Agents]) -> State:
    """A question that could not be resolved is asked as it is."""
    asked = state["asked"]
    request = generation.ResolveQuestionRequest(question=asked.question, history=state["history"])
    try:
        reply: generation.ResolveQuestionResponse = (
            await runtime.context.generation.ResolveQuestion(
                request, timeout=within(asked, runtime.context.budgets.resolve)
            )
        )
    except Exception as error:  # noqa: BLE001 - whatever goes wrong, the question is there
        trace.get_current_span().set_attribute(telemetry.ERROR_TYPE, type(error).__name__)
        return {}
    resolved = reply.standalone_question.strip()[:_MOST_QUESTION]
    return {"standalone": "" if resolved == asked.question.strip() else resolved}


async def retrieve(state: State, runtime: Runtime[Agents]) -> State:
    asked = state["asked"]
    requests = searching.requests(state)
    seconds = within(asked, runtime.context.budgets.retrieve)
    replies: Sequence[retrieval.RetrieveResponse] = await asyncio.gather(
        *(runtime.context.retrieval.Retrieve(one, timeout=seconds) for one in requests)
    )
    found = [reply.passages for reply in replies]
    passages = searching.merged(state, found)
    known = {passage.id for passage in state["passages"]}
    runtime.stream_writer(Event(passages_found=Event.PassagesFound(passages=passages)))
    trace.get_current_span().set_attribute("verity.passages", len(passages))
    return {
        "limit": searching.limit(state),
        "searches": state["searches"] + 1,
        "query": requests[0].query,
        "passages": passages,
        "corpora": searching.corpora(state["corpora"], found) if asked.in_two_corpora else {},
        "news": any(passage.id not in known for passage in passages),
        "search": searching.report(reply.report for reply in replies),
    }


async def generate(state: State, runtime: Runtime[Agents]) -> State:
    """Each statement is verified as it is drafted, and said as soon as it is."""
    agents, asked, attempt = runtime.context, state["asked"], state["attempts"] + 1
    began = time.monotonic()
    runtime.stream_writer(Event(attempt_started=Event.AttemptStarted(attempt=attempt)))
    release = Release(state["said"], conflicts(state["objections"]))
    verifier = state["verifier"]

    async def check(statements: Sequence[core.DraftStatement]) -> None:
        nonlocal verifier
        reply = await _verified(state, agents, statements)
        verifier = reply.verifier
        for one in review(statements, state["passages"], reply, attempt):
            agents.measures.checked(one)
            said = len(release.said)
            for index, other in enumerate(release.offer(one), said):
                sent = Event.StatementVerified(index=index, statement=other.verified)
                runtime.stream_writer(Event(statement_verified=sent))
            if not one.passed:
                runtime.stream_writer(Event(objection=objection(one)))

    async def heard(*, extractive: bool) -> Heard:
        return await hear(
            agents.generation,
            _request(state, release.said, extractive=extractive),
            within(asked, agents.budgets.generate),
            check,
        )

    extractive = state["extractive"]
    made = await heard(extractive=extractive)
    drafted = len(made.statements)
    if made.error and agents.fallback and not extractive and time.monotonic() < asked.ends:
        agents.measures.fell_back()
        extractive = True
        made = await heard(extractive=True)
        drafted += len(made.statements)
    over = made.error is not None or time.monotonic() >= asked.ends
    if made.error and not release.said and not (state["objections"] and _is_late(state)):
        raise made.error
    raised = [objection(one) for one in release.failed]
    if made.draft.failure:
        raised.append(objections.unusable(attempt, made.draft.failure))
        runtime.stream_writer(Event(objection=raised[-1]))
    log = Attempt(
        attempt=attempt,
        query=state["query"],
        passages=len(state["passages"]),
        drafted=drafted,
        verified=release.passed,
        outcome=_outcome(made, drafted, raised),
        failure=made.draft.failure,
        duration=duration(time.monotonic() - began),
        usage=made.draft.usage,
        generator=made.draft.generator,
        structured_mode=made.draft.structured_mode,
        dropped_passages=len(made.draft.dropped_passage_ids),
    )
    trace.get_current_span().set_attributes(
        {
            "verity.drafted": log.drafted,
            "verity.verified": log.verified,
            "verity.objections": len(raised),
            "verity.outcome": Attempt.Outcome.Name(log.outcome),
            "verity.extractive": extractive,
        }
    )
    return {
        "attempts": attempt,
        "attempt_log": [*state["attempt_log"], log],
        "draft": made.draft,
        "compliance": made.draft.compliance or (state["compliance"] and core.COMPLIANCE_UNKNOWN),
        "said": release.said,
        "failed": release.failed if drafted else state["failed"],
        "objections": raised,
        "verifier": verifier,
        "extractive": extractive,
        "over": over,
    }


async def verify(state: State, runtime: Runtime[Agents]) -> State:
    """All that was said, once more and together, against all that was found.

    Each statement was verified alone by the same checks on the same passages, so that this can only
    find what was found since: a wider search may bring a source that contradicts what an earlier
    attempt said. That is an objection. Anything else means that the checks are not the same any
    more, and then there is no answer.
    """
    agents, attempt = runtime.context, state["attempts"]
    if not state["said"]:
        return {}
    statements = [one.drafted for one in state["said"]]
    reply = await _verified(state, agents, statements, without_judge=True)
    found = review(statements, state["passages"], reply, attempt)
    fallen = [(said, now) for said, now in zip(state["said"], found, strict=True) if not now.passed]
    if any(said.attempt == attempt for said, _ in fallen):
        agents.measures.contradicted()
        raise Unavailable(_CONTRADICTION)
    raised = [objection(now) for said, now in fallen if not _is_known(state, said)]
    for one in raised:
        runtime.stream_writer(Event(objection=one))
    if not raised:
        return {}
    *log, last = state["attempt_log"]
    entry = Attempt()
    entry.CopyFrom(last)
    entry.outcome = Attempt.OUTCOME_OBJECTED
    return {"objections": raised, "attempt_log": [*log, entry]}


async def score(state: State, runtime: Runtime[Agents]) -> State:
    """Of what is said, and of what failed last and was dropped."""
    counted = [*state["said"], *state["failed"]][:MOST_STATEMENTS]
    reply: verification.ScoreConfidenceResponse = (
        await runtime.context.verification.ScoreConfidence(
            verification.ScoreConfidenceRequest(
                statements=[one.verified for one in counted],
                citations_total=sum(len(one.drafted.citations) for one in counted),
                citations_verified=sum(one.citations_verified for one in counted),
            ),
            timeout=runtime.context.budgets.score,
        )
    )
    return {"confidence": reply.confidence}


async def remember(state: State, runtime: Runtime[Agents]) -> State:
    """Composes the answer and stores it.

    An answer that is stored as it is given cannot tell how long its storing took: this stage is
    among the events, not among the answer's timings.
    """
    asked, answer = state["asked"], compose(state)
    answer.id = new_answer_id(asked.conversation)
    answer.trace_id = telemetry.trace_id()
    answer.create_time.GetCurrentTime()
    answer.duration.CopyFrom(duration(time.monotonic() - asked.arrived))
    if not answer.memory_degraded:
        entry = grounding_log.entry(answer, state["passages"])
        try:
            answer.historical_quality = await runtime.context.memory.remember(
                asked.tenant, answer, asked.lease, entry
            )
        except Unavailable:
            answer.memory_degraded = True
    runtime.context.measures.answered(answer)
    trace.get_current_span().set_attributes(_counts(answer))
    return {"answer": answer}


def duration(seconds: float) -> Duration:
    told = Duration()
    told.FromNanoseconds(round(seconds * 1e9))
    return told


def _request(
    state: State, said: Sequence[Checked], *, extractive: bool
) -> generation.GenerateRequest:
    settled = objections.settled(state["objections"], said, state["attempt_log"])
    return generation.GenerateRequest(
        question=state["standalone"] or state["asked"].question,
        passages=state["passages"],
        objections=objections.still_open(settled)[-_MOST_OBJECTIONS:],
        history=state["history"],
        kept=[one.drafted for one in said],
        structured_mode=state["strategy"].structured_mode,
        extractive=extractive,
    )


async def _verified(
    state: State,
    agents: Agents,
    statements: Sequence[core.DraftStatement],
    *,
    without_judge: bool = False,
) -> verification.VerifyResponse:
    reply: verification.VerifyResponse = await agents.verification.Verify(
        verification.VerifyRequest(
            statements=statements,
            passages=state["passages"],
            as_of=state["asked"].as_of,
            min_coverage=state["strategy"].min_coverage,
            without_judge=without_judge,
        ),
        # Not clamped to the answer's time: what was drafted in time is still verified.
        timeout=agents.budgets.verify,
    )
    return reply


def _outcome(made: Heard, drafted: int, raised: Sequence[core.Objection]) -> Attempt.Outcome:
    if made.error:
        return Attempt.OUTCOME_UNAVAILABLE
    if made.draft.failure:
        return Attempt.OUTCOME_UNUSABLE
    if made.draft.insufficient or not drafted:
        return Attempt.OUTCOME_INSUFFICIENT
    return Attempt.OUTCOME_OBJECTED if raised else Attempt.OUTCOME_VERIFIED


def _is_known(state: State, said: Checked) -> bool:
    """Whether what was found since against a statement was objected to already."""
    return any(
        one.attempt > said.attempt and one.statement == said.drafted for one in state["objections"]
    )


def _counts(answer: grounding.Answer) -> dict[str, int | bool]:
    """What became of a question, for its span: numbers alone."""
    outcomes = [core.Objection.Outcome.Name(one.outcome) for one in answer.objections]
    return {
        "verity.attempts": answer.attempts,
        "verity.statements": len(answer.statements),
        "verity.objections.corrected": outcomes.count("OUTCOME_CORRECTED"),
        "verity.objections.dropped": outcomes.count("OUTCOME_DROPPED"),
        "verity.objections.abandoned": outcomes.count("OUTCOME_ABANDONED"),
        "verity.choices": len(answer.strategy.why),
        "verity.degraded": answer.degraded,
    }


def _is_late(state: State) -> bool:
    return time.monotonic() >= state["asked"].ends
