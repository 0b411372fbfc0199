"""What happens around every RPC that is served, whichever of the four kinds it is of."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc
import structlog
from google.rpc import status_pb2
from grpc_status import rpc_status
from opentelemetry import trace

from services.chassis import access, deadline, identity, status, telemetry, validation
from services.chassis.authentication import Authenticator
from services.chassis.errors import Overloaded

Code = grpc.StatusCode
Context = grpc.aio.ServicerContext[Any, Any]

# What the server is to blame for; the other codes tell the caller about the caller's own request.
SERVER_FAULTS = frozenset(
    {
        Code.UNKNOWN,
        Code.DEADLINE_EXCEEDED,
        Code.UNIMPLEMENTED,
        Code.INTERNAL,
        Code.UNAVAILABLE,
        Code.DATA_LOSS,
    }
)

RETRY_AFTER_SECONDS = 1.0
CANCELLATION_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Call:
    """One RPC being served."""

    method: str  # "verity.v1.RetrievalService/Retrieve"
    context: Context


Layer = Callable[[Call], AbstractAsyncContextManager[None]]


class Layers(grpc.aio.ServerInterceptor):
    """Runs each handler inside the given layers, the first outermost, on valid requests only.

    The handlers of gRPC's own services (health, reflection) and of unknown methods are left alone.
    """

    def __init__(self, layers: Sequence[Layer]) -> None:
        self._layers = tuple(layers)
        self._wrapped: dict[str, Any] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        handler = await continuation(handler_call_details)
        method = handler_call_details.method
        if handler is None or method.startswith("/grpc."):
            return handler
        if method not in self._wrapped:
            self._wrapped[method] = self._wrap(handler, method.removeprefix("/"))
        return self._wrapped[method]

    def _wrap(self, handler: Any, method: str) -> Any:
        kind = (
            f"{'stream' if handler.request_streaming else 'unary'}"
            f"_{'stream' if handler.response_streaming else 'unary'}"
        )
        behaviour = getattr(handler, kind)
        checked = _each_checked if handler.request_streaming else _checked

        async def one_reply(request: Any, context: Context) -> Any:
            async with self._around(Call(method, context)), checked(request) as valid:
                return await behaviour(valid, context)

        # Written by ourselves and in this task: a generator that is abandoned because the caller is
        # gone is then closed here and now, in the context in which it opened its spans.
        async def many_replies(request: Any, context: Context) -> None:
            async with (
                self._around(Call(method, context)),
                checked(request) as valid,
                aclosing(behaviour(valid, context)) as replies,
            ):
                async for reply in replies:
                    try:
                        await context.write(reply)
                    except grpc.aio.InternalError:
                        await _cancellation()
                        raise

        make = getattr(grpc, f"{kind}_rpc_method_handler")
        return make(
            many_replies if handler.response_streaming else one_reply,
            request_deserializer=handler.request_deserializer,
            response_serializer=handler.response_serializer,
        )

    @asynccontextmanager
    async def _around(self, call: Call) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for layer in self._layers:
                await stack.enter_async_context(layer(call))
            yield


@asynccontextmanager
async def _checked(request: Any) -> AsyncIterator[Any]:
    validation.check(request)
    yield request


@asynccontextmanager
async def _each_checked(requests: AsyncIterator[Any]) -> AsyncIterator[AsyncIterator[Any]]:
    async def valid() -> AsyncIterator[Any]:
        async for request in requests:
            validation.check(request)
            yield request
        await _cancellation()

    async with aclosing(valid()) as iterator:  # type: ignore[type-var]  # a generator, typed as iterator
        yield iterator


async def _cancellation() -> None:
    """Gives the cancellation of a call the time to arrive.

    To a call that was given up, gRPC first says that its requests have ended, or that a reply could
    not be written; it cancels the task a moment later. Half an upload must not pass for all of it.
    """
    await asyncio.sleep(CANCELLATION_SECONDS)


class Observed:
    """Sees how each RPC really ends: one span, one log line, one measurement, and its status.

    The outermost layer, and the only place where an exception becomes a status.
    """

    def __init__(self) -> None:
        meter = telemetry.meter()
        self._log = structlog.get_logger(__name__).bind()
        self._duration = meter.create_histogram(
            "rpc.server.call.duration", unit="s", description="How long RPCs took to serve."
        )
        self._in_flight = meter.create_up_down_counter(
            "verity.server.in_flight", unit="{call}", description="RPCs being served."
        )

    @asynccontextmanager
    async def __call__(self, call: Call) -> AsyncIterator[None]:
        started = time.perf_counter()
        labels = {telemetry.RPC_SYSTEM: "grpc", telemetry.RPC_METHOD: call.method}
        error: BaseException | None = None
        refusal: status_pb2.Status | None = None
        code = Code.UNKNOWN
        with telemetry.tracer().start_as_current_span(
            call.method,
            context=telemetry.extract(_headers(call.context)),
            kind=trace.SpanKind.SERVER,
            attributes=labels,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            self._in_flight.add(1, labels)
            try:
                yield
                code = call.context.code() or Code.OK
            except grpc.aio.AbortError:
                code = call.context.code()
                raise
            except asyncio.CancelledError as cancelled:
                if _cancelling():
                    code = Code.DEADLINE_EXCEEDED if _expired(call.context) else Code.CANCELLED
                    raise
                # Something inside was cancelled, not this call; without an answer its caller hangs.
                error, refusal = cancelled, self._unexpected(cancelled)
            except Exception as exception:  # noqa: BLE001 - this is where they all end
                error, refusal = exception, status.of(exception) or self._unexpected(exception)
            finally:
                if refusal is not None:
                    code = status.code_of(refusal)
                self._in_flight.add(-1, labels)
                self._duration.record(
                    time.perf_counter() - started, {**labels, **_outcome(code, span)}
                )
                self._log.info(
                    "rpc",
                    method=call.method,
                    code=code.name,
                    ms=round((time.perf_counter() - started) * 1000, 1),
                    # What was the matter, where the status alone does not say it.
                    **({"error": type(error.__cause__ or error).__name__} if error else {}),
                )
        if refusal is not None:
            await call.context.abort_with_status(rpc_status.to_status(refusal))

    def _unexpected(self, error: BaseException) -> status_pb2.Status:
        error_id = telemetry.trace_id() or uuid.uuid4().hex
        self._log.error("unexpected_error", error_id=error_id, exc_info=error)
        return status.internal(error_id)


class Bounded:
    """Gives each RPC the deadline of its caller, or its method's own when the caller set none."""

    def __init__(self, defaults: Mapping[str, float]) -> None:
        self._defaults = defaults

    @asynccontextmanager
    async def __call__(self, call: Call) -> AsyncIterator[None]:
        left = call.context.time_remaining()
        method = call.method.rpartition("/")[2]
        async with deadline.within(self._defaults[method] if left is None else left):
            yield


