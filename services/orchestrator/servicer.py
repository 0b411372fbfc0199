"""GroundingService: translates between the wire, the asker and the memory."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import grpc
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1.grounding_service_pb2_grpc import GroundingServiceServicer

from services.chassis import identity
from services.chassis.errors import InvalidInput, Violation
from services.orchestrator.asking import Asker
from services.orchestrator.grounding_log import failing_documents
from services.orchestrator.memory import Memory, conversation_digest, digest, mean

# Seconds a call may take whose caller gave no deadline.
DEADLINES = {
    "Ask": 60.0,
    "AskStream": 60.0,
    "GetAnswer": 5.0,
    "ListAnswers": 5.0,
    "GetGroundingQuality": 5.0,
}

_DEFAULT_PAGE_SIZE = 20

Context = grpc.aio.ServicerContext[Any, Any]


class GroundingServicer(GroundingServiceServicer):
    """Serves each caller's tenant."""

    def __init__(self, asker: Asker, memory: Memory) -> None:
        self._asker = asker
        self._memory = memory

    async def Ask(self, request: grounding.AskRequest, _context: Context) -> grounding.AskResponse:
        return grounding.AskResponse(
            answer=await self._asker.ask(identity.caller().tenant, request)
        )

    async def AskStream(
        self, request: grounding.AskStreamRequest, _context: Context
    ) -> AsyncGenerator[grounding.AskStreamResponse, None]:
        async with aclosing(self._asker.stream(identity.caller().tenant, request.ask)) as events:
            async for event in events:
                yield event

    async def GetAnswer(
        self, request: grounding.GetAnswerRequest, _context: Context
    ) -> grounding.GetAnswerResponse:
        answer = await self._memory.answer(identity.caller().tenant, request.answer_id)
        return grounding.GetAnswerResponse(answer=answer)

    async def ListAnswers(
        self, request: grounding.ListAnswersRequest, _context: Context
    ) -> grounding.ListAnswersResponse:
        answers, more = await self._memory.answers(
            identity.caller().tenant,
            request.conversation_id,
            limit=request.page_size or _DEFAULT_PAGE_SIZE,
            before=_before(request),
        )
        token = answers[-1].id if more else ""
        return grounding.ListAnswersResponse(answers=answers, next_page_token=token)

    async def GetGroundingQuality(
        self, request: grounding.GetGroundingQualityRequest, _context: Context
    ) -> grounding.GetGroundingQualityResponse:
        recent = await self._memory.quality(identity.caller().tenant, request.conversation_id)
        log = await self._memory.log(identity.caller().tenant, request.conversation_id)
        return grounding.GetGroundingQualityResponse(
            historical_quality=mean(recent),
            answer_count=len(recent),
            recent=recent,
            failing_documents=failing_documents(log.conversation),
            strategy=self._asker.strategy(log),
        )


def _before(request: grounding.ListAnswersRequest) -> str:
    """A page's token is the id of its last answer."""
    token = request.page_token
    if token and conversation_digest(token) != digest(request.conversation_id):
        description = "is not a next_page_token of this conversation"
        raise InvalidInput(
            f"page_token {description}", violations=(Violation("page_token", description),)
        )
    return token
