"""Hears a draft as it is made, and has each statement checked while others are being drafted."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import grpc
from verity.v1 import core_pb2 as core
from verity.v1 import generation_service_pb2 as generation
from verity.v1.generation_service_pb2_grpc import GenerationServiceStub

from services.chassis import status, validation
from services.chassis.errors import Unavailable
from services.orchestrator.release import MOST_STATEMENTS

Code = grpc.StatusCode
Check = Callable[[Sequence[core.DraftStatement]], Awaitable[None]]

# With these a service, or a model behind it, says that it cannot answer now.
_GONE = frozenset({Code.UNAVAILABLE, Code.RESOURCE_EXHAUSTED, Code.DEADLINE_EXCEEDED})
_USELESS = "The drafter answered with nothing usable; try again."


@dataclass(slots=True)
class Heard:
    """What a drafter said."""

    # The whole draft but for its statements; empty where it did not come to it.
    draft: generation.GenerateResponse = field(default_factory=generation.GenerateResponse)
    statements: list[core.DraftStatement] = field(default_factory=list)
    # It is down or took too long; the statements before that were checked all the same.
    error: Exception | None = None


async def hear(
    generator: GenerationServiceStub,
    request: generation.GenerateRequest,
    seconds: float,
    check: Check,
) -> Heard:
    """One draft.

    Args:
        generator: Who drafts.
        request: From what.
        seconds: The most it may take.
        check: Called with the next statements, in order, while others are still being drafted.
    """
    heard = Heard()
    waiting: asyncio.Queue[core.DraftStatement | None] = asyncio.Queue()
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_check_each(waiting, check))
            try:
                await _listen(generator, request, seconds, heard, waiting)
            except Exception as error:
                if not is_gone(error):
                    raise
                heard.error = error
            waiting.put_nowait(None)
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return heard


async def _listen(
    generator: GenerationServiceStub,
    request: generation.GenerateRequest,
    seconds: float,
    heard: Heard,
    waiting: asyncio.Queue[core.DraftStatement | None],
) -> None:
    def take(statement: core.DraftStatement) -> None:
        if len(heard.statements) == MOST_STATEMENTS or validation.violations(statement):
            raise Unavailable(_USELESS)
        heard.statements.append(statement)
        waiting.put_nowait(statement)

    draft = None
    asked = generation.GenerateStreamRequest(generate=request)
    call = generator.GenerateStream(asked, timeout=seconds)
    try:
        async for reply in call:
            if reply.HasField("statement"):
                take(reply.statement)
            else:
                draft = reply.draft
    finally:
        call.cancel()
    if draft is None:
        raise Unavailable(_USELESS)
    heard.draft = draft
    known = len(heard.statements)
    # A draft that is not what was streamed counts as far as it was: what was said stays said.
    if not draft.insufficient and list(draft.statements[:known]) == heard.statements:
        for statement in draft.statements[known:]:
            take(statement)
    del draft.statements[:]


async def _check_each(waiting: asyncio.Queue[core.DraftStatement | None], check: Check) -> None:
    """All that has come by now at once: a fast drafter costs no more calls than it must."""
    last = False
    while not last:
        come = [await waiting.get()]
        while not waiting.empty():
            come.append(waiting.get_nowait())
        last = come[-1] is None
        if statements := [statement for statement in come if statement is not None]:
            await check(statements)


def is_gone(error: Exception) -> bool:
    """Whether whoever was asked is down, full or too slow, as against wrong."""
    said = status.of(error)
    return said is not None and status.code_of(said) in _GONE
