"""GenerationService over a drafter."""

from typing import Any

import grpc
from verity.v1 import generation_service_pb2, generation_service_pb2_grpc

from services.generation.drafter import Drafter
from services.generation.messages import from_draft, to_task

Context = grpc.aio.ServicerContext[Any, Any]


class GenerationServicer(generation_service_pb2_grpc.GenerationServiceServicer):
    """Translates, drafts, translates back."""

    def __init__(self, drafter: Drafter) -> None:
        self._drafter = drafter

    async def Generate(
        self,
        request: generation_service_pb2.GenerateRequest,
        context: Context,  # noqa: ARG002 - gRPC's shape
    ) -> generation_service_pb2.GenerateResponse:
        draft = await self._drafter.draft(to_task(request))
        return from_draft(draft, self._drafter.generator)
