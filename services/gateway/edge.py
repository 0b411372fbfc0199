"""What happens around every HTTP request: it is seen, bounded, and answered safely."""

import asyncio
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

import grpc
import structlog
from opentelemetry import trace
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.chassis import telemetry
from services.gateway.problem import CLIENT_CLOSED, Problem
from services.gateway.rates import Rates

ROUTE = "verity.route"  # In the scope: the path's template, set by the route that answers.
PROBES = {"/healthz", "/readyz"}
RETRY_SECONDS = 1.0
_SERVER_ERROR = 500

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class SlowReader(Exception):
    """The client does not read what it asked for."""


class Seen:
    """One span, one measurement and one log line for each request, and the headers of every answer.

    The outermost layer. Probes leave no span and no line.

    Args:
        app: What answers.
        send_seconds: After which a client that does not read is given up; it would hold its place
            among the requests in flight for ever.
    """

    def __init__(self, app: ASGIApp, send_seconds: float) -> None:
        self._app, self._send_seconds = app, send_seconds
        self._log = structlog.get_logger(__name__).bind()
        self._duration = telemetry.meter().create_histogram(
            "http.server.request.duration", unit="s", description="How long requests took to serve."
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise NotImplementedError("Only HTTP is served.")
        if scope["path"] in PROBES:
            await self._app(scope, receive, _with_headers(send, {}))
            return
        with telemetry.tracer().start_as_current_span(
            scope["method"],
            context=telemetry.extract(_trace_headers(scope)),
            kind=trace.SpanKind.SERVER,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            await self._served(scope, receive, send, span)

    async def _served(self, scope: Scope, receive: Receive, send: Send, span: trace.Span) -> None:
        started, codes = time.perf_counter(), [CLIENT_CLOSED]

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                codes.append(message["status"])
            try:
                async with asyncio.timeout(self._send_seconds):
                    await send(message)
            except TimeoutError:
                raise SlowReader from None

        try:
            await self._app(scope, receive, _with_headers(noting, telemetry.inject(span)))
        except SlowReader:
            codes.append(CLIENT_CLOSED)
        except Exception as error:  # noqa: BLE001 - this is where they all end
            codes.append(_SERVER_ERROR)
            # The client has heard: the app answers before it raises.
            self._log.error("unexpected_error", error_id=telemetry.trace_id(), exc_info=error)
        finally:
            labels = {
                telemetry.HTTP_METHOD: _known(scope["method"]),
                telemetry.HTTP_ROUTE: scope.get(ROUTE, ""),
                telemetry.HTTP_STATUS: codes[-1],
            }
            span.update_name(
                f"{labels[telemetry.HTTP_METHOD]} {labels[telemetry.HTTP_ROUTE]}".strip()
            )
            span.set_attributes(labels)
            if codes[-1] >= _SERVER_ERROR:
                span.set_status(trace.StatusCode.ERROR)
            seconds = time.perf_counter() - started
            self._duration.record(seconds, labels)
            self._log.info(
                "http",
                method=labels[telemetry.HTTP_METHOD],
                route=labels[telemetry.HTTP_ROUTE],
                status=codes[-1],
                ms=round(seconds * 1000, 1),
            )


class SameOrigin:
    """Refuses what another site's page makes a browser send, and hosts that are not ours.

    A form of any site may post a file to a server on this machine; only the browser's own word of
    where it comes from tells it apart.

    Args:
        app: What is protected.
        origins: Origins that may send, beside the gateway's own; *: any.
        hosts: Names under which the gateway may be asked; none: any.
    """

    def __init__(self, app: ASGIApp, origins: frozenset[str], hosts: frozenset[str]) -> None:
        self._app, self._origins, self._hosts = app, origins, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        refused = self._refused(scope["method"], headers)
        if refused and scope["path"] not in PROBES:
            await refused.response()(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _refused(self, method: str, headers: Headers) -> Problem | None:
        host = headers.get("host", "")
        if self._hosts and _name(host) not in self._hosts:
            return Problem(
                421,
                "This host name is not served here; see VERITY_ALLOWED_HOSTS.",
                code=grpc.StatusCode.PERMISSION_DENIED,
                reason="UNKNOWN_HOST",
            )
        origin = headers.get("origin")
        if method in {"GET", "HEAD", "OPTIONS"} or origin is None:
            return None
        if self._origins & {origin, "*"}:
            return None
        if urlsplit(origin).netloc == host and host:
            return None
        return Problem(
            403,
            "Pages of another origin may not send this; see VERITY_CORS_ORIGINS.",
            code=grpc.StatusCode.PERMISSION_DENIED,
            reason="FOREIGN_ORIGIN",
        )


class Limited:
    """Turns requests away at once: those of a client that sends too often, and those over capacity.

    Args:
        app: What is protected.
        rates: How often each client may ask.
        max_in_flight: Requests that may be served at once.
    """

    def __init__(self, app: ASGIApp, rates: Rates, max_in_flight: int) -> None:
        self._app, self._rates, self._max = app, rates, max_in_flight
        self._in_flight = 0
        self._gauge = telemetry.meter().create_up_down_counter(
            "verity.server.in_flight", unit="{call}", description="RPCs being served."
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not is_api(scope["path"]):
            await self._app(scope, receive, send)
            return
        client = scope.get("client")
        wait = self._rates.wait(client[0] if client else "", time.monotonic())
        if wait:
            refused = _overloaded("This client asks too often; wait.", wait, "RATE_LIMITED")
            await refused.response()(scope, receive, send)
            return
        if self._in_flight >= self._max:
            refused = _overloaded(
                f"{self._max} requests are being served, which is the limit; try again.",
                RETRY_SECONDS,
                "OVERLOADED",
            )
            await refused.response()(scope, receive, send)
            return
        self._in_flight += 1
        self._gauge.add(1)
        try:
            await self._app(scope, receive, send)
        finally:
            self._in_flight -= 1
            self._gauge.add(-1)


def is_api(path: str) -> bool:
    """Whether a path calls services, rather than asking for a file of the page or for health."""
    return path.startswith(("/v1/", "/grounded_query")) or path == "/v1"


def _overloaded(detail: str, retry_after: float, reason: str) -> Problem:
    return Problem(
        429,
        detail,
        code=grpc.StatusCode.RESOURCE_EXHAUSTED,
        reason=reason,
        retry_after=retry_after,
    )


def _with_headers(send: Send, own: Mapping[str, str]) -> Send:
    """Adds the headers of every answer; what says nothing of caching is not to be stored."""

    async def adding(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update({**SECURITY_HEADERS, **own})
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return adding


def _trace_headers(scope: Scope) -> dict[str, str]:
    headers = Headers(scope=scope)
    return {name: headers[name] for name in ("traceparent", "tracestate") if name in headers}


def _known(method: str) -> str:
    """As a label: any other word may be any word."""
    known = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
    return method if method in known else "_OTHER"


def _name(host: str) -> str:
    return (urlsplit(f"//{host}").hostname or "").lower()
