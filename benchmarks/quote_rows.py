"""True quotes: whole sentences of real texts, cut by a rule that knows nothing of the engine."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[-•*#>|]|\(?\w{1,3}[.)]\s|---))")
_SENTENCE = re.compile(r"(?<=[a-z)”\"][.!?])\s+(?=[A-Z“\"])")
_MARKUP = re.compile(r"\s*(?:[-•*#>|+!`<\\\[:{]|\(?\w{1,4}\)\s|---)")
_NUMBER = re.compile(r"\s*(?:\d{1,3}[.)]\s+)?")
MIN_WORDS, MAX_CHARS = 6, 600


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of a text, and where it stands there."""

    source: str = field(repr=False)
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.source[self.start : self.end]


def quotes(text: str) -> Iterator[Quote]:
    """The sentences of running text that stand only once in it."""
    plain = _plain(text)
    for start, end in _pieces(text, 0, len(text), _PARAGRAPH):
        number = _NUMBER.match(text, start, end)
        begin = number.end() if number else start
        paragraph = text[begin:end]
        if _MARKUP.match(paragraph) or "|" in paragraph:
            continue
        for first, last in _pieces(text, begin, end, _SENTENCE):
            piece = text[first:last]
            whole = piece.strip()
            if _is_sentence(whole) and plain.count(_plain(whole)) == 1:
                at = first + piece.index(whole)
                yield Quote(text, at, at + len(whole))


def _is_sentence(text: str) -> bool:
    return (
        len(text.split()) >= MIN_WORDS
        and len(text) <= MAX_CHARS
        and text[0].isupper()
        and text[-1] in ".!?"
    )


def texts(folder: Path) -> Iterator[str]:
    """Every text of a folder: files as they are, and the `text` field of JSON lines."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".txt", ".md"}:
            yield path.read_text(encoding="utf-8", errors="replace")
        elif path.suffix == ".jsonl":
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                if isinstance(row.get("text"), str):
                    yield row["text"]


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _pieces(text: str, start: int, end: int, edge: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    for found in edge.finditer(text, start, end):
        yield start, found.start()
        start = found.end()
    yield start, end
