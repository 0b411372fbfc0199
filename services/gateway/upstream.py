"""The services behind the gateway: their channels, the calls on them, and whether they serve."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message_factory import GetMessageClass

from services.chassis.client import channel, ready
from services.chassis.trust import Tls
from services.gateway.twins import SLOW, Twin, all_twins

READY_SECONDS = 2.0


@dataclass(frozen=True)
class Deadlines:
    """The most seconds a call may take.

    Attributes:
        call: A call that waits for no model.
        ask: One that does.
        ingest: Taking in one file, its upload included.
    """

    call: float = 30.0
    ask: float = 120.0
    ingest: float = 1800.0

    def of(self, twin: Twin) -> float:
        if twin.rpc.client_streaming:
            return self.ingest
        return self.ask if twin.rpc.name in SLOW else self.call


class Upstream:
    """Calls any RPC by its twin.

    Args:
        channels: The channel of each service, by the service's full name.
        deadlines: The most each call may take.
    """

    def __init__(self, channels: Mapping[str, grpc.aio.Channel], deadlines: Deadlines) -> None:
        self._channels = channels
        self.deadlines = deadlines

    def call(self, twin: Twin, request: Any, timeout: float) -> Any:
        """The call object; `request` is a stream of requests where the RPC takes one."""
        kind = (
            f"{'stream' if twin.rpc.client_streaming else 'unary'}"
            f"_{'stream' if twin.rpc.server_streaming else 'unary'}"
        )
        stub = getattr(self._channels[twin.service], kind)(
            f"/{twin.name}",
            request_serializer=twin.request.SerializeToString,
            response_deserializer=GetMessageClass(twin.output).FromString,
        )
        return stub(request, timeout=timeout)

    async def not_serving(self) -> list[str]:
        """The services that cannot be called now.

        A channel is READY while it is connected and the service's health, which it watches, says
        SERVING.
        """
        names = list(self._channels)
        serving = await asyncio.gather(
            *(ready(self._channels[name], READY_SECONDS) for name in names)
        )
        return [name for name, serves in zip(names, serving, strict=True) if not serves]


@asynccontextmanager
async def connected(
    targets: Mapping[str, str], deadlines: Deadlines, tls: Tls | None = None
) -> AsyncIterator[Upstream]:
    """Opens a channel to each service.

    Args:
        targets: The address of each service, by the service's full name.
        deadlines: The most each call may take.
        tls: Our certificate, and whose we take for the services' names; None: in the clear.
    """
    async with AsyncExitStack() as stack:
        channels = {}
        for service, target in targets.items():
            idempotent = [
                twin.rpc.name for twin in all_twins() if twin.service == service and twin.idempotent
            ]
            channels[service] = await stack.enter_async_context(
                channel(target, service=service, idempotent=idempotent, tls=tls)
            )
        yield Upstream(channels, deadlines)
