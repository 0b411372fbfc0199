"""What the scripted model can do, by name: each makes the reply from what the request shows."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cli.scripted_model import templates
from cli.scripted_model.shown import Shown

Options = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """What is sent, and how.

    Attributes:
        text: The words; None for a null.
        finish: Why the model stopped.
        refusal: Instead of words.
        status: Another than 200 is an error, with `message`.
        message: What the error says.
        headers: More of them.
        body: These bytes instead of a completion, as they are.
        stalls_at: The share of the words after which no more come; 0: nothing comes at all.
        hangs_up: Whether the connection is closed there instead.
        is_aside: Whether the words are content even where a tool call was asked for.
        calls: How many times the tool is called.
    """

    text: str | None = ""
    finish: str = "stop"
    refusal: str = ""
    status: int = 200
    message: str = "scripted"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    stalls_at: float | None = None
    hangs_up: bool = False
    is_aside: bool = False
    calls: int = 1


_INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget|instead|system\s*:|assistant\s*:|you (?:must|should|are to) now"
    r"|mark (?:this|it|them)|(?:say|answer|reply|respond|output|state|write) (?:that|with|only))\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"\u201c]([^\"\u201d]{4,})[\"\u201d]")
_TOLD = re.compile(
    r"\b(?:say|answer|reply|respond|output|state|write)\s+(?:that|with|only)?\s*:?\s*(.{4,})",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d")
_ELSEWHERE = "The competent authority has confirmed this in writing."
_MALFORMED = {
    "html": b"<html><body>Sign in</body></html>",
    "half": b'{"choices": [{"mess',
    "utf8": b'{"choices": [{"message": {"role": "assistant", "content": "\xff\xfe"}}]}',
    "null_choices": b'{"choices": null}',
    "no_choices": b'{"id": "x"}',
    "empty_choices": b'{"choices": []}',
    "error_in_200": b'{"error": {"message": "out of memory"}}',
    "empty_body": b"",
}
_DEPTH = 5000


def draft_of(
    statements: list[dict[str, Any]],
    *,
    insufficient: bool = False,
    compliance: str = "not_asked",
    suggested_query: str = "",
) -> dict[str, Any]:
    """A draft in the form in which the model must answer."""
    return {
        "statements": statements,
        "insufficient": insufficient,
        "compliance": compliance,
        "suggested_query": suggested_query,
    }


def _good(options: Options, shown: Shown) -> Reply:
    if shown.kind == "resolve":
        return Reply(json.dumps({"question": shown.question}))
    return Reply(json.dumps(_honest(shown, **options)))


def _honest(shown: Shown, **options: Any) -> dict[str, Any]:
    best = shown.best()
    if best is None:
        return draft_of([], insufficient=True, suggested_query=shown.question)
    source, sentence = best
    cited = [{"source": source.id, "quote": sentence}]
    said = " ".join(sentence.split())
    judged = str(options.get("compliance", "not_asked"))
    return draft_of([{"text": said, "citations": cited}], compliance=judged)


def _drafted(options: Options, shown: Shown) -> Reply:
    """The script's own draft. A statement whose placeholder stands for nothing is left out."""
    statements = []
    for given in options.get("statements", []):
        try:
            cited = [
                {key: templates.fill(str(one[key]), shown) for key in ("source", "quote")}
                for one in given.get("cite", [])
            ]
            statements.append({"text": templates.fill(given["text"], shown), "citations": cited})
        except templates.NotShown:
            continue
    silent = bool(options.get("insufficient", not statements))
    draft = draft_of(
        statements,
        insufficient=silent,
        compliance=str(options.get("compliance", "not_asked")),
        suggested_query=str(options.get("suggested_query", "")),
    )
    return Reply(json.dumps(draft))


def _hallucinate(options: Options, shown: Shown) -> Reply:
    """The right sentence with one digit changed; without a digit, with a sentence of its own."""
    draft = _honest(shown)
    for statement in draft["statements"]:
        wrong = _NUMBER.sub(lambda digit: str((int(digit[0]) + 1) % 10), statement["text"], count=1)
        wrong = wrong if wrong != statement["text"] else _ELSEWHERE
        statement["text"] = wrong
        if options.get("quote", "invented") == "invented":
            statement["citations"][0]["quote"] = wrong
    return Reply(json.dumps(draft))


