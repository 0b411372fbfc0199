"""Answers as long as one wants, put where a running system keeps those that it gave."""

import asyncio
import uuid
from typing import Any

from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding

from services.orchestrator.memory import new_answer_id
from services.orchestrator.redis_memory import Keeping, open_memory


def answer(statements: int, citations: int, document: dict[str, Any]) -> grounding.Answer:
    """Of a conversation of its own; each statement cites that document so many times."""
    conversation = f"long-{uuid.uuid4().hex}"
    made = grounding.Answer(
        id=new_answer_id(conversation),
        conversation_id=conversation,
        question="What does the policy say, all of it?",
        text="All of it.",
        status=grounding.Answer.STATUS_ANSWERED,
        confidence=core.Confidence(grounding_confidence=0.9, citation_accuracy=1.0),
        attempts=1,
        trace_id="0" * 32,
    )
    for at in range(statements):
        text = (
            f"Statement {at} says what section {at // 10}.{at % 10} says, and says it at length. "
        )
        statement = made.statements.add(text=text * 2, verdict=core.VERDICT_SUPPORTED)
        for n in range(citations):
            statement.citations.add(
                quote=f"what section {n} says",
                passage_id=f"p-{at}-{n}",
                document_id=document["id"],
                document_sha256=document["sha256"],
                source_name=document["source_name"],
                page_number=n + 1,
                authority=core.AUTHORITY_HIGH,
            )
    return made


async def remember(redis: str, given: grounding.Answer) -> None:
    """Puts an answer into the memory at an address, as the orchestrator does."""
    keeping = Keeping(ttl_seconds=3600, turns=4)
    opened = open_memory(f"redis://{redis}/0", keeping, timeout_seconds=5, pause_seconds=1)
    async with asyncio.timeout(60), opened as memory:
        await memory.remember("default", given, None)
