"""Where the sentences of a passage are, and how they read."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from operator import itemgetter

from nupunkt import PunktSentenceTokenizer

# A line is taken to be ended by its author, not by the margin, when the next word would have fitted
# into this much of the longest line.
_MARGIN = 0.8
_MIN_WORDS = 4
_LINE = re.compile(r"[^\r\n]+|\n\s*\n")
# Bullets, list numbers and Markdown's marks before a line.
_LEAD = re.compile(
    r"\s*(?:[-*\u2022\u2023\u25aa\u2013\u2014]|\(?\d{1,2}[.)]|\(?[a-z][.)]|#{1,6}|>|<!--)\s+"
)
_TABLE_ROW = re.compile(r"\s*\|.*\|\s*$")
# A row that says its columns (ADR 11): North | 2024: 2,450 | 2023: 2,076.
_TOLD_ROW = re.compile(
    r"^[ \t]*(?P<row>[^|\n]{1,200}(?: \| [^|:\n]{1,80}: [^|\n]{1,200}){1,40})$", re.MULTILINE
)
_MOST_ROW_CHARS = 600
_SECTION_NUMBER = re.compile(r"^[\d.]+ ")
_WORD = re.compile(r"[^\W\d_]{2,}")
# What stands between the parts of a running header or footer.
_SEPARATOR = re.compile(r"\s[\u00b7\u2022|]\s")
_END = re.compile(r"[.!?][\"'\u2019\u201d)\]]*$")
# The hyphen goes, unless it is the second of its word: "year-on-\nyear" has it in its spelling.
_BROKEN_WORD = re.compile(r"(?<![-\w])([^\W\d_]+)[-\u2010\u00ad]\s*\n\s*(?=[a-z])")
_BROKEN_COMPOUND = re.compile(r"(?<=\w)([-\u2010])\s*\n\s*(?=\w)")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence in its passage: `passage[start:end]` is its exact text.

    Attributes:
        label: For a row of a table, what it is the row of.
    """

    start: int
    end: int
    label: str = ""


def sentences(
    text: str, headings: Sequence[str], tokenizer: PunktSentenceTokenizer
) -> Iterator[Sentence]:
    """The sentences of a passage in order; headings, table rows and cut ends are none.

    Args:
        text: The passage.
        headings: The headings above and in it; a line that is one of them belongs to no sentence.
        tokenizer: Splits a paragraph.
    """
    for start, end in _paragraphs(text, headings):
        for first, last in tokenizer.span_tokenize(text[start:end]):
            found = text[start + first : start + last]
            stripped = found.strip()
            if _is_sentence(stripped):
                begin = start + first + found.index(stripped)
                yield Sentence(begin, begin + len(stripped))


def rows(text: str) -> Iterator[Sentence]:
    """The rows of tables that can be read by themselves and state a figure."""
    for found in _TOLD_ROW.finditer(text):
        row = found["row"].rstrip()
        first, _, figures = row.partition(" | ")
        if len(row) <= _MOST_ROW_CHARS and any(letter.isdigit() for letter in figures):
            label = first.partition(": ")[2] or first
            yield Sentence(found.start("row"), found.start("row") + len(row), label)


def _is_sentence(text: str) -> bool:
    begins = not text[:1].islower()  # Not before the passage, and not as an item of a list.
    return (
        begins
        and len(_WORD.findall(text)) >= _MIN_WORDS
        and _END.search(text) is not None
        and _SEPARATOR.search(text) is None
    )


def reading(text: str) -> str:
    """The text as one line: line breaks and the hyphens they bring are layout, not wording."""
    return " ".join(_BROKEN_COMPOUND.sub(r"\1", _BROKEN_WORD.sub(r"\1", text)).split())


def _paragraphs(text: str, headings: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Spans of running text."""
    titles = {_plain(heading) for heading in headings}
    lines = list(_LINE.finditer(text))
    width = max((len(line[0].strip()) for line in lines), default=0)
    number = 0
    numbered: list[tuple[int, int, int]] = []
    for line, following in zip_longest(lines, lines[1:]):
        after = following[0].strip() if following else ""
        runs = not (
            not line[0].strip() or _TABLE_ROW.match(line[0]) or _is_title(line[0], after, titles)
        )
        lead = _LEAD.match(line[0])
        number += lead is not None or not runs
        if runs:
            numbered.append((number, line.start() + (lead.end() if lead else 0), line.end()))
        number += _ended_early(line[0], after, width) or not runs
    for _, paragraph in groupby(numbered, key=itemgetter(0)):
        spans = list(paragraph)
        yield spans[0][1], spans[-1][2]


def _is_title(line: str, after: str, titles: set[str]) -> bool:
    """Whether the line is a heading, and not a sentence's first line that was taken for one."""
    plain = _plain(line)
    return not after[:1].islower() and (plain in titles or _SECTION_NUMBER.sub("", plain) in titles)


def _plain(line: str) -> str:
    return " ".join(line.strip().lstrip("#").casefold().split())


def _ended_early(line: str, after: str, width: int) -> bool:
    if not after or after[0].islower():
        return False
    return len(line.strip()) + 1 + len(after.split(maxsplit=1)[0]) < width * _MARGIN
