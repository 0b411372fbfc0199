"""Starts the orchestrator: reads its settings, opens its memory and its channels, serves."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Literal

import grpc
import langsmith
from pydantic import Field
from verity.v1.generation_service_pb2_grpc import GenerationServiceStub
from verity.v1.grounding_service_pb2_grpc import add_GroundingServiceServicer_to_server
from verity.v1.retrieval_service_pb2_grpc import RetrievalServiceStub
from verity.v1.verification_service_pb2_grpc import VerificationServiceStub

from services.chassis import settings, telemetry
from services.chassis.client import channel, ready
from services.chassis.dependencies import Dependency
from services.chassis.errors import Unavailable
from services.chassis.server import Service, run, serve
from services.orchestrator.asking import Asker, Limits
from services.orchestrator.graph import Agents, Budgets, build
from services.orchestrator.measures import Measures
from services.orchestrator.quotas import Quotas
from services.orchestrator.redis_memory import Keeping, open_memory
from services.orchestrator.redis_store import RedisStore
from services.orchestrator.servicer import DEADLINES, GroundingServicer


class Settings(settings.Settings):
    """The orchestrator's settings."""

    retrieval_target: str = "127.0.0.1:50052"
    generation_target: str = "127.0.0.1:50053"
    verification_target: str = "127.0.0.1:50054"

    redis_url: str = "redis://127.0.0.1:6379/0"
    # The most one use of the memory may take, and the pause after it failed.
    redis_timeout_seconds: float = Field(default=0.5, gt=0)
    redis_pause_seconds: float = Field(default=2.0, gt=0)
    # Thirty days, counted from the answer; a conversation lives as long as its last answer.
    answer_ttl_seconds: int = Field(default=2_592_000, ge=1)
    # Answers of a conversation that are listed, and that make its historical quality.
    answer_log_length: int = Field(default=100, ge=1, le=100)
    # Turns that a new question is read with.
    history_turns: int = Field(default=5, ge=1, le=20)

    # Drafts for one question, when it does not say so itself.
    max_attempts: int = Field(default=3, ge=1, le=10)
    # Passages the first search asks for; each wider one asks for twice as many, up to 50.
    retrieve_limit: int = Field(default=8, ge=1, le=50)
    # The most seconds a call of each stage may take; less where the caller's deadline is nearer.
    retrieve_seconds: float = Field(default=10.0, gt=0)
    generate_seconds: float = Field(default=45.0, gt=0)
    verify_seconds: float = Field(default=20.0, gt=0)
    score_seconds: float = Field(default=5.0, gt=0)
    resolve_seconds: float = Field(default=10.0, gt=0)
    # The most seconds an answer may take; then what was verified is the answer.
    answer_seconds: float = Field(default=120.0, gt=0)
    # Questions of one tenant: at once, and within a minute; 0: any number. Of each process.
    tenant_max_asks: int = Field(default=0, ge=0)
    tenant_asks_per_minute: int = Field(default=0, ge=0)
    # What drafts when the model is down or over its budget: nothing, or the extractive backend.
    fallback: Literal["none", "extractive"] = "none"


_MOST_SECONDS_APART = 60.0


def needs(store: RedisStore, agents: Mapping[str, grpc.aio.Channel]) -> list[Dependency]:
    """What the orchestrator needs, and what to do about each."""

    async def clock() -> str:
        try:
            offset = await store.clock_offset()
        except Unavailable:
            return ""  # That is said of the memory.
        if abs(offset) <= _MOST_SECONDS_APART:
            return ""
        return f"it differs from that of Redis by {abs(offset):.0f} s"

    def agent(name: str) -> Dependency:
        async def missing() -> str:
            return "" if await ready(agents[name]) else "it does not serve, or cannot be reached"

        return Dependency(name, missing, f"look at its log, and at VERITY_{name.upper()}_TARGET")

    return [
        Dependency(
            "memory",
            store.missing,
            "start Redis, see VERITY_REDIS_URL; CONFIG SET maxmemory-policy noeviction",
        ),
        Dependency("clock", clock, "synchronize the clocks of this machine and of Redis (NTP)"),
        *map(agent, agents),
    ]


async def main() -> None:
    settings = Settings()
    # Whatever LANGSMITH_* and LANGCHAIN_* say: no word of a question or an answer is sent anywhere.
    langsmith.configure(enabled=False)
    async with AsyncExitStack() as stack:
        stack.enter_context(telemetry.configured("orchestrator", settings))
        memory = await stack.enter_async_context(
            open_memory(
                settings.redis_url,
                Keeping(
                    settings.answer_ttl_seconds, settings.history_turns, settings.answer_log_length
                ),
                timeout_seconds=settings.redis_timeout_seconds,
                pause_seconds=settings.redis_pause_seconds,
            )
        )
        retrieval = await stack.enter_async_context(
            channel(
                settings.retrieval_target,
                service="verity.v1.RetrievalService",
                idempotent=["Retrieve"],
                tls=settings.tls,
            )
        )
        generation = await stack.enter_async_context(
            channel(
                settings.generation_target,
                service="verity.v1.GenerationService",
                idempotent=[],  # A model that is asked again costs again, and may say otherwise.
                tls=settings.tls,
            )
        )
        verification = await stack.enter_async_context(
            channel(
                settings.verification_target,
                service="verity.v1.VerificationService",
                idempotent=["Verify", "ScoreConfidence"],
                tls=settings.tls,
            )
        )
        agents = Agents(
            retrieval=RetrievalServiceStub(retrieval),
            generation=GenerationServiceStub(generation),
            verification=VerificationServiceStub(verification),
            memory=memory,
            budgets=Budgets(
                retrieve=settings.retrieve_seconds,
                generate=settings.generate_seconds,
                verify=settings.verify_seconds,
                score=settings.score_seconds,
                resolve=settings.resolve_seconds,
                answer=settings.answer_seconds,
            ),
            measures=Measures(telemetry.meter()),
            fallback=settings.fallback == "extractive",
        )
        limits = Limits(settings.max_attempts, settings.retrieve_limit)
        quotas = Quotas(settings.tenant_max_asks, settings.tenant_asks_per_minute)
        asker = Asker(build().compile(), agents, limits)
        await serve(
            Service(
                name="verity.v1.GroundingService",
                add=add_GroundingServiceServicer_to_server,
                servicer=GroundingServicer(asker, memory, quotas),
                deadlines=DEADLINES,
                dependencies=needs(
                    memory.store,
                    {
                        "retrieval": retrieval,
                        "generation": generation,
                        "verification": verification,
                    },
                ),
            ),
            settings,
            warm_up=memory.store.check,
        )


if __name__ == "__main__":
    run(main)