class Authenticated:
    """Lets in who is known and may call the method; deeper down, `identity.caller` says who."""

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator

    @asynccontextmanager
    async def __call__(self, call: Call) -> AsyncIterator[None]:
        headers = dict(call.context.invocation_metadata() or ())
        one = await self._authenticator.caller(headers, _names(call.context))
        identity.permit(one, access.scopes(call.method))
        with identity.calling(one):
            yield


class Admitted:
    """Turns RPCs away at once when too many are in flight, instead of letting all of them wait."""

    def __init__(self, max_in_flight: int) -> None:
        self._max = max_in_flight
        self._in_flight = 0

    @asynccontextmanager
    async def __call__(self, call: Call) -> AsyncIterator[None]:  # noqa: ARG002 - a layer's shape
        if self._in_flight >= self._max:
            raise Overloaded(
                f"{self._max} calls are in flight, which is the limit; try again.",
                retry_after=RETRY_AFTER_SECONDS,
            )
        self._in_flight += 1
        try:
            yield
        finally:
            self._in_flight -= 1


def _outcome(code: grpc.StatusCode, span: trace.Span) -> dict[str, str]:
    """Marks the span with how it ended; the same attributes go on the measurement."""
    attributes = {telemetry.RPC_STATUS: code.name}
    if code in SERVER_FAULTS:
        attributes[telemetry.ERROR_TYPE] = code.name
        span.set_status(trace.StatusCode.ERROR)
    span.set_attributes(attributes)
    return attributes


def _names(context: Context) -> list[str]:
    """The names in the certificate of the other end, which the CA vouches for."""
    names = context.auth_context().get("x509_subject_alternative_name", ())
    return [name.decode(errors="replace") for name in names]


def _headers(context: Context) -> dict[str, str]:
    return {
        key: value for key, value in context.invocation_metadata() or () if isinstance(value, str)
    }


def _cancelling() -> bool:
    """Whether this very task was asked to end, by the caller, the deadline or the server's stop."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _expired(context: Context) -> bool:
    left = context.time_remaining()
    return left is not None and left < 0.01  # noqa: PLR2004 - gRPC's clock and ours differ by less
