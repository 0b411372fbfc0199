"""GenerationService over a drafter."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import grpc
from verity.v1 import generation_service_pb2 as pb
from verity.v1 import generation_service_pb2_grpc

from services.generation.drafter import Drafter
from services.generation.messages import (
    from_draft,
    from_event,
    from_resolution,
    to_history,
    to_task,
)

Context = grpc.aio.ServicerContext[Any, Any]


class GenerationServicer(generation_service_pb2_grpc.GenerationServiceServicer):
    """Translates, drafts, translates back."""

    def __init__(self, drafter: Drafter) -> None:
        self._drafter = drafter

    async def Generate(
        self,
        request: pb.GenerateRequest,
        context: Context,  # noqa: ARG002 - gRPC's shape
    ) -> pb.GenerateResponse:
        return from_draft(await self._drafter.draft(to_task(request)), self._drafter.generator)

    async def GenerateStream(
        self,
        request: pb.GenerateStreamRequest,
        context: Context,  # noqa: ARG002 - gRPC's shape
    ) -> AsyncIterator[pb.GenerateStreamResponse]:
        async with aclosing(self._drafter.stream(to_task(request.generate))) as events:
            async for event in events:
                yield from_event(event, self._drafter.generator)

    async def ResolveQuestion(
        self,
        request: pb.ResolveQuestionRequest,
        context: Context,  # noqa: ARG002 - gRPC's shape
    ) -> pb.ResolveQuestionResponse:
        resolved = await self._drafter.resolve(request.question, to_history(request.history))
        return from_resolution(resolved)
