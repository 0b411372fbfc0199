"""The path of one question: recall, retrieve, generate, verify, score, remember, and the way back.

What a stage does is in `stages.py` and `attempt.py`; where it leads is decided in `routes.py`.
"""

import time
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Protocol

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding

from services.chassis import telemetry
from services.orchestrator import attempt, routes, stages
from services.orchestrator.agents import Agents, Budgets, duration
from services.orchestrator.state import State

__all__ = ["Agents", "Budgets", "Event", "build"]

Event = grounding.AskStreamResponse


class Node(Protocol):
    """LangGraph passes the runtime by this name."""

    def __call__(self, state: State, *, runtime: Runtime[Agents]) -> Awaitable[State]: ...


Graph = StateGraph[State, Agents, State, State]


def build() -> Graph:
    """The graph, to be compiled."""
    graph: Graph = StateGraph(State, context_schema=Agents)
    for node in (
        stages.recall,
        stages.resolve,
        stages.retrieve,
        attempt.generate,
        attempt.verify,
        attempt.outdated,
        stages.score,
        stages.remember,
    ):
        graph.add_node(node.__name__, _stage(node.__name__, node))
    graph.add_edge(START, "recall")
    graph.add_conditional_edges("recall", _on_loop(routes.after_recall))
    graph.add_edge("resolve", "retrieve")
    graph.add_conditional_edges("retrieve", _on_loop(routes.after_retrieve))
    graph.add_conditional_edges("generate", _on_loop(routes.after_generate))
    graph.add_conditional_edges("verify", _on_loop(routes.after_verify))
    graph.add_edge("outdated", "remember")
    graph.add_edge("score", "remember")
    graph.add_edge("remember", END)
    return graph


def _stage(name: str, node: Callable[[State, Runtime[Agents]], Awaitable[State]]) -> Node:
    """One span, one measurement and two events around a node."""

    async def stage(state: State, runtime: Runtime[Agents]) -> State:
        # These two prepare the next draft, the others are about the one that was made.
        number = max(1, state["attempts"] + (name in {"retrieve", "generate"}))
        runtime.stream_writer(Event(stage_started=Event.StageStarted(stage=name, attempt=number)))
        start = time.monotonic()
        failed = True
        try:
            with telemetry.span(f"stage.{name}", **{"verity.attempt": number}):
                learned = await node(state, runtime)
            failed = False
        finally:
            seconds = time.monotonic() - start
            runtime.context.measures.stage(name, seconds, failed=failed)
        timing = core.StageTiming(
            stage=name,
            attempt=number,
            duration=duration(seconds),
            start_offset=duration(start - state["asked"].arrived),
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
