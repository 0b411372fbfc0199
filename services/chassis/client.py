"""The channel to another service: deadline and trace go along, and nothing else retries."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc
from opentelemetry import trace

from services.chassis import deadline, identity, telemetry, transport
from services.chassis.trust import Tls

Code = grpc.StatusCode

# Kept from what is left of the caller's time, to answer with what came back.
RESERVE_SECONDS = 0.02

_SCHEMES = ("dns:", "ipv4:", "ipv6:", "unix:", "xds:")


@asynccontextmanager
async def channel(
    target: str, *, service: str, idempotent: Collection[str], tls: Tls | None = None
) -> AsyncIterator[grpc.aio.Channel]:
    """The one channel of this process to a service.

    Args:
        target: A name to resolve, as host:port, or a full gRPC target such as unix:/run/x.sock.
        service: The service's full name, such as "verity.v1.RetrievalService".
        idempotent: The methods that may be sent again when the service was unavailable.
        tls: Our certificate, and whose we take for the target's name; None: in the clear.
    """
    calls = _Calls(by_word=tls is not None)
    where = full_target(target)
    options = transport.client_options(service_config(service, idempotent))
    if tls is None:
        async with grpc.aio.insecure_channel(
            where, options=options, interceptors=[kind(calls) for kind in _KINDS]
        ) as opened:
            yield opened
        return
    from services.chassis import certificates, reloading  # noqa: PLC0415 - as in server.py

    def made(material: certificates.Material) -> grpc.aio.Channel:
        return grpc.aio.secure_channel(
            where,
            certificates.channel_credentials(material),
            options=options,
            interceptors=[kind(calls) for kind in _KINDS],
        )

    async with reloading.Channel(certificates.Files(tls), made) as reloaded:
        yield reloaded


async def ready(opened: grpc.aio.Channel, seconds: float = 2.0) -> bool:
    """Whether a call can be sent now: connected, and the service's health says SERVING."""
    try:
        async with asyncio.timeout(seconds):
            while (state := opened.get_state(try_to_connect=True)) in (
                grpc.ChannelConnectivity.IDLE,
                grpc.ChannelConnectivity.CONNECTING,
            ):
                await opened.wait_for_state_change(state)
    except TimeoutError:
        return False
    return state is grpc.ChannelConnectivity.READY


def full_target(target: str) -> str:
    """A target with its scheme; host:port is a name to resolve."""
    return target if target.startswith(_SCHEMES) else f"dns:///{target}"


def service_config(service: str, idempotent: Collection[str]) -> str:
    """Round robin over all that are ready; UNAVAILABLE is retried while most calls succeed.

    The channel watches the service's health. Without that, calls sent in the instant in which a
    server stops end as CANCELLED: clients would hear of the stop only as their connection closes.
    """
    config: dict[str, Any] = {
        "loadBalancingConfig": [{"round_robin": {}}],
        "healthCheckConfig": {"serviceName": service},
        "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1},
    }
    if idempotent:
        config["methodConfig"] = [
            {
                "name": [{"service": service, "method": method} for method in sorted(idempotent)],
                "retryPolicy": {
                    "maxAttempts": 3,
                    "initialBackoff": "0.1s",
                    "maxBackoff": "1s",
                    "backoffMultiplier": 2,
                    "retryableStatusCodes": ["UNAVAILABLE"],
                },
            }
        ]
    return json.dumps(config)


class _Calls:
    """Sends each call with its deadline, its caller and inside its own span, which ends with it."""

    def __init__(self, *, by_word: bool) -> None:
        self._by_word = by_word
        self._duration = telemetry.meter().create_histogram(
            "rpc.client.call.duration", unit="s", description="How long RPCs took to be answered."
        )

    async def __call__(
        self,
        continuation: Callable[[grpc.aio.ClientCallDetails, Any], Awaitable[Any]],
        details: grpc.aio.ClientCallDetails,
        request: Any,
    ) -> Any:
        method = details.method.decode() if isinstance(details.method, bytes) else details.method
        labels = {telemetry.RPC_SYSTEM: "grpc", telemetry.RPC_METHOD: method.removeprefix("/")}
        started = time.perf_counter()
        span = telemetry.tracer().start_span(
            labels[telemetry.RPC_METHOD], kind=trace.SpanKind.CLIENT, attributes=labels
        )

        def finished(code: grpc.StatusCode) -> None:
            outcome = {telemetry.RPC_STATUS: code.name}
            if code is not Code.OK:
                outcome[telemetry.ERROR_TYPE] = code.name
                span.set_status(trace.StatusCode.ERROR)
            span.set_attributes(outcome)
            span.end()
            self._duration.record(
                time.perf_counter() - started,
                {**labels, **outcome},
                context=trace.set_span_in_context(span),
            )

        timeout = _timeout(details.timeout)
        if timeout is not None and timeout <= 0:
            finished(Code.DEADLINE_EXCEEDED)
            raise grpc.aio.AioRpcError(
                Code.DEADLINE_EXCEEDED,
                grpc.aio.Metadata(),
                grpc.aio.Metadata(),
                details="No time is left for this call; it was not sent.",
            )
        metadata = grpc.aio.Metadata(
            *(details.metadata or ()),
            *telemetry.inject(span).items(),
            *identity.forwarded(by_word=self._by_word).items(),
        )
        try:
            call = await continuation(
                details._replace(timeout=timeout, metadata=metadata),  # type: ignore[attr-defined]  # a named tuple
                request,
            )
        except Exception:  # The channel is closed.
            finished(Code.UNAVAILABLE)
            raise
        # Not awaited here: the caller awaits the call itself, and so its cancellation reaches the
        # server.
        call.add_done_callback(lambda done: finished(_ready(done.code())))
        return call


def _timeout(own: float | None) -> float | None:
    left = deadline.remaining()
    if left is None:
        return own
    left -= RESERVE_SECONDS
    return left if own is None else min(own, left)


def _ready(coroutine: Coroutine[Any, Any, grpc.StatusCode]) -> grpc.StatusCode:
    """The result of a coroutine that has nothing to wait for: the status of a finished call."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        code: grpc.StatusCode = stop.value
        return code
    coroutine.close()
    return Code.UNKNOWN


class _Interceptor:
    def __init__(self, calls: _Calls) -> None:
        self._calls = calls


class _UnaryUnary(_Interceptor, grpc.aio.UnaryUnaryClientInterceptor):
    async def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
        return await self._calls(continuation, details, request)


class _UnaryStream(_Interceptor, grpc.aio.UnaryStreamClientInterceptor):
    async def intercept_unary_stream(self, continuation: Any, details: Any, request: Any) -> Any:
        return await self._calls(continuation, details, request)


class _StreamUnary(_Interceptor, grpc.aio.StreamUnaryClientInterceptor):
    async def intercept_stream_unary(self, continuation: Any, details: Any, requests: Any) -> Any:
        return await self._calls(continuation, details, requests)


class _StreamStream(_Interceptor, grpc.aio.StreamStreamClientInterceptor):
    async def intercept_stream_stream(self, continuation: Any, details: Any, requests: Any) -> Any:
        return await self._calls(continuation, details, requests)


# grpc.aio registers an interceptor for the first kind it is of, so there have to be four.
_KINDS: Sequence[Callable[[_Calls], Any]] = (_UnaryUnary, _UnaryStream, _StreamUnary, _StreamStream)
