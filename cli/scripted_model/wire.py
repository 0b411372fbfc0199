"""A reply in the bytes of OpenAI's chat completions, whole and as a stream of events."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from cli.scripted_model.profiles import FUNCTION_CALLING
from cli.scripted_model.replies import Reply

_TOKEN = re.compile(r"\s*\S{1,4}|\s+", re.DOTALL)
_CREATED = 1_700_000_000
# How many tokens are sent together where none is waited for.
_AT_ONCE = 16
_LONG = 100_000


def tokens(text: str) -> list[str]:
    """The text in pieces of about a token."""
    return _TOKEN.findall(text)


def usage(prompt: str, answered: str) -> dict[str, int]:
    asked, said = max(1, len(prompt) // 4), max(1, len(tokens(answered[:_LONG])))
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def error(reply: Reply, param: str | None = None) -> bytes:
    """An error's body."""
    said = {"message": reply.message, "type": "invalid_request_error", "param": param, "code": None}
    return json.dumps({"error": said}).encode()


def whole(reply: Reply, model: str, mode: str, spent: Mapping[str, int] | None) -> bytes:
    """A completion."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": None}
    finish = reply.finish
    if reply.refusal:
        message["refusal"] = reply.refusal
    elif _calls(reply, mode):
        function = {"name": "reply", "arguments": reply.text}
        message["content"] = None
        message["tool_calls"] = [
            {"id": f"call_{number}", "type": "function", "function": function}
            for number in range(reply.calls)
        ]
        finish = "tool_calls" if finish == "stop" else finish
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return json.dumps(
        {
            **_head("chat.completion", model),
            "choices": [choice],
            **({"usage": spent} if spent else {}),
        }
    ).encode()


def events(
    reply: Reply, model: str, mode: str, spent: Mapping[str, int] | None, *, one_by_one: bool
) -> Iterator[bytes]:
    """A completion as a stream's events, with one token in each where that matters."""
    head = _head("chat.completion.chunk", model)
    calls = _calls(reply, mode)

    def event(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _sse({**head, "choices": [choice]})

    yield event({"role": "assistant", "content": None if calls else ""})
    if reply.refusal:
        yield event({"refusal": reply.refusal})
    if calls:
        for number in range(reply.calls):
            called = {
                "index": number,
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": "reply", "arguments": ""},
            }
            yield event({"tool_calls": [called]})
    for piece in _pieces(reply.text or "", 1 if one_by_one else _AT_ONCE):
        if calls:
            yield event({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
        else:
            yield event({"content": piece})
    yield event({}, "tool_calls" if calls and reply.finish == "stop" else reply.finish)
    if spent:
        yield _sse({**head, "choices": [], "usage": spent})
    yield b"data: [DONE]\n\n"


def _calls(reply: Reply, mode: str) -> bool:
    return mode == FUNCTION_CALLING and bool(reply.text) and not reply.is_aside


def _pieces(text: str, size: int) -> Iterator[str]:
    if len(text) > _LONG:  # Megabytes need no tokens.
        yield from (text[start : start + _LONG] for start in range(0, len(text), _LONG))
        return
    pieces = tokens(text)
    for start in range(0, len(pieces), size):
        yield "".join(pieces[start : start + size])


def _head(kind: str, model: str) -> dict[str, Any]:
    return {"id": "chatcmpl-scripted", "object": kind, "created": _CREATED, "model": model}


def _sse(value: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"
