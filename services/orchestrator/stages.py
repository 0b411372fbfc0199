"""What the stages around the attempts do: what is known before them, and what comes of them."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime

from langgraph.runtime import Runtime
from opentelemetry import trace
from verity.v1 import core_pb2 as core
from verity.v1 import generation_service_pb2 as generation
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import retrieval_service_pb2 as retrieval
from verity.v1 import verification_service_pb2 as verification

from services.chassis import telemetry
from services.chassis.errors import Unavailable
from services.orchestrator import grounding_log, readership, searching, strategy
from services.orchestrator.agents import Agents, duration, within
from services.orchestrator.answer import compose
from services.orchestrator.drafting import is_gone
from services.orchestrator.memory import new_answer_id
from services.orchestrator.release import MOST_STATEMENTS
from services.orchestrator.state import State

Event = grounding.AskStreamResponse

_MOST_QUESTION = 4000


async def recall(state: State, runtime: Runtime[Agents]) -> State:
    asked = state["asked"]
    if state["degraded"]:
        return {}
    try:
        memory = runtime.context.memory
        turns = await memory.recall(asked.tenant, asked.kept_as)
        log = await memory.log(asked.tenant, asked.kept_as)
    except Unavailable:
        return {"degraded": True}
    chosen = strategy.choose(log, passages=state["limit"])
    history = [turn for turn in turns if readership.admits(turn.readers, asked.groups)]
    read = frozenset[tuple[str, ...]]().union(
        *(readership.of_message(turn.readers) for turn in history)
    )
    for turn in history:
        del turn.readers[:]
    return {
        "history": history,
        "strategy": chosen,
        "limit": chosen.passages,
        "readership": read,
    }


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
    try:
        replies: Sequence[retrieval.RetrieveResponse] = await asyncio.gather(
            *(runtime.context.retrieval.Retrieve(one, timeout=seconds) for one in requests)
        )
    except Exception as error:
        if not (state["said"] and is_gone(error)):
            raise
        trace.get_current_span().set_attribute(telemetry.ERROR_TYPE, type(error).__name__)
        return {"news": False, "over": True}  # What was said is the answer.
    day = asked.as_of or datetime.now(UTC).date().isoformat()
    found = [searching.in_force(reply.passages, day) for reply in replies]
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
        # Before the reports are made one.
        "readership": state["readership"] | readership.of_found(replies),
        "search": searching.report(reply.report for reply in replies),
    }


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
    answer.id = new_answer_id(asked.kept_as)
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
        else:
            # The answer is kept; that it is not listed does not change that.
            with suppress(Unavailable):
                await runtime.context.memory.note(asked.tenant, asked.kept_as, answer.question)
    runtime.context.measures.answered(answer)
    trace.get_current_span().set_attributes(_counts(answer))
    return {"answer": answer}


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
