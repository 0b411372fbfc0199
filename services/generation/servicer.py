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
    """Translates, drafts, translates back.

    Args:
        drafter: That of the backend.
        extractive: Drafts where a request asks for it; None: the drafter does.
    """

    def __init__(self, drafter: Drafter, extractive: Drafter | None = None) -> None:
        self._drafter = drafter
        self._extractive = extractive or drafter

    async def Generate(
        self,
        request: pb.GenerateRequest,
        context: Context,  # noqa: ARG002 - gRPC's shape
    ) -> pb.GenerateResponse:
        drafter = self._of(request)
        return from_draft(await drafter.draft(to_task(request)), drafter.generator)

    async def GenerateStream(
        self,
        request: pb.GenerateStreamRequest,
        context: Context,  # noqa: ARG002 - gRPC's shape
    ) -> AsyncIterator[pb.GenerateStreamResponse]:
        drafter = self._of(request.generate)
        async with aclosing(drafter.stream(to_task(request.generate))) as events:
            async for event in events:
                yield from_event(event, drafter.generator)

    async def ResolveQuestion(
        self,
        request: pb.ResolveQuestionRequest,
        context: Context,  # noqa: ARG002 - gRPC's shape
    ) -> pb.ResolveQuestionResponse:
        resolved = await self._drafter.resolve(request.question, to_history(request.history))
        return from_resolution(resolved)

    def _of(self, request: pb.GenerateRequest) -> Drafter:
        return self._extractive if request.extractive else self._drafter
