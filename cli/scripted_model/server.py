"""The scripted endpoint's HTTP: reads a request, plays what the script says, and remembers it."""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from cli.scripted_model import profiles, shown, wire
from cli.scripted_model.replies import BEHAVIOURS, Reply
from cli.scripted_model.script import Behaviour, Script
from cli.scripted_model.shown import Shown

HOST = "127.0.0.1"
_MOST_BYTES = 64 * 2**20
_FAILING = frozenset(
    ("error", "busy", "malformed", "never", "stall", "hang_up", "refuse", "truncate")
)
_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many"}


@dataclass(slots=True)
class Seen:
    """What came of the requests so far.

    Attributes:
        bodies: The requests for completions, in their order.
        kinds: How many there were of each kind.
        headers: Of the last one.
        asked: Set when there is one.
        abandoned: Set when a caller closed a connection on which it was still owed something.
    """

    bodies: list[dict[str, Any]] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    headers: dict[str, str] = field(default_factory=dict)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    abandoned: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def drafts(self) -> int:
        return self.kinds["draft"]


class ScriptedModel:
    """Plays a script to whoever asks."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.seen = Seen()
        self.url = ""
        self._attempts: dict[str, int] = {}
        self._failed: set[str] = set()

    @asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator["ScriptedModel"]:
        """Serves on loopback, on any port where none is named."""
        server = await asyncio.start_server(self._serve, HOST, port, limit=_MOST_BYTES)
        self.url = f"http://{HOST}:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, ValueError):
                await self._answer(reader, writer)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, *_ = lines[0].split()
        headers = {
            name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])
        }
        raw = await reader.readexactly(int(headers.get("content-length") or 0))
        where = path.partition("?")[0]
        if method == "GET" and where.endswith("/models"):
            await _send(writer, Reply(body=self._models()))
        elif method == "POST" and where.endswith("/chat/completions"):
            await self._complete(json.loads(raw), headers, path, reader, writer)
        else:
            await _send(writer, Reply(status=404, message=f"There is no {where} here."))

    def _models(self) -> bytes:
        listed: dict[str, Any] = {"id": self.script.model, "object": "model", "owned_by": "verity"}
        name = profiles.PROFILES[self.script.profile].context_field
        if name == "n_ctx":
            listed["meta"] = {name: 32768}
        elif name:
            listed[name] = 32768
        return json.dumps({"object": "list", "data": [listed]}).encode()

    async def _complete(
        self,
        body: dict[str, Any],
        headers: dict[str, str],
        path: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        seen, streamed = shown.read(body), bool(body.get("stream"))
        self.seen.bodies.append(body)
        self.seen.kinds[seen.kind] += 1
        self.seen.headers = headers
        self.seen.asked.set()
        profile, mode = profiles.PROFILES[self.script.profile], profiles.mode_of(body)
        if refused := profiles.refusal(profile, body, headers, path):
            self._note(seen, "refused", mode, refused.status)
            reply = Reply(status=refused.status, message=refused.message)
            await _send(writer, reply, wire.error(reply, refused.param))
            return
        behaviour = self._behaviour(seen, mode, streamed=streamed)
        reply = self._reply(behaviour, seen, body, mode)
        self._note(seen, behaviour.name, mode, reply.status)
        if reply.status != HTTPStatus.OK or reply.body is not None:
            await _send(writer, reply, wire.error(reply) if reply.body is None else reply.body)
            return
        speed = float(behaviour.options.get("tokens_per_second", self.script.tokens_per_second))
        await self._play(reply, body, mode, speed, reader=reader, writer=writer)

    def _behaviour(self, seen: Shown, mode: str, *, streamed: bool) -> Behaviour:
        attempt = 1
        if seen.kind == "draft":
            attempt = self._attempt(seen)
        behaviour = self.script.behaviour(seen, attempt, mode, streamed=streamed)
        if seen.kind == "draft":
            failed = behaviour.name in _FAILING
            (self._failed.add if failed else self._failed.discard)(seen.question)
        return behaviour

    def _attempt(self, seen: Shown) -> int:
        """Which attempt at the question this is, as far as the request and the last ones tell."""
        before = self._attempts.get(seen.question, 0)
        attempt = 1
        if seen.objections:
            attempt = max(one.attempt for one in seen.objections) + 1
        if seen.kept or seen.question in self._failed:
            attempt = max(attempt, before + 1)
        self._attempts[seen.question] = attempt
        return attempt

    def _reply(
        self, behaviour: Behaviour, seen: Shown, body: Mapping[str, Any], mode: str
    ) -> Reply:
        if behaviour.name == "good" and seen.kind in {"probe", "other"}:
            ignores = mode in profiles.PROFILES[self.script.profile].ignores
            asks = mode != profiles.PROMPT or "JSON" in seen.text
            told = seen.kind == "probe" and "JSON and nothing else" in seen.text
            if told or (asks and not ignores):
                return Reply(json.dumps(_instance(_schema(body))))
            return Reply("Yes.", is_aside=True)
        return BEHAVIOURS[behaviour.name](behaviour.options, seen)

    async def _play(
        self,
        reply: Reply,
        body: Mapping[str, Any],
        mode: str,
        speed: float,
        *,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """Sends the words at their speed, as far as they go."""
        spent = None
        if self.script.reports_usage:
            spent = wire.usage(str(body.get("messages")), reply.text or reply.refusal)
        gone = asyncio.create_task(reader.read())
        try:
            if body.get("stream"):
                options = body.get("stream_options") or {}
                told = spent if options.get("include_usage") else None
                await self._stream(reply, mode, told, speed, gone=gone, writer=writer)
            else:
                whole = wire.whole(reply, self.script.model, mode, spent)
                if speed:
                    await self._pause(len(wire.tokens(reply.text or "")) / speed, gone)
                if reply.stalls_at is None:
                    await _send(writer, Reply(body=whole))
                else:
                    await _send(writer, Reply(), whole[: int(len(whole) * reply.stalls_at)], more=1)
                    await self._hang(reply, gone)
        finally:
            gone.cancel()

    async def _stream(
        self,
        reply: Reply,
        mode: str,
        spent: Mapping[str, int] | None,
        speed: float,
        *,
        gone: asyncio.Task[bytes],
        writer: asyncio.StreamWriter,
    ) -> None:
        one_by_one = bool(speed) or reply.stalls_at is not None
        events = list(wire.events(reply, self.script.model, mode, spent, one_by_one=one_by_one))
        stop = len(events) if reply.stalls_at is None else int(len(events) * reply.stalls_at)
        if stop:
            writer.write(_head(200, {"content-type": "text/event-stream"}, None))
        for event in events[:stop]:
            writer.write(event)
            await writer.drain()
            if speed:
                await self._pause(1 / speed, gone)
            if gone.done():
                self.seen.abandoned.set()
                return
        if reply.stalls_at is not None:
            await self._hang(reply, gone)

    async def _pause(self, seconds: float, gone: asyncio.Task[bytes]) -> None:
        done, _ = await asyncio.wait({gone}, timeout=seconds)
        if done:
            self.seen.abandoned.set()
            raise ConnectionResetError

    async def _hang(self, reply: Reply, gone: asyncio.Task[bytes]) -> None:
        if not reply.hangs_up:
            await gone
            self.seen.abandoned.set()

    def _note(self, seen: Shown, behaviour: str, mode: str, status: int) -> None:
        """One line for each request, without a word of it."""
        line = {
            "event": "completion", "kind": seen.kind, "behaviour": behaviour, "mode": mode,
            "http_status": status, "attempt": self._attempts.get(seen.question, 1),
        }  # fmt: skip
        note(line)


def note(line: Mapping[str, Any]) -> None:
    """A line of the log."""
    print(json.dumps(line), file=sys.stderr, flush=True)  # noqa: T201 - a log


async def _send(
    writer: asyncio.StreamWriter, reply: Reply, body: bytes | None = None, *, more: int = 0
) -> None:
    sent = body if body is not None else reply.body
    sent = sent if sent is not None else wire.error(reply)
    headers = {"content-type": "application/json", **reply.headers}
    writer.write(_head(reply.status, headers, len(sent) + more) + sent)
    await writer.drain()


def _head(status: int, headers: Mapping[str, str], length: int | None) -> bytes:
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Scripted')}", "connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if length is not None:
        lines.append(f"content-length: {length}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _schema(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema that a request brings, wherever its mode puts it."""
    wanted = body.get("response_format") or {}
    if body.get("tools"):
        found = body["tools"][0]["function"]["parameters"]
    else:
        found = (wanted.get("json_schema") or wanted).get("schema")
    return found or {"type": "object", "properties": {"ready": {"type": "boolean"}}}


def _instance(schema: Mapping[str, Any]) -> Any:
    """The plainest value of a schema."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {key: _instance(one) for key, one in schema.get("properties", {}).items()}
        case "boolean":
            return True
        case "number" | "integer":
            return 1
        case "array":
            return []
        case _:
            return ""
