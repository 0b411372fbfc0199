"""A stream of replies as server-sent events, each with its type; the last may be a problem."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import aclosing
from typing import Any

import grpc
import structlog
from google.protobuf.message import Message
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.types import Receive, Scope, Send

from services.gateway import problem, wire
from services.gateway.incoming import Incoming
from services.gateway.problem import Problem

# The library logs what it sends, which nobody may.
logging.getLogger("sse_starlette.sse").setLevel(logging.INFO)

Replies = AsyncIterator[Message]
# More events after a reply, each with its name and data.
After = Callable[[Message], Iterable[tuple[str, Any]]]


def nothing(_reply: Message) -> Iterable[tuple[str, Any]]:
    return ()


async def send_events(
    replies: Replies,
    incoming: Incoming,
    connection: tuple[Scope, Receive, Send],
    *,
    heartbeat: float,
    after: After = nothing,
) -> None:
    """Sends every reply of a call as it comes.

    What fails before the first reply is raised, for an answer with a status of its own; what fails
    after it is an event named error. A client that goes away closes `replies` at once.

    Args:
        replies: Of one call, each with a oneof whose set member names the event; closed here.
        incoming: Says when the client has gone away.
        connection: The ASGI scope, receive and send of the request.
        heartbeat: Seconds between comments that keep proxies from hanging up; also the most that
            the first reply is waited for before the stream begins.
        after: Further events that follow a reply.
    """
    scope, _, send = connection
    async with aclosing(_Peeked(replies)) as peeked:
        await incoming.unless_gone(peeked.peek(heartbeat))
        response = EventSourceResponse(
            _events(peeked, after),
            headers={"Cache-Control": "no-store, no-transform"},
            ping=heartbeat,
            ping_message_factory=lambda: ServerSentEvent(comment="keep-alive", sep="\n"),
            sep="\n",
        )
        await response(scope, incoming.receive, send)


def event(name: str, data: Any) -> ServerSentEvent:
    return ServerSentEvent(wire.dumps(data), event=name, sep="\n")


class _Peeked:
    """An iterator whose first item may be waited for before the rest is consumed."""

    def __init__(self, items: Replies) -> None:
        self._items = items
        self._first: asyncio.Task[Message] | None = None

    async def peek(self, seconds: float) -> None:
        """Waits for the first item, or for it to fail, but not longer than `seconds`."""
        self._first = asyncio.ensure_future(anext(self._items))
        await asyncio.wait({self._first}, timeout=seconds)
        failed = self._first.exception() if self._first.done() else None
        if failed and not isinstance(failed, StopAsyncIteration):
            raise failed

    async def __aiter__(self) -> Replies:
        if self._first is not None:
            first, self._first = self._first, None
            try:
                item = await first
            except StopAsyncIteration:
                return
            finally:
                first.cancel()
            yield item
        async for item in self._items:
            yield item

    async def aclose(self) -> None:
        if self._first is not None:
            self._first.cancel()
            await asyncio.wait({self._first})
        close = getattr(self._items, "aclose", None)
        if close is not None:
            await close()


async def _events(replies: _Peeked, after: After) -> AsyncIterator[ServerSentEvent]:
    try:
        async for reply in replies:
            (oneof,) = reply.DESCRIPTOR.oneofs
            name = reply.WhichOneof(oneof.name)
            if name is None:  # An event of a later version than this one.
                continue
            yield event(name, wire.to_json(getattr(reply, name)))
            for further, data in after(reply):
                yield event(further, data)
    except grpc.aio.AioRpcError as error:
        yield event("error", problem.of(error).view())
    except Problem as error:
        yield event("error", error.view())
    except Exception as error:  # noqa: BLE001 - the headers are sent; this is how the client hears
        structlog.get_logger(__name__).error("unexpected_error", exc_info=error)
        yield event("error", problem.internal("").view())
