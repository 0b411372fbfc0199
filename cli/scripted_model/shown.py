"""What a request shows the model, read back from the frames of its prompt."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_FRAME = re.compile(
    r"^<<(?P<name>(?P<kind>src|turn|kept|objection|question)(?:_\d+)?) (?P<boundary>\w+)"
    r"(?P<labels>[^\n]*)>>\n(?P<content>.*?)\n<<end (?P=name) (?P=boundary)>>$",
    re.MULTILINE | re.DOTALL,
)
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_SENTENCE = re.compile(r"[^\s](?:[^.!?\n]|[.!?](?!\s|$)|\n(?!\s*\n))*[.!?]?")
_WORD = re.compile(r"\w+")
_CLOSEST = "Closest words in the source: "
_REJECTED = "Rejected statement: "
_ZERO_WIDTH_SPACE = "\u200b"
# Of the question's words; with fewer, nothing answers it.
_ENOUGH = 0.5
_COMMON = frozenset("the and for what was were are is how many much does did of in to a an".split())  # noqa: SIM905


@dataclass(frozen=True, slots=True)
class Source:
    """One source, by the id that a draft cites."""

    id: str
    text: str
    file: str = ""

    @property
    def sentences(self) -> Sequence[str]:
        return [found[0].strip() for found in _SENTENCE.finditer(self.text)]


@dataclass(frozen=True, slots=True)
class Objection:
    """An earlier statement, why it was rejected, and the words that stand in the source."""

    attempt: int
    rejected: str
    closest: str
    codes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Shown:
    """All that a request shows. `kind` is what it asks for: draft, resolve, probe or other."""

    kind: str
    text: str
    question: str
    sources: Sequence[Source]
    objections: Sequence[Objection]
    kept: Sequence[str]

    def sentence_with(self, words: str) -> tuple[Source, str] | None:
        """The first sentence that holds the words, in the source that has it."""
        wanted = words.casefold()
        for source in self.sources:
            for sentence in source.sentences:
                if wanted in " ".join(sentence.split()).casefold():
                    return source, sentence
        return None

    def best(self) -> tuple[Source, str] | None:
        """The sentence most like the question, of those that are neither kept nor rejected."""
        taken = {_plain(text) for text in self.kept}
        taken |= {_plain(objection.rejected) for objection in self.objections}
        asked = _words(self.question)
        found = [
            (len(asked & _words(sentence)), -index, source, sentence)
            for index, source in enumerate(self.sources)
            for sentence in source.sentences
            if _plain(sentence) not in taken
        ]
        shared, _, source, sentence = max(found, key=lambda one: one[:2], default=(0, 0, None, ""))
        return (source, sentence) if source and shared >= _ENOUGH * len(asked) else None


def read(body: Mapping[str, object]) -> Shown:
    """What a chat completion's request shows."""
    messages = body.get("messages")
    texts = [
        str(message.get("content") or "")
        for message in (messages if isinstance(messages, list) else [])
        if isinstance(message, dict)
    ]
    text = "\n\n".join(texts)
    frames = list(_FRAME.finditer(texts[-1] if texts else ""))
    by_kind: dict[str, list[re.Match[str]]] = {}
    for frame in frames:
        by_kind.setdefault(frame["kind"], []).append(frame)
    question = by_kind["question"][-1]["content"] if "question" in by_kind else ""
    return Shown(
        _kind(text, by_kind),
        text,
        _unescaped(question),
        [
            Source(frame["name"], _unescaped(frame["content"]), _labels(frame).get("file", ""))
            for frame in by_kind.get("src", [])
        ],
        [_objection(frame) for frame in by_kind.get("objection", [])],
        [_unescaped(frame["content"]) for frame in by_kind.get("kept", [])],
    )


def _kind(text: str, frames: Mapping[str, object]) -> str:
    if "question" not in frames:
        return "probe" if "Are you ready?" in text else "other"
    return "resolve" if "Reword the question" in text else "draft"


def _objection(frame: re.Match[str]) -> Objection:
    lines = _unescaped(frame["content"]).splitlines()
    said = {line.split(":", 1)[0] for line in lines}
    return Objection(
        int(_labels(frame).get("attempt") or 1),
        next((line.removeprefix(_REJECTED) for line in lines if line.startswith(_REJECTED)), ""),
        next((line.removeprefix(_CLOSEST) for line in lines if line.startswith(_CLOSEST)), ""),
        frozenset(word for word in said if re.fullmatch(r"[A-Z_]{4,}", word)),
    )


def _labels(frame: re.Match[str]) -> dict[str, str]:
    return dict(_LABEL.findall(frame["labels"]))


def _unescaped(content: str) -> str:
    return content.replace(f"<{_ZERO_WIDTH_SPACE}", "<")


def _words(text: str) -> set[str]:
    return {word for word in map(str.casefold, _WORD.findall(text)) if word not in _COMMON}


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
