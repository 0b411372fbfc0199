"""An OpenAI-compatible endpoint on loopback that says what a test tells it to say."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Answer:
    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    # Stops after the body without ending the reply, as a model does that hangs.
    hangs: bool = False


def said(text: str | None, **more) -> Answer:
    """A chat completion whose message is `text`."""
    return _completion({"role": "assistant", "content": text}, **more)


def called(arguments: str, **more) -> Answer:
    """A chat completion that calls the one tool it was given."""
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "draft", "arguments": arguments},
    }
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return _completion(message, **{"finish": "tool_calls", **more})


def in_mode(mode: str, text: str, **more) -> Answer:
    """The text where the mode puts it."""
    return called(text, **more) if mode == "function_calling" else said(text, **more)


def _completion(message: dict, *, finish="stop", usage=True, refusal=None) -> Answer:
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {**message, "refusal": refusal},
            }
        ],
    }
    if usage:
        body["usage"] = {"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150}
    return Answer(json.dumps(body).encode())


def streamed(answer: Answer) -> Answer:
    """The same completion as a stream of events; anything else as it is."""
    try:
        body = json.loads(answer.body)
        [choice] = body.pop("choices")
        message = choice["message"]
    except (KeyError, TypeError, ValueError):
        return answer
    calls = [{"index": at, **call} for at, call in enumerate(message.pop("tool_calls", None) or [])]
    delta = {key: value for key, value in message.items() if value}
    usage = body.pop("usage", None)
    head = {**body, "object": "chat.completion.chunk"}
    chunks = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {"tool_calls": calls}}]} if calls else None,
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]},
        {**head, "choices": [], "usage": usage} if usage else None,
    ]
    events = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks if chunk]
    return replace(
        answer,
        body="".join([*events, "data: [DONE]\n\n"]).encode(),
        headers={"content-type": "text/event-stream", **answer.headers},
    )


class ScriptedModel:
    """Gives its answer to every request, and keeps the requests."""

    def __init__(self) -> None:
        self.answer = said("{}")
        self.requests: list[dict] = []
        self.paths: list[str] = []
        self.keys: list[str] = []
        self.asked = asyncio.Event()
        # The caller has closed a connection on which it was still waiting.
        self.abandoned = asyncio.Event()
        self.url = ""

    @property
    def prompt(self) -> str:
        return "\n".join(message["content"] for message in self.requests[-1]["messages"])

    @asynccontextmanager
    async def listening(self) -> AsyncIterator["ScriptedModel"]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with server:
            yield self

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        self.paths.append(head[0].split()[1])
        self.keys.append(headers.get("authorization", ""))
        self.requests.append(json.loads(await reader.readexactly(int(headers["content-length"]))))
        self.asked.set()
        answer = streamed(self.answer) if self.requests[-1].get("stream") else self.answer
        length = len(answer.body) + answer.hangs
        lines = [
            f"HTTP/1.1 {answer.status} Scripted",
            f"content-length: {length}",
            "connection: close",
            *(
                f"{name}: {value}"
                for name, value in {
                    "content-type": "application/json",
                    **answer.headers,
                }.items()
            ),
        ]
        if not answer.hangs or answer.body:
            writer.write("\r\n".join([*lines, "", ""]).encode() + answer.body)
            await writer.drain()
        if answer.hangs and not await reader.read():
            self.abandoned.set()
        writer.close()
