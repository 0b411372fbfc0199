"""The path of one question: recall, retrieve, generate, verify, score, remember, and the way back.

A node is one call to one agent; where it leads is decided in `routes.py`.
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import wraps
from typing import Protocol

from google.protobuf.duration_pb2 import Duration
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from verity.v1 import core_pb2 as core
from verity.v1 import generation_service_pb2 as generation
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import retrieval_service_pb2 as retrieval
from verity.v1 import verification_service_pb2 as verification
from verity.v1.generation_service_pb2_grpc import GenerationServiceStub
from verity.v1.retrieval_service_pb2_grpc import RetrievalServiceStub
from verity.v1.verification_service_pb2_grpc import VerificationServiceStub

from services.chassis import telemetry, validation
from services.chassis.errors import Unavailable
from services.orchestrator import review, routes
from services.orchestrator.answer import compose
from services.orchestrator.measures import Measures
from services.orchestrator.memory import Memory, new_answer_id
from services.orchestrator.state import State

# What VerifyRequest and GenerateRequest take at most.
_MOST_STATEMENTS = 200
_MOST_OBJECTIONS = 100


@dataclass(frozen=True, slots=True)
class Budgets:
    """The most seconds one call of a stage may take; less where the caller's deadline is nearer."""

    retrieve: float
    generate: float
    verify: float
    score: float


@dataclass(frozen=True, slots=True)
class Agents:
    """Whom the nodes call."""

    retrieval: RetrievalServiceStub
    generation: GenerationServiceStub
    verification: VerificationServiceStub
    memory: Memory
    budgets: Budgets
    measures: Measures


class Node(Protocol):
    """LangGraph passes the runtime by this name."""

    def __call__(self, state: State, *, runtime: Runtime[Agents]) -> Awaitable[State]: ...


Graph = StateGraph[State, Agents, State, State]
Event = grounding.AskStreamResponse


def build() -> Graph:
    """The graph, to be compiled."""
    graph: Graph = StateGraph(State, context_schema=Agents)
    for node in (recall, retrieve, generate, verify, score, remember):
        graph.add_node(node.__name__, _stage(node.__name__, node))
    graph.add_edge(START, "recall")
    graph.add_edge("recall", "retrieve")
    graph.add_conditional_edges("retrieve", _on_loop(routes.after_retrieve))
    graph.add_conditional_edges("generate", _on_loop(routes.after_generate))
    graph.add_conditional_edges("verify", _on_loop(routes.after_verify))
    graph.add_edge("score", "remember")
    graph.add_edge("remember", END)
    return graph


async def recall(state: State, runtime: Runtime[Agents]) -> State:
    asked = state["asked"]
    if state["degraded"]:
        return {}
    try:
        history = await runtime.context.memory.recall(asked.tenant, asked.conversation)
    except Unavailable:
        return {"degraded": True}
    return {"history": history}


async def retrieve(state: State, runtime: Runtime[Agents]) -> State:
    asked = state["asked"]
    limit = state["limit"] if not state["searches"] else min(2 * state["limit"], routes.WIDEST)
    reply: retrieval.RetrieveResponse = await runtime.context.retrieval.Retrieve(
        retrieval.RetrieveRequest(query=asked.question, limit=limit, filter=asked.filter),
        timeout=runtime.context.budgets.retrieve,
    )
    passages = list(reply.passages[: routes.WIDEST])
    known = {passage.id for passage in state["passages"]}
    found = Event.PassagesFound(passages=passages)
    runtime.stream_writer(Event(passages_found=found))
    return {
        "limit": limit,
        "searches": state["searches"] + 1,
        "passages": passages,
        "news": any(passage.id not in known for passage in passages),
        "search": reply.report,
    }


async def generate(state: State, runtime: Runtime[Agents]) -> State:
    attempt = state["attempts"] + 1
    runtime.stream_writer(Event(attempt_started=Event.AttemptStarted(attempt=attempt)))
    draft: generation.GenerateResponse = await runtime.context.generation.Generate(
        generation.GenerateRequest(
            question=state["asked"].question,
            passages=state["passages"],
            objections=state["objections"][-_MOST_OBJECTIONS:],
            history=state["history"],
        ),
        timeout=runtime.context.budgets.generate,
    )
    if draft.failure or len(draft.statements) > _MOST_STATEMENTS or validation.violations(draft):
        raise Unavailable("The drafter answered with nothing usable; try again.")
    return {"attempts": attempt, "draft": draft}


