"""The orchestrator over real channels to the real agents, all in this process."""

from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import grpc
from google.protobuf import descriptor_pool
from verity.v1 import generation_service_pb2_grpc as generation_rpc
from verity.v1 import grounding_service_pb2_grpc as grounding_rpc
from verity.v1 import retrieval_service_pb2_grpc as retrieval_rpc
from verity.v1 import verification_service_pb2_grpc as verification_rpc

from services.chassis import telemetry
from services.chassis.client import channel
from services.chassis.server import Service, serving
from services.chassis.settings import Settings
from services.generation import __main__ as generation_main
from services.generation.measured import Measured
from services.generation.servicer import GenerationServicer
from services.orchestrator.asking import Asker, Limits
from services.orchestrator.graph import Agents, Budgets, build
from services.orchestrator.measures import Measures
from services.orchestrator.memory import Memory
from services.orchestrator.servicer import GroundingServicer
from services.verification.entailment import MIN_COVERAGE
from services.verification.scoring import Weights
from services.verification.servicer import VerificationServicer
from services.verification.verifier import Verifier

SECONDS = 120.0
Context = grpc.aio.ServicerContext[Any, Any]


@asynccontextmanager
async def system(
    retrieval: retrieval_rpc.RetrievalServiceServicer,
    drafting: generation_main.Settings,
    memory: Memory,
    *,
    passages: int = 8,
    budgets: Budgets | None = None,
) -> AsyncIterator[grounding_rpc.GroundingServiceStub]:
    """A client of an orchestrator, with what that needs.

    Args:
        retrieval: Finds the passages.
        drafting: Which model drafts, and how it is asked.
        memory: Where answers are kept.
        passages: How many the first search asks for.
        budgets: What each stage may take; None: as much as it wants.
    """
    async with AsyncExitStack() as stack:
        executor = stack.enter_context(ThreadPoolExecutor(1))
        drafter = await stack.enter_async_context(generation_main.open_drafter(drafting))
        extractive = await stack.enter_async_context(generation_main.open_extractive(drafting))

        async def opened(name: str, servicer: Any, rpc: Any) -> Any:
            service = f"verity.v1.{name}Service"
            add = getattr(rpc, f"add_{name}ServiceServicer_to_server")
            described = descriptor_pool.Default().FindServiceByName(service)
            deadlines = dict.fromkeys(described.methods_by_name, SECONDS)
            running = await stack.enter_async_context(
                serving(Service(service, add, servicer, deadlines), Settings(grace_seconds=0))
            )
            to = await stack.enter_async_context(
                channel(running.address, service=service, idempotent=[])
            )
            return getattr(rpc, f"{name}ServiceStub")(to)

        checks = Verifier(executor, MIN_COVERAGE, drafts_are_close=True)
        drafts = GenerationServicer(Measured(drafter), Measured(extractive))
        agents = Agents(
            retrieval=await opened("Retrieval", retrieval, retrieval_rpc),
            generation=await opened("Generation", drafts, generation_rpc),
            verification=await opened(
                "Verification", VerificationServicer(checks, Weights()), verification_rpc
            ),
            memory=memory,
            budgets=budgets or Budgets(*[SECONDS] * 4),
            measures=Measures(telemetry.meter()),
        )
        asker = Asker(build().compile(), agents, Limits(max_attempts=3, passages=passages))
        servicer = GroundingServicer(asker, memory)
        yield await opened("Grounding", servicer, grounding_rpc)
