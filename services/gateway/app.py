"""The routes: each twin of an RPC, the flat question, page images, the page, health."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from services.chassis import telemetry
from services.chassis.authentication import Authenticator
from services.gateway import edge, openapi, problem
from services.gateway.calls import Calls
from services.gateway.edge import Limited, SameOrigin, Seen
from services.gateway.known import Known
from services.gateway.page import Page
from services.gateway.problem import Problem
from services.gateway.rates import Rates
from services.gateway.twins import all_twins
from services.gateway.upstream import READY_SECONDS, Upstream

Code = grpc.StatusCode
Endpoint = Callable[[Scope, Receive, Send], Awaitable[None]]
EXPOSED = ["Retry-After", "traceparent"]


@dataclass(frozen=True)
class Edge:
    """What the gateway lets in.

    Attributes:
        origins: Of pages, other than its own, that may call it.
        credentials: Whether those pages may send cookies along.
        hosts: Names under which it may be asked; none: any.
        rate_per_second: Requests that one client may send on and on; 0: any number.
        rate_burst: Requests that one client may send at once.
        max_in_flight: Requests that are served at once.
        max_body_bytes: Of a JSON body.
        heartbeat_seconds: Between comments in a stream of events.
        send_seconds: After which a client that reads nothing is given up.
    """

    origins: tuple[str, ...] = ()
    credentials: bool = False
    hosts: frozenset[str] = field(default_factory=frozenset)
    rate_per_second: float = 50.0
    rate_burst: int = 200
    max_in_flight: int = 64
    max_body_bytes: int = 16 * 1024 * 1024
    heartbeat_seconds: float = 15.0
    send_seconds: float = 30.0


class Draining:
    """Whether the process is on its way out."""

    def __init__(self) -> None:
        self.begun = False


def build(
    upstream: Upstream,
    limits: Edge,
    page_folder: Path,
    draining: Draining,
    authenticator: Authenticator,
) -> ASGIApp:
    """The whole application, ready to be served."""
    calls = Calls(upstream, limits.max_body_bytes, limits.heartbeat_seconds)
    app = FastAPI(
        openapi_url=None,
        docs_url=None,  # Their scripts come from elsewhere.
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # See edge.Seen.
        exception_handlers={
            Problem: _problem,
            grpc.aio.AioRpcError: _failed_call,
            HTTPException: _http,
            Exception: _unexpected,
        },
    )
    by_path: dict[str, dict[str, Endpoint]] = {
        "/grounded_query": {"POST": calls.grounded_query},
        "/grounded_query/stream": {"POST": calls.grounded_query_stream},
        # Before the document itself, whose id would take it.
        "/v1/documents/{document_id}/pages/{page_number}.png": {"GET": calls.page_image},
    }
    for twin in all_twins():
        by_path.setdefault(twin.path, {})[twin.verb] = calls.of(twin)
    routes = [Route(path, _Methods(path, methods)) for path, methods in by_path.items()]
    document = openapi.document(all_twins())
    routes += [
        Route("/openapi.json", _Methods("/openapi.json", {"GET": _json(document)})),
        Route("/healthz", _Methods("/healthz", {"GET": _json({"status": "ok"})})),
        Route("/readyz", _Methods("/readyz", {"GET": _Ready(upstream, draining, authenticator)})),
        Route("/{path:path}", _Methods("/{path}", {"GET": _Files(Page(page_folder))})),
    ]
    app.router.routes[:] = routes
    layered: ASGIApp = Limited(
        Known(app, authenticator),
        Rates(limits.rate_per_second, limits.rate_burst),
        limits.max_in_flight,
    )
    if limits.origins:
        layered = CORSMiddleware(
            layered,
            allow_origins=limits.origins,
            allow_credentials=limits.credentials,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=[
                "Authorization",
                "Content-Type",
                "traceparent",
                "tracestate",
                "grpc-timeout",
            ],
            expose_headers=EXPOSED,
        )
    return Seen(SameOrigin(layered, frozenset(limits.origins), limits.hosts), limits.send_seconds)


class _Methods:
    """The endpoints of one path by method; HEAD is GET without its body, OPTIONS says which."""

    def __init__(self, path: str, methods: Mapping[str, Endpoint]) -> None:
        self._path, self._methods = path, methods
        heads = {"HEAD"} if "GET" in methods else set()
        self._allow = ", ".join(sorted({*methods, *heads, "OPTIONS"}))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[edge.ROUTE] = self._path
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        if method == "OPTIONS":
            await Response(status_code=204, headers={"Allow": self._allow})(scope, receive, send)
            return
        if method not in self._methods:
            raise Problem(
                405,
                f"This path answers {self._allow}.",
                code=Code.UNIMPLEMENTED,
                headers={"Allow": self._allow},
            )
        await self._methods[method](scope, receive, send)


class _Files:
    def __init__(self, page: Page) -> None:
        self._page = page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        accept = request.headers.get("accept", "")
        file = None if edge.is_api(scope["path"]) else self._page.find(scope["path"], accept)
        if file is None:
            none = "There is nothing at this path."
            if scope["path"] == "/":
                none = "The page is not built here; the API's document is at /openapi.json."
            raise Problem(404, none, code=Code.NOT_FOUND)
        await file.response(request)(scope, receive, send)


class _Ready:
    """Ready while callers can be told apart and every service serves, until the process ends."""

    def __init__(
        self, upstream: Upstream, draining: Draining, authenticator: Authenticator
    ) -> None:
        self._upstream, self._draining = upstream, draining
        self._authenticator = authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._draining.begun:
            raise Problem(503, "The gateway is stopping.", code=Code.UNAVAILABLE, retry_after=1)
        try:
            async with asyncio.timeout(READY_SECONDS):
                await self._authenticator.ready()
        except TimeoutError:
            detail = "The keys that tokens are checked with cannot be read; see VERITY_JWKS."
            raise Problem(503, detail, code=Code.UNAVAILABLE, retry_after=1) from None
        if missing := await self._upstream.not_serving():
            detail = f"Not serving: {', '.join(missing)}."
            raise Problem(503, detail, code=Code.UNAVAILABLE, retry_after=1)
        await JSONResponse({"status": "ready"})(scope, receive, send)


def _json(view: Any) -> Endpoint:
    response = JSONResponse(view)

    async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
        await response(scope, receive, send)

    return endpoint


async def _problem(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)  # noqa: S101 - what it is registered for
    return error.response()


async def _failed_call(_request: Request, error: Exception) -> Response:
    assert isinstance(error, grpc.aio.AioRpcError)  # noqa: S101 - what it is registered for
    return problem.of(error).response()


async def _http(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - what it is registered for
    return Problem(
        error.status_code,
        str(error.detail),
        code=Code.NOT_FOUND if error.status_code == 404 else Code.INVALID_ARGUMENT,  # noqa: PLR2004
        headers=Headers(error.headers) if error.headers else None,
    ).response()


async def _unexpected(_request: Request, _error: Exception) -> Response:
    return problem.internal(telemetry.trace_id()).response()
