"""One attempt: a draft, verified as it is made and said as it is verified, and then as a whole."""

import time
from collections.abc import Sequence

import grpc
from langgraph.runtime import Runtime
from opentelemetry import trace
from verity.v1 import core_pb2 as core
from verity.v1 import generation_service_pb2 as generation
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import verification_service_pb2 as verification

from services.chassis import status
from services.chassis.errors import Unavailable
from services.orchestrator import objections
from services.orchestrator.agents import Agents, duration, within
from services.orchestrator.drafting import Heard, hear
from services.orchestrator.release import Release
from services.orchestrator.review import Checked, conflicts, objection, review
from services.orchestrator.state import Asked, State

Code = grpc.StatusCode
Event = grounding.AskStreamResponse
Attempt = grounding.Attempt

# What GenerateRequest takes at most.
_MOST_OBJECTIONS = 100
_TOO_SLOW = "The drafter took longer than it may; try again."
_CONTRADICTION = "The verification contradicts itself; try again."


async def generate(state: State, runtime: Runtime[Agents]) -> State:
    """Each statement is verified as it is drafted, and said as soon as it is."""
    agents, asked, attempt = runtime.context, state["asked"], state["attempts"] + 1
    began = time.monotonic()
    runtime.stream_writer(Event(attempt_started=Event.AttemptStarted(attempt=attempt)))
    release = Release(state["said"], conflicts(state["objections"]))
    verifier = state["verifier"]

    async def check(statements: Sequence[core.DraftStatement]) -> None:
        nonlocal verifier
        reply = await _verified(state, agents, statements, state["passages"])
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
        raise _told(made.error, asked)
    raised = [objection(one) for one in release.failed]
    if made.draft.failure:
        raised.append(objections.unusable(attempt, made.draft.failure))
        runtime.stream_writer(Event(objection=raised[-1]))
    log = _logged(state, made, drafted, raised)
    log.verified = release.passed
    log.duration.CopyFrom(duration(time.monotonic() - began))
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
    reply = await _verified(state, agents, statements, state["passages"], without_judge=True)
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


async def outdated(state: State, runtime: Runtime[Agents]) -> State:
    """Nothing that applies answers: would something have that does not apply on the day?

    Drafted extractively and verified like any draft, and used for nothing but to say so.
    """
    agents = runtime.context
    best = {e.best.id: e for e in state["search"].exclusions if e.HasField("best")}
    passages = [one.best for one in best.values()]
    answering = Release([], [])

    async def check(statements: Sequence[core.DraftStatement]) -> None:
        reply = await _verified(state, agents, statements, passages)
        for one in review(statements, passages, reply, attempt=0):
            answering.offer(one)

    request = generation.GenerateRequest(
        question=state["standalone"] or state["asked"].question,
        passages=passages,
        extractive=True,
    )
    seconds = within(state["asked"], agents.budgets.generate)
    await hear(agents.generation, request, seconds, check)
    cited = {c.passage_id for one in answering.said for c in one.verified.citations}
    return {"outdated": [one for id_, one in best.items() if id_ in cited]}


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
    passages: Sequence[core.Passage],
    *,
    without_judge: bool = False,
) -> verification.VerifyResponse:
    reply: verification.VerifyResponse = await agents.verification.Verify(
        verification.VerifyRequest(
            statements=statements,
            passages=passages,
            as_of=state["asked"].as_of,
            min_coverage=state["strategy"].min_coverage,
            without_judge=without_judge,
        ),
        # Not clamped to the answer's time: what was drafted in time is still verified.
        timeout=agents.budgets.verify,
    )
    return reply


def _told(error: Exception, asked: Asked) -> Exception:
    """A drafter who took longer than it may is unavailable: the caller's time is not used up."""
    slow = (said := status.of(error)) and status.code_of(said) is Code.DEADLINE_EXCEEDED
    return Unavailable(_TOO_SLOW) if slow and time.monotonic() < asked.ends else error


def _logged(state: State, made: Heard, drafted: int, raised: Sequence[core.Objection]) -> Attempt:
    """What is known of an attempt by its draft and by what was objected to it."""
    return Attempt(
        attempt=state["attempts"] + 1,
        query=state["query"],
        passages=len(state["passages"]),
        drafted=drafted,
        outcome=_outcome(made, drafted, raised),
        failure=made.draft.failure,
        usage=made.draft.usage,
        generator=made.draft.generator,
        structured_mode=made.draft.structured_mode,
        dropped_passages=len(made.draft.dropped_passage_ids),
    )


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


def _is_late(state: State) -> bool:
    return time.monotonic() >= state["asked"].ends
