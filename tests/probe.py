"""A service with a method of each of the four kinds, which all do what the test tells them to."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool
from verity.v1 import generation_service_pb2 as pb
from verity.v1 import rules_pb2

from services.chassis.client import channel
from services.chassis.server import Running, Service, serving
from services.chassis.settings import Settings

NAME = "verity.probe.v1.ProbeService"
# Method name: (whether the requests are a stream, whether the replies are).
KINDS = {
    "Unary": (False, False),
    "ServerStream": (False, True),
    "ClientStream": (True, False),
    "BothStreams": (True, True),
}

Act = Callable[[pb.GenerateRequest, Any], Awaitable[pb.GenerateResponse]]


def _needs(scope: int) -> descriptor_pb2.MethodOptions:
    options = descriptor_pb2.MethodOptions()
    options.Extensions[rules_pb2.scopes].append(scope)
    return options


def _describe() -> None:
    file = descriptor_pb2.FileDescriptorProto(
        name="verity/probe/v1/probe_service.proto",
        package="verity.probe.v1",
        syntax="proto3",
        dependency=["verity/v1/generation_service.proto"],
        service=[
            descriptor_pb2.ServiceDescriptorProto(
                name="ProbeService",
                method=[
                    descriptor_pb2.MethodDescriptorProto(
                        name=name,
                        input_type=".verity.v1.GenerateRequest",
                        output_type=".verity.v1.GenerateResponse",
                        client_streaming=many_requests,
                        server_streaming=many_replies,
                        options=_needs(rules_pb2.SCOPE_ASK),
                    )
                    for name, (many_requests, many_replies) in KINDS.items()
                ],
            )
        ],
    )
    descriptor_pool.Default().Add(file)


_describe()


class Probe:
    """Answers each request with what `act` makes of it; a client stream with that of its last."""

    def __init__(self, act: Act) -> None:
        self._act = act

    async def Unary(self, request, context):
        return await self._act(request, context)

    async def ServerStream(self, request, context):
        for _ in range(3):
            yield await self._act(request, context)

    async def ClientStream(self, requests, context):
        last = pb.GenerateResponse()
        async for request in requests:
            last = await self._act(request, context)
        return last

    async def BothStreams(self, requests, context):
        async for request in requests:
            yield await self._act(request, context)


def _add(probe: Probe, server: grpc.aio.Server) -> None:
    handlers = {}
    for name, (many_requests, many_replies) in KINDS.items():
        kind = f"{'stream' if many_requests else 'unary'}_{'stream' if many_replies else 'unary'}"
        handlers[name] = getattr(grpc, f"{kind}_rpc_method_handler")(
            getattr(probe, name),
            request_deserializer=pb.GenerateRequest.FromString,
            response_serializer=pb.GenerateResponse.SerializeToString,
        )
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(NAME, handlers),))


def service(act: Act, *, deadline: float = 10) -> Service:
    return Service(NAME, _add, Probe(act), dict.fromkeys(KINDS, deadline))


class Client:
    """Calls a probe, whichever the kind of the method."""

    def __init__(self, opened: grpc.aio.Channel, running: Running | None = None) -> None:
        self.channel = opened
        self.running = running

    def start(self, method: str, *questions: str, requests: Any = None, **options: Any) -> Any:
        """The call object of one RPC with these requests, or with one for each question."""
        many_requests, many_replies = KINDS[method]
        kind = f"{'stream' if many_requests else 'unary'}_{'stream' if many_replies else 'unary'}"
        stub = getattr(self.channel, kind)(
            f"/{NAME}/{method}",
            request_serializer=pb.GenerateRequest.SerializeToString,
            response_deserializer=pb.GenerateResponse.FromString,
        )
        asked = [pb.GenerateRequest(question=question) for question in questions or ("q",)]
        return stub(requests or iter(asked) if many_requests else asked[0], **options)

    async def __call__(
        self,
        method: str,
        *questions: str,
        timeout: float | None = 10,  # noqa: ASYNC109 - gRPC's own, sent to the server
        **options: Any,
    ) -> list[pb.GenerateResponse]:
        call = self.start(method, *questions, timeout=timeout, **options)
        if KINDS[method][1]:
            return [reply async for reply in call]
        return [await call]

    async def failure(self, method: str, *questions: str, **options: Any) -> grpc.aio.AioRpcError:
        """The error that this call must end in."""
        try:
            replies = await self(method, *questions, **options)
        except grpc.aio.AioRpcError as error:
            # Its frames hold the call, and so the channel open.
            return error.with_traceback(None)
        raise AssertionError(f"{method} answered {replies}")


@asynccontextmanager
async def probing(
    act: Act,
    settings: Settings | None = None,
    *,
    deadline: float = 10,
    idempotent: tuple[str, ...] = (),
    warm_up: Any = None,
) -> AsyncIterator[Client]:
    """A served probe and a client of it, over a real channel."""
    settings = settings or Settings()
    async with (
        serving(service(act, deadline=deadline), settings, warm_up=warm_up) as running,
        channel(running.address, service=NAME, idempotent=idempotent) as opened,
    ):
        yield Client(opened, running)
