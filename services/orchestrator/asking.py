"""Takes a question through the graph, once for each idempotency key."""

import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

from langgraph.graph.state import CompiledStateGraph
from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import retrieval_service_pb2 as retrieval

from services.chassis import deadline
from services.chassis.errors import InvalidInput, NotFound, Unavailable, Violation
from services.orchestrator import readership, routes, strategy
from services.orchestrator.graph import Agents, Event
from services.orchestrator.grounding_log import Log
from services.orchestrator.memory import Lease, digest, kept_as
from services.orchestrator.state import Asked, State

# A lease outlives the call that took it: nobody takes over before that has ended.
_LEASE_MARGIN_SECONDS = 5.0
# Outside an RPC there is no deadline.
_LEASE_SECONDS = 60.0
# To score, store and send what was verified when the caller's time is nearly up.
_RESERVE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What a question may take when it does not say so itself."""

    max_attempts: int
    # Passages the first search asks for.
    passages: int


class Asker:
    """Answers questions; safe to share between calls."""

    def __init__(
        self,
        graph: CompiledStateGraph[State, Agents, State, State],
        agents: Agents,
        limits: Limits,
    ) -> None:
        self._graph = graph
        self._agents = agents
        self._limits = limits

    def strategy(self, log: Log) -> grounding.Strategy:
        """What the next question of a conversation with this log is answered with."""
        return strategy.choose(log, passages=self._limits.passages)

    async def ask(
        self,
        tenant: str,
        request: grounding.AskRequest,
        subject: str = "",
        groups: frozenset[str] | None = None,
    ) -> grounding.Answer:
        """The answer alone."""
        answer = grounding.Answer()
        async with aclosing(self.stream(tenant, request, subject, groups)) as events:
            async for event in events:
                answer = event.answer
        return answer

    async def stream(
        self,
        tenant: str,
        request: grounding.AskRequest,
        subject: str = "",
        groups: frozenset[str] | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Each step as it happens; the last event is the answer.

        While the memory is down an idempotency key cannot be kept: the question is answered all the
        same, and the answer is flagged as `memory_degraded`.
        """
        arrived = time.monotonic()
        _check(request)
        conversation = request.conversation_id or _new_conversation(tenant, request.idempotency_key)
        kept = kept_as(subject, conversation)
        lease = _lease(request) if request.idempotency_key else None
        degraded = answered = False
        try:
            if lease:
                try:
                    first = await self._agents.memory.claim(tenant, kept, lease, _lease_seconds())
                except Unavailable:
                    degraded = True
                else:
                    if first is not None:
                        answered = True
                        if not readership.admits(first.readers, groups):
                            raise NotFound(readership.UNKNOWN_ANSWER)
                        yield Event(answer=first)
                        return
            asked = Asked(
                tenant=tenant,
                conversation=conversation,
                question=request.question,
                filters=_filters(request),
                max_attempts=request.max_attempts or self._limits.max_attempts,
                lease=lease,
                arrived=arrived,
                ends=arrived + _seconds(self._agents.budgets.answer),
                as_of=request.as_of,
                subject=subject,
                groups=groups,
            )
            async with aclosing(self._run(asked, degraded=degraded)) as events:
                async for event in events:
                    answered = event.HasField("answer") and not event.answer.memory_degraded
                    yield event
        finally:
            if lease and not answered:
                await self._release(tenant, kept, lease)

    async def _run(self, asked: Asked, *, degraded: bool) -> AsyncGenerator[Event, None]:
        state: State = {
            "asked": asked,
            "degraded": degraded,
            "history": [],
            "readership": frozenset(),
            "strategy": strategy.usual(self._limits.passages),
            "standalone": "",
            "limit": self._limits.passages,
            "searches": 0,
            "passages": [],
            "corpora": {},
            "attempts": 0,
            "attempt_log": [],
            "compliance": core.COMPLIANCE_UNSPECIFIED,
            "said": [],
            "failed": [],
            "objections": [],
            "verifier": "",
            "extractive": False,
            "over": False,
            "outdated": [],
            "timings": [],
        }
        run = self._graph.astream(
            state,
            {"recursion_limit": routes.recursion_limit(asked.max_attempts)},
            context=self._agents,
            stream_mode=["custom", "updates"],
        )
        # LangGraph types it as an iterator of it knows not what; it is a generator of pairs.
        async with aclosing(cast("AsyncGenerator[tuple[str, Any], None]", run)) as chunks:
            async for mode, chunk in chunks:
                if mode == "custom":
                    yield chunk
                elif "remember" in chunk:
                    yield Event(answer=chunk["remember"]["answer"])

    async def _release(self, tenant: str, conversation: str, lease: Lease) -> None:
        try:
            await self._agents.memory.release(tenant, conversation, lease)
        except Unavailable:
            return  # The lease ends by itself.


def _check(request: grounding.AskRequest) -> None:
    """What no rule beside a single field can say."""
    facts, rules = request.HasField("facts"), request.HasField("rules")
    if facts != rules:
        missing = "rules" if facts else "facts"
        description = "facts and rules are given together or not at all"
        raise InvalidInput(description, violations=(Violation(missing, description),))
    if facts and request.HasField("filter"):
        description = "is not given beside facts and rules"
        raise InvalidInput(f"filter {description}", violations=(Violation("filter", description),))


def _filters(request: grounding.AskRequest) -> list[retrieval.DocumentFilter]:
    return [request.facts, request.rules] if request.HasField("facts") else [request.filter]


def _seconds(budget: float) -> float:
    """What there is for an answer, less what is needed to say it before the caller's deadline."""
    left = deadline.remaining()
    return budget if left is None else min(budget, left - min(_RESERVE_SECONDS, left / 10))


def _new_conversation(tenant: str, idempotency_key: str) -> str:
    """A name of the server's. A call that is repeated must come to the same conversation."""
    return digest(tenant, idempotency_key) if idempotency_key else uuid.uuid4().hex


def _lease_seconds() -> float:
    left = deadline.remaining()
    return (_LEASE_SECONDS if left is None else left) + _LEASE_MARGIN_SECONDS


def _lease(request: grounding.AskRequest) -> Lease:
    words = grounding.AskRequest()
    words.CopyFrom(request)
    words.ClearField("idempotency_key")
    return Lease(
        key=request.idempotency_key,
        fingerprint=digest(words.SerializeToString(deterministic=True)),
        token=uuid.uuid4().hex,
    )
