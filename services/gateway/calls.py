"""The endpoints: each reads a request, calls an RPC, and writes what comes back."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

import grpc
from google.protobuf.message import Message
from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers, QueryParams
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import retrieval_service_pb2 as retrieval

from services.gateway import events, grounded, uploads, wire
from services.gateway.incoming import Incoming
from services.gateway.problem import Problem, invalid
from services.gateway.twins import Twin, all_twins
from services.gateway.upstream import Upstream

Endpoint = Callable[[Scope, Receive, Send], Awaitable[None]]
JSON, EVENTS = "application/json", "text/event-stream"


class Calls:
    """Endpoints over the services.

    Args:
        upstream: Calls them.
        max_body_bytes: The most a JSON body may have.
        heartbeat: Seconds between comments in a stream of events.
    """

    def __init__(self, upstream: Upstream, max_body_bytes: int, heartbeat: float) -> None:
        self._upstream, self._max_body = upstream, max_body_bytes
        self._heartbeat = heartbeat
        self._twins = {twin.rpc.name: twin for twin in all_twins()}

    def of(self, twin: Twin) -> Endpoint:
        """The endpoint of any RPC."""
        if twin.rpc.client_streaming:
            return self._upload

        async def unary(scope: Scope, receive: Receive, send: Send) -> None:
            incoming = Incoming(receive)
            request = await self._request(twin, scope, incoming)
            reply = await self._reply(twin, request, scope, incoming)
            await _json(wire.to_json(reply))(scope, receive, send)

        async def stream(scope: Scope, receive: Receive, send: Send) -> None:
            incoming = Incoming(receive)
            request = await self._request(twin, scope, incoming)
            call = self._upstream.call(twin, request, self._timeout(twin, scope))
            await events.send_events(
                _replies(call), incoming, (scope, receive, send), heartbeat=self._heartbeat
            )

        return stream if twin.rpc.server_streaming else unary

    async def grounded_query(self, scope: Scope, receive: Receive, send: Send) -> None:
        """{conversation_id, query} in, the flat answer out."""
        incoming = Incoming(receive)
        ask = _ask(await self._body(scope, incoming))
        reply = await self._reply(self._twins["Ask"], ask, scope, incoming)
        await _json(grounded.view(reply.answer))(scope, receive, send)

    async def grounded_query_stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The same, as the events of AskStream, and last the flat answer as `grounded_answer`."""
        incoming, twin = Incoming(receive), self._twins["AskStream"]
        request = grounding.AskStreamRequest(ask=_ask(await self._body(scope, incoming)))
        call = self._upstream.call(twin, request, self._timeout(twin, scope))
        await events.send_events(
            _replies(call),
            incoming,
            (scope, receive, send),
            heartbeat=self._heartbeat,
            after=_flat,
        )

    async def page_image(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One page as a PNG; each `highlight` of the query is START-END of the document's text."""
        incoming, twin = Incoming(receive), self._twins["RenderPage"]
        await incoming.read(self._max_body)
        request = retrieval.RenderPageRequest()
        pairs = QueryParams(scope["query_string"]).multi_items()
        wire.from_query([p for p in pairs if p[0] != "highlight"], scope["path_params"], request)
        for value in (value for name, value in pairs if name == "highlight"):
            start, end = _span(value)
            request.highlights.add(start=start, end=end)
        reply = await self._reply(twin, request, scope, incoming)
        await Response(reply.png, media_type="image/png")(scope, receive, send)

    async def _upload(self, scope: Scope, receive: Receive, send: Send) -> None:
        incoming, twin = Incoming(receive), self._twins["IngestDocument"]
        headers = Headers(scope=scope)
        query = QueryParams(scope["query_string"]).multi_items()
        ingest = uploads.Ingest(uploads.parts(incoming, headers, query))
        call = self._upstream.call(twin, ingest.requests(), self._timeout(twin, scope))
        replies = ingest.replies(call)
        try:
            if EVENTS in headers.get("accept", ""):
                await events.send_events(
                    replies, incoming, (scope, receive, send), heartbeat=self._heartbeat
                )
                return
            result = await incoming.unless_gone(_last(replies))
        except (Problem, grpc.aio.AioRpcError):
            await incoming.drop()
            raise
        await _json(wire.to_json(result))(scope, receive, send)

    async def _reply(self, twin: Twin, request: Message, scope: Scope, incoming: Incoming) -> Any:
        call = self._upstream.call(twin, request, self._timeout(twin, scope))

        async def work() -> Any:
            return await call

        return await incoming.unless_gone(work())

    async def _request(self, twin: Twin, scope: Scope, incoming: Incoming) -> Any:
        request = twin.request()
        if twin.verb == "POST":
            wire.from_json_object(await self._body(scope, incoming), request)
        else:
            await incoming.read(self._max_body)
            pairs = QueryParams(scope["query_string"]).multi_items()
            wire.from_query(pairs, scope["path_params"], request)
        return request

    async def _body(self, scope: Scope, incoming: Incoming) -> dict[str, Any]:
        headers = Headers(scope=scope)
        kind, options = parse_options_header(headers.get("content-type"))
        charset = options.get(b"charset", b"utf-8").lower()
        if kind != JSON.encode() or charset not in (b"utf-8", b"utf8"):
            await incoming.drop()
            raise Problem(
                415,
                f"The body has to be {JSON}, in UTF-8.",
                code=grpc.StatusCode.INVALID_ARGUMENT,
                headers={"Accept": JSON},
            )
        if headers.get("content-encoding", "identity") != "identity":
            await incoming.drop()
            raise Problem(
                415, "The body may not be compressed.", code=grpc.StatusCode.INVALID_ARGUMENT
            )
        return wire.loads(await incoming.read(self._max_body))

    def _timeout(self, twin: Twin, scope: Scope) -> float:
        most = self._upstream.deadlines.of(twin)
        return wire.timeout(Headers(scope=scope).get("grpc-timeout"), most)


def _ask(view: dict[str, Any]) -> grounding.AskRequest:
    names = {"query": "question", "conversation_id": "conversation_id"}
    unknown = next((name for name in view if name not in names), None)
    if unknown is not None:
        raise invalid("The body has an unknown member.", (unknown[:100], "is not known"))
    request = grounding.AskRequest()
    wire.from_json_object({names[name]: value for name, value in view.items()}, request)
    return request


def _flat(reply: Message) -> list[tuple[str, Any]]:
    assert isinstance(reply, grounding.AskStreamResponse)  # noqa: S101 - what AskStream sends
    return [("grounded_answer", grounded.view(reply.answer))] if reply.HasField("answer") else []


def _span(text: str) -> tuple[int, int]:
    start, dash, end = text.partition("-")
    most = 10
    digits = all(part.isascii() and part.isdigit() and len(part) < most for part in (start, end))
    if not dash or not digits:
        raise invalid("A highlight is not START-END.", ("highlights", "must be like 10-42"))
    return int(start), int(end)


async def _replies(call: Any) -> AsyncIterator[Message]:
    """The replies of a call, which is cancelled when they are wanted no more."""
    try:
        async for reply in call:
            yield reply
    finally:
        call.cancel()


async def _last(replies: AsyncIterator[Any]) -> Any:
    """What the last reply holds."""
    reply = None
    async with aclosing(replies) as each:  # type: ignore[type-var]  # a generator, typed as iterator
        async for reply in each:  # noqa: B007 - the last one is wanted
            pass
    if reply is None or not reply.HasField("result"):
        raise Problem(500, "internal error", code=grpc.StatusCode.INTERNAL)
    return reply.result


def _json(view: Any) -> Response:
    return Response(wire.dumps(view), media_type=JSON)
