"""Where the sentences of a passage are, and how they read."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nupunkt import PunktSentenceTokenizer

# A line that ends this much before the longest one was ended by its author, not by the margin.
_RAGGED = 0.8
_BULLET = re.compile(r"\s*(?:[-*•‣▪–—]|\(?[0-9]{1,2}[.)]|\(?[a-z][.)])\s+")
_TABLE = re.compile(r"\s*\|.*\|\s*$")
_MARKUP = re.compile(r"\s*(?:#{1,6}\s|>\s?|<!--)")
_END = re.compile(r"[.!?][\"'”’)\]]*\s*$")
_MIN_WORDS = 4
_HYPHENATED = re.compile(r"(?<=[^\W\d_])[-\u2010\u00ad]\s*\n\s*(?=[a-z])")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence in its passage: `passage[start:end]` is its exact text."""

    start: int
    end: int


def sentences(
    text: str, headings: Sequence[str], tokenizer: PunktSentenceTokenizer
) -> Iterator[Sentence]:
    """The sentences of a passage in order; headings, table rows and other fragments are none.

    Args:
        text: The passage.
        headings: Titles above or in it; a line that is one of them is left out.
        tokenizer: Splits a paragraph.
    """
    for start, end in _paragraphs(text, headings):
        for first, last in tokenizer.span_tokenize(text[start:end]):
            sentence = text[start + first : start + last]
            stripped = sentence.strip()
            if _is_sentence(stripped):
                begin = start + first + sentence.index(stripped)
                yield Sentence(begin, begin + len(stripped))


def reading(text: str) -> str:
    """The text as one line: line breaks and line-end hyphenation are layout, not wording."""
    return " ".join(_HYPHENATED.sub("", text).split())


def _is_sentence(text: str) -> bool:
    words = re.findall(r"[^\W\d_]{2,}", text)
    return len(words) >= _MIN_WORDS and bool(_END.search(text))


def _paragraphs(text: str, headings: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Spans of running text: split at blank lines, bullets, tables, headings and ragged ends."""
    titles = {_plain(heading) for heading in headings}
    lines = [
        (match.start(), match.end(), match[0]) for match in re.finditer(r"[^\r\n]+|\n\s*\n", text)
    ]
    width = max((len(line.strip()) for _, _, line in lines), default=0)
    start: int | None = None
    end = 0
    for position, (first, last, line) in enumerate(lines):
        if not line.strip() or _TABLE.match(line) or _is_title(line, titles):
            if start is not None:
                yield start, end
            start = None
            continue
        lead = _BULLET.match(line) or _MARKUP.match(line)
        if lead and start is not None:
            yield start, end
            start = None
        if start is None:
            start = first + (lead.end() if lead else 0)
        end = last
        following = lines[position + 1][2].strip() if position + 1 < len(lines) else ""
        if following and _ended_early(line, following, width):
            yield start, end
            start = None
    if start is not None:
        yield start, end


def _is_title(line: str, titles: set[str]) -> bool:
    plain = _plain(line)
    return plain in titles or re.sub(r"^[\d.]+ ", "", plain) in titles


def _plain(line: str) -> str:
    return " ".join(line.strip().lstrip("#").casefold().split())


def _ended_early(line: str, following: str, width: int) -> bool:
    """Whether the next word would have fitted: then the author, not the margin, broke the line."""
    room = width * _RAGGED - len(line.strip())
    return len(following.split(maxsplit=1)[0]) + 1 < room and not following[0].islower()
