"""What a client sends: its body, bounded, and the moment at which it is gone."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

import grpc
from starlette.types import Message, Receive

from services.gateway.problem import CLIENT_CLOSED, Problem

T = TypeVar("T")
BODY_IDLE_SECONDS = 30.0
# Of a body that is not wanted any more, this much is read and dropped, so that the client gets to
# hear why instead of a broken connection.
MOST_DRAINED_BYTES, DRAIN_SECONDS = 64 * 1024 * 1024, 10.0


class Incoming:
    """The body of one request, read by one task, while another may wait for the client to go."""

    def __init__(self, receive: Receive, *, idle_seconds: float = BODY_IDLE_SECONDS) -> None:
        self._receive, self._idle_seconds = receive, idle_seconds
        self._more = True
        self._gone, self._ended = asyncio.Event(), asyncio.Event()

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes; a problem when it stops coming or the client goes away."""
        while self._more:
            try:
                async with asyncio.timeout(self._idle_seconds):
                    message = await self._receive()
            except TimeoutError:
                raise Problem(
                    408, "The body stopped coming.", code=grpc.StatusCode.DEADLINE_EXCEEDED
                ) from None
            if message["type"] == "http.disconnect":
                self._gone.set()
                raise gone()
            self._more = bool(message.get("more_body"))
            if message.get("body"):
                yield message["body"]
        self._ended.set()

    async def read(self, most: int) -> bytes:
        """The whole body, of at most so many bytes."""
        body = bytearray()
        async for chunk in self.chunks():
            body += chunk
            if len(body) > most:
                await self.drop()
                raise too_large(most)
        return bytes(body)

    async def drop(self) -> None:
        """Reads what is left, within bounds, and forgets it."""
        dropped = 0
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                async for chunk in self.chunks():
                    dropped += len(chunk)
                    if dropped > MOST_DRAINED_BYTES:
                        return
        except (TimeoutError, Problem):
            return

    async def gone(self) -> None:
        """Returns when the client has gone away."""
        ended = asyncio.ensure_future(self._ended.wait())
        left = asyncio.ensure_future(self._gone.wait())
        try:
            await asyncio.wait({ended, left}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ended.cancel()
            left.cancel()
        while not self._gone.is_set():
            await self.receive()

    async def receive(self) -> Message:
        """The next message of the connection, once the body has ended."""
        await self._ended.wait()
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self._gone.set()
        return message

    async def unless_gone(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, which is cancelled as soon as the client goes away."""
        working = asyncio.ensure_future(work)
        watching = asyncio.ensure_future(self.gone())
        try:
            await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                return working.result()
            raise gone()
        finally:
            watching.cancel()
            working.cancel()
            await asyncio.wait({working, watching})


def gone() -> Problem:
    return Problem(CLIENT_CLOSED, "The client went away.", code=grpc.StatusCode.CANCELLED)


def too_large(most: int) -> Problem:
    return Problem(
        413,
        f"The body has more than the {most} bytes that are allowed.",
        code=grpc.StatusCode.INVALID_ARGUMENT,
        reason="TOO_LARGE",
    )