def _obey(options: Options, shown: Shown) -> Reply:
    """Does what a source tells it; where none tells it anything, answers honestly."""
    for source in shown.sources:
        for sentence in source.sentences:
            if not _INSTRUCTION.search(sentence):
                continue
            found = _QUOTED.search(sentence) or _TOLD.search(sentence)
            said = found[1].strip() if found else sentence
            quote = sentence if options.get("quote") == "sentence" else said
            cited = [{"source": source.id, "quote": quote}]
            statement = {"text": said, "citations": [] if options.get("quote") == "none" else cited}
            return Reply(json.dumps(draft_of([statement], compliance="compliant")))
    return _good({}, shown)


def _changed(change: Callable[[dict[str, Any]], Any]) -> Callable[[Options, Shown], Reply]:
    def make(_: Options, shown: Shown) -> Reply:
        draft = _honest(shown)
        changed = change(draft)
        return Reply(changed if isinstance(changed, str) else json.dumps(changed or draft))

    return make


def _many_citations(draft: dict[str, Any]) -> None:
    for statement in draft["statements"]:
        quotes = [
            {**statement["citations"][0], "quote": f"{statement['text'][:20]} {number}"}
            for number in range(500)
        ]
        statement["citations"] = quotes


def _duplicate_ids(draft: dict[str, Any]) -> None:
    for statement in draft["statements"]:
        statement["citations"] *= 3


def _unknown_source(draft: dict[str, Any]) -> None:
    for statement in draft["statements"]:
        statement["citations"] = [{**one, "source": "src_99"} for one in statement["citations"]]


def _around(before: str, after: str) -> Callable[[Options, Shown], Reply]:
    return lambda options, shown: replace(
        _good(options, shown), text=f"{before}{_good(options, shown).text}{after}"
    )


def _with(**more: Any) -> Callable[[Options, Shown], Reply]:
    return lambda _, shown: replace(_good({}, shown), **more)


def _malformed(options: Options, _: Shown) -> Reply:
    return Reply(body=_MALFORMED[str(options.get("kind", "half"))])


def _stall(options: Options, shown: Shown) -> Reply:
    return replace(_good({}, shown), stalls_at=float(options.get("at", 0.5)))


def _busy(options: Options, _: Shown) -> Reply:
    wait = {"retry-after": str(options["retry_after"])} if "retry_after" in options else {}
    return Reply(status=429, message="Rate limit reached.", headers=wait)


BEHAVIOURS: dict[str, Callable[[Options, Shown], Reply]] = {
    "good": _good,
    "draft": _drafted,
    "insufficient": lambda options, _: Reply(
        json.dumps(
            draft_of([], insufficient=True, suggested_query=str(options.get("suggested_query", "")))
        )
    ),
    "say": lambda options, _: Reply(str(options.get("text", "")), is_aside=True),
    "hallucinate": _hallucinate,
    "obey": _obey,
    "slow": _good,  # With tokens_per_second.
    "stall": _stall,
    "never": lambda _, __: Reply(stalls_at=0.0),
    "hang_up": _with(stalls_at=0.5, hangs_up=True),
    "truncate": lambda _, shown: Reply(
        str(_good({}, shown).text)[: len(str(_good({}, shown).text)) // 2], finish="length"
    ),
    "refuse": lambda _, __: Reply(None, refusal="I cannot help with that."),
    "filter": _with(finish="content_filter"),
    "busy": _busy,
    "error": lambda options, _: Reply(
        status=int(options.get("status", 500)), message=str(options.get("message", "scripted"))
    ),
    "malformed": _malformed,
    "empty": lambda _, __: Reply(""),
    "null": lambda _, __: Reply(None),
    "prose": lambda _, __: Reply("I would rather say it in my own words.", is_aside=True),
    "prose_around": _around("Here is the draft you asked for:\n", "\nI hope this helps!"),
    "fence": _around("```json\n", "\n```"),
    "cut_json": lambda _, shown: Reply(str(_good({}, shown).text)[:-20]),
    "wrong_shape": lambda _, __: Reply('{"answer": "yes"}'),
    "wrong_types": _changed(lambda draft: {**draft, "insufficient": "false"}),
    "null_fields": _changed(lambda draft: {**draft, "statements": None}),
    "duplicate_keys": _changed(lambda draft: json.dumps(draft)[:-1] + ', "insufficient": true}'),
    "deep": lambda _, __: Reply('{"statements": ' + "[" * _DEPTH + "]" * _DEPTH + "}"),
    "huge": lambda options, _: Reply(
        '{"statements": [{"text": "' + "word " * (int(options.get("bytes", 10_000_000)) // 5)
    ),
    "many_citations": _changed(_many_citations),
    "duplicate_ids": _changed(_duplicate_ids),
    "unknown_source": _changed(_unknown_source),
    "two_calls": _with(calls=2),
}