async def verify(state: State, runtime: Runtime[Agents]) -> State:
    draft, passages = state["draft"], state["passages"]
    reply: verification.VerifyResponse = await runtime.context.verification.Verify(
        verification.VerifyRequest(statements=draft.statements, passages=passages),
        timeout=runtime.context.budgets.verify,
    )
    reviewed = review.review(draft, passages, reply)
    runtime.context.measures.reviewed(reviewed)
    objections = review.objections(reviewed, state["attempts"])
    for objection in objections:
        runtime.stream_writer(Event(objection=objection))
    return {"objections": objections, "best": _better(reviewed, state, whole=not objections)}


async def score(state: State, runtime: Runtime[Agents]) -> State:
    best = state["best"]
    reply: verification.ScoreConfidenceResponse = (
        await runtime.context.verification.ScoreConfidence(
            verification.ScoreConfidenceRequest(
                statements=best.statements,
                citations_total=best.citations_total,
                citations_verified=best.citations_verified,
            ),
            timeout=runtime.context.budgets.score,
        )
    )
    return {"confidence": reply.confidence}


async def remember(state: State, runtime: Runtime[Agents]) -> State:
    """Composes the answer and stores it; what is sent of it from here on is never taken back.

    An answer that is stored as it is given cannot tell how long its storing took: this stage is
    among the events, not among the answer's timings.
    """
    asked, answer = state["asked"], compose(state)
    answer.id = new_answer_id(asked.conversation)
    answer.trace_id = telemetry.trace_id()
    answer.create_time.GetCurrentTime()
    answer.duration.CopyFrom(_duration(time.monotonic() - asked.arrived))
    for index, statement in enumerate(answer.statements):
        verified = Event.StatementVerified(index=index, statement=statement)
        runtime.stream_writer(Event(statement_verified=verified))
    if not answer.memory_degraded:
        try:
            answer.historical_quality = await runtime.context.memory.remember(
                asked.tenant, answer, asked.lease
            )
        except Unavailable:
            answer.memory_degraded = True
    runtime.context.measures.answered(answer)
    return {"answer": answer}


def _better(reviewed: review.Review, state: State, *, whole: bool) -> review.Review:
    """The new draft, unless more of an earlier one was verified.

    Where sources contradict each other, a draft that is silent about it is no better than the one
    that fell over it.
    """
    if "best" not in state:
        return reviewed
    known = review.conflicts(state["objections"])
    if not all(review.tells_of(reviewed, conflict) for conflict in known):
        return state["best"]
    # Where as much could be verified as before, the newer draft is the better one.
    earlier = len(review.released(state["best"]))
    return reviewed if whole or len(review.released(reviewed)) >= earlier else state["best"]


def _stage(name: str, node: Callable[[State, Runtime[Agents]], Awaitable[State]]) -> Node:
    """One span, one measurement and two events around a node."""

    async def stage(state: State, runtime: Runtime[Agents]) -> State:
        # These two prepare the next draft, the others are about the one that was made.
        attempt = max(1, state["attempts"] + (name in {"retrieve", "generate"}))
        runtime.stream_writer(Event(stage_started=Event.StageStarted(stage=name, attempt=attempt)))
        start = time.monotonic()
        failed = True
        try:
            with telemetry.span(f"stage.{name}", **{"verity.attempt": attempt}):
                learned = await node(state, runtime)
            failed = False
        finally:
            seconds = time.monotonic() - start
            runtime.context.measures.stage(name, seconds, failed=failed)
        timing = core.StageTiming(
            stage=name,
            attempt=attempt,
            duration=_duration(seconds),
            start_offset=_duration(start - state["asked"].arrived),
        )
        runtime.stream_writer(Event(stage_finished=timing))
        return {**learned, "timings": [timing]}

    return stage


def _on_loop(router: Callable[[State], str]) -> Callable[[State], Awaitable[str]]:
    """LangGraph would send a plain function to a thread; this one is over before it got there."""

    @wraps(router)
    async def route(state: State) -> str:
        return router(state)

    return route


def _duration(seconds: float) -> Duration:
    duration = Duration()
    duration.FromNanoseconds(round(seconds * 1e9))
    return duration
