"""A channel that follows its certificate: a new one for new calls, the old ends with its own."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, Self

import grpc

from services.chassis.certificates import Files, Material

# Looking at three files for each call would be cheap, and is still more often than they change.
_LOOK_SECONDS = 1.0


class _One:
    """One channel, and the calls on it."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.channel = channel
        self._calls = 0
        self._retired = False
        self._closing: asyncio.Task[None] | None = None

    def call(self, made: Callable[[grpc.aio.Channel], Any]) -> Any:
        self._calls += 1
        try:
            call = made(self.channel)
        except BaseException:
            self._ended()
            raise
        call.add_done_callback(lambda _: self._ended())
        return call

    def retire(self) -> None:
        """Closes it as soon as the last of its calls has ended."""
        self._retired = True
        self._close_if_idle()

    def _ended(self) -> None:
        self._calls -= 1
        self._close_if_idle()

    def _close_if_idle(self) -> None:
        if self._retired and not self._calls and self._closing is None:
            self._closing = asyncio.create_task(self.channel.close())


class Channel(grpc.aio.Channel):
    """The channel of the files of now.

    Args:
        files: The certificate, its key and the CA.
        make: Makes a channel with what they hold.
        look_seconds: How often, at the most, the files are looked at.
    """

    def __init__(
        self,
        files: Files,
        make: Callable[[Material], grpc.aio.Channel],
        look_seconds: float = _LOOK_SECONDS,
    ) -> None:
        self._files, self._make, self._look_seconds = files, make, look_seconds
        self._material = files.current()
        self._one = _One(make(self._material))
        self._looked = time.monotonic()
        self._retired: list[_One] = []

    def _current(self) -> _One:
        now = time.monotonic()
        if now - self._looked >= self._look_seconds:
            self._looked = now
            material = self._files.current()
            if material is not self._material:
                self._material = material
                self._retired.append(self._one)
                self._one.retire()
                self._one = _One(self._make(material))
        return self._one

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self, grace: float | None = None) -> None:
        for one in (*self._retired, self._one):
            await one.channel.close(grace)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        return self._current().channel.get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        await self._one.channel.wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        await self._current().channel.channel_ready()

    def unary_unary(self, *args: Any, **kwargs: Any) -> Any:
        return self._callable("unary_unary", args, kwargs)

    def unary_stream(self, *args: Any, **kwargs: Any) -> Any:
        return self._callable("unary_stream", args, kwargs)

    def stream_unary(self, *args: Any, **kwargs: Any) -> Any:
        return self._callable("stream_unary", args, kwargs)

    def stream_stream(self, *args: Any, **kwargs: Any) -> Any:
        return self._callable("stream_stream", args, kwargs)

    def _callable(
        self, kind: str, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Callable[..., Any]:
        def call(*request: Any, **options: Any) -> Any:
            return self._current().call(
                lambda channel: getattr(channel, kind)(*args, **kwargs)(*request, **options)
            )

        return call
