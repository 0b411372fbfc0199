"""The retrieval service on a port, which asks who calls."""

from contextlib import AsyncExitStack, asynccontextmanager

from issuer import Issuer
from retrieval_parts import put_together, servicer
from retrieval_stores import quick_directory
from verity.v1.retrieval_service_pb2_grpc import (
    RetrievalServiceStub,
    add_RetrievalServiceServicer_to_server,
)

from services.chassis.client import channel
from services.chassis.server import Service, serving
from services.retrieval.isolation import Worker
from services.retrieval.servicer import DEADLINES

NAME = "verity.v1.RetrievalService"


@asynccontextmanager
async def called(store, *, callers):
    """A stub on a channel of its own for each caller, and who issues their tokens."""
    async with AsyncExitStack() as stack:
        directory = stack.enter_context(quick_directory())
        index = await stack.enter_async_context(store(directory))
        parts = await stack.enter_async_context(put_together(index, directory))
        worker = await stack.enter_async_context(Worker().running())
        issuer = Issuer(directory)
        service = Service(
            NAME, add_RetrievalServiceServicer_to_server, servicer(parts, worker), DEADLINES
        )
        running = await stack.enter_async_context(serving(service, issuer.settings()))
        await running.warming
        opened = [channel(running.address, service=NAME, idempotent=[]) for _ in range(callers)]
        channels = [await stack.enter_async_context(one) for one in opened]
        yield [RetrievalServiceStub(one) for one in channels], issuer
