"""GroundingService: translates between the wire, the asker and the memory."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import grpc
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1.grounding_service_pb2_grpc import GroundingServiceServicer

from services.chassis import identity
from services.chassis.errors import InvalidInput, NotFound, Violation
from services.orchestrator.asking import Asker
from services.orchestrator.grounding_log import failing_documents
from services.orchestrator.memory import Held, Memory, conversation_digest, digest, kept_as, mean
from services.orchestrator.quotas import Quotas
from services.orchestrator.readership import UNKNOWN_ANSWER, admits

# Seconds a call may take whose caller gave no deadline.
DEADLINES = {
    "Ask": 60.0,
    "AskStream": 60.0,
    "GetAnswer": 5.0,
    "ListAnswers": 5.0,
    "ListConversations": 5.0,
    "GetGroundingQuality": 5.0,
}

_DEFAULT_PAGE_SIZE = 20
_DEFAULT_CONVERSATIONS = 50
_MOST_DIGITS = 18  # Of microseconds; more than a moment ever has.

Context = grpc.aio.ServicerContext[Any, Any]


class GroundingServicer(GroundingServiceServicer):
    """Serves each caller what is its own tenant's and subject's, and made of what it may read."""

    def __init__(self, asker: Asker, memory: Memory, quotas: Quotas | None = None) -> None:
        self._asker = asker
        self._memory = memory
        self._quotas = quotas or Quotas()

    async def Ask(self, request: grounding.AskRequest, _context: Context) -> grounding.AskResponse:
        who = identity.caller()
        with self._quotas.asking(who.tenant):
            answer = await self._asker.ask(who.tenant, request, who.subject, who.groups)
        return grounding.AskResponse(answer=answer)

    async def AskStream(
        self, request: grounding.AskStreamRequest, _context: Context
    ) -> AsyncGenerator[grounding.AskStreamResponse, None]:
        who = identity.caller()
        with self._quotas.asking(who.tenant):
            events = self._asker.stream(who.tenant, request.ask, who.subject, who.groups)
            async with aclosing(events):
                async for event in events:
                    yield event

    async def GetAnswer(
        self, request: grounding.GetAnswerRequest, _context: Context
    ) -> grounding.GetAnswerResponse:
        who = identity.caller()
        answer = await self._memory.answer(who.tenant, request.answer_id)
        if not admits(answer.readers, who.groups):
            raise NotFound(UNKNOWN_ANSWER)
        return grounding.GetAnswerResponse(answer=answer)

    async def ListAnswers(
        self, request: grounding.ListAnswersRequest, _context: Context
    ) -> grounding.ListAnswersResponse:
        who = identity.caller()
        conversation = kept_as(who.subject, request.conversation_id)
        answers, more = await self._memory.answers(
            who.tenant,
            conversation,
            limit=request.page_size or _DEFAULT_PAGE_SIZE,
            before=_before(request, conversation),
        )
        return grounding.ListAnswersResponse(
            answers=[one for one in answers if admits(one.readers, who.groups)],
            next_page_token=answers[-1].id if more else "",
        )

    async def ListConversations(
        self, request: grounding.ListConversationsRequest, _context: Context
    ) -> grounding.ListConversationsResponse:
        who = identity.caller()
        held, more = await self._memory.conversations(
            who.tenant,
            who.subject,
            limit=request.page_size or _DEFAULT_CONVERSATIONS,
            before=_moment(request.page_token),
        )
        return grounding.ListConversationsResponse(
            conversations=[_conversation(one) for one in held],
            next_page_token=str(held[-1].last_micros) if more else "",
        )

    async def GetGroundingQuality(
        self, request: grounding.GetGroundingQualityRequest, _context: Context
    ) -> grounding.GetGroundingQualityResponse:
        who = identity.caller()
        conversation = kept_as(who.subject, request.conversation_id)
        recent = await self._memory.quality(who.tenant, conversation)
        log = await self._memory.log(who.tenant, conversation)
        return grounding.GetGroundingQualityResponse(
            historical_quality=mean(recent),
            answer_count=len(recent),
            recent=recent,
            failing_documents=failing_documents(log.conversation, who.groups),
            strategy=self._asker.strategy(log),
        )


def _conversation(held: Held) -> grounding.Conversation:
    conversation = grounding.Conversation(id=held.id, first_question=held.first_question)
    conversation.last_answer_time.FromMicroseconds(held.last_micros)
    return conversation


def _moment(token: str) -> int:
    """A page's token is the moment of its last conversation."""
    if not token:
        return 0
    if not (token.isascii() and token.isdecimal() and len(token) <= _MOST_DIGITS and int(token)):
        description = "is not a next_page_token of this list"
        raise InvalidInput(
            f"page_token {description}", violations=(Violation("page_token", description),)
        )
    return int(token)


def _before(request: grounding.ListAnswersRequest, conversation: str) -> str:
    """A page's token is the id of its last answer."""
    token = request.page_token
    if token and conversation_digest(token) != digest(conversation):
        description = "is not a next_page_token of this conversation"
        raise InvalidInput(
            f"page_token {description}", violations=(Violation("page_token", description),)
        )
    return token
