"""Takes a question through the graph, once for each idempotency key."""

import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

from langgraph.graph.state import CompiledStateGraph
from verity.v1 import grounding_service_pb2 as grounding

from services.chassis import deadline
from services.chassis.errors import Unavailable
from services.orchestrator import routes
from services.orchestrator.graph import Agents, Event
from services.orchestrator.memory import Lease, digest
from services.orchestrator.state import Asked, State

# A lease outlives the call that took it: nobody takes over before that has ended.
_LEASE_MARGIN_SECONDS = 5.0
# Outside an RPC there is no deadline.
_LEASE_SECONDS = 60.0


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

    async def ask(self, tenant: str, request: grounding.AskRequest) -> grounding.Answer:
        """The answer alone."""
        answer = grounding.Answer()
        async with aclosing(self.stream(tenant, request)) as events:
            async for event in events:
                answer = event.answer
        return answer

    async def stream(
        self, tenant: str, request: grounding.AskRequest
    ) -> AsyncGenerator[Event, None]:
        """Each step as it happens; the last event is the answer.

        While the memory is down an idempotency key cannot be kept: the question is answered all the
        same, and the answer is flagged as `memory_degraded`.
        """
        arrived = time.monotonic()
        conversation = request.conversation_id or _new_conversation(tenant, request.idempotency_key)
        lease = _lease(request) if request.idempotency_key else None
        degraded = answered = False
        try:
            if lease:
                try:
                    first = await self._agents.memory.claim(
                        tenant, conversation, lease, _lease_seconds()
                    )
                except Unavailable:
                    degraded = True
                else:
                    if first is not None:
                        answered = True
                        yield Event(answer=first)
                        return
            asked = Asked(
                tenant=tenant,
                conversation=conversation,
                question=request.question,
                filter=request.filter,
                max_attempts=request.max_attempts or self._limits.max_attempts,
                lease=lease,
                arrived=arrived,
            )
            async with aclosing(self._run(asked, degraded=degraded)) as events:
                async for event in events:
                    answered = event.HasField("answer") and not event.answer.memory_degraded
                    yield event
        finally:
            if lease and not answered:
                await self._release(tenant, conversation, lease)

    async def _run(self, asked: Asked, *, degraded: bool) -> AsyncGenerator[Event, None]:
        state: State = {
            "asked": asked,
            "degraded": degraded,
            "history": [],
            "limit": self._limits.passages,
            "searches": 0,
            "passages": [],
            "attempts": 0,
            "objections": [],
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
