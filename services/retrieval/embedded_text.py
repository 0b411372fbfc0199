"""What of a passage is embedded: the headings above it, a table's head, its words on one line."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator

from services.retrieval.document import Chunk, ParsedDocument

_HYPHENATED = re.compile(r"-\n\s*")
# Of a table that is cut, what its later rows are embedded with: the lines above its first row of
# figures, and of one without figures the first two.
_HEAD_LINES = 2
_HEAD_CHARACTERS = 160
_AMOUNT = re.compile(r"\(?[$€£]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d+(?=\)))\)?%?")
_FIGURE = re.compile(r"(?!(?:19|20)\d\d$)[$€£(]?[-\u2212]?\d[\d.,]*[)%]*|[-\u2013\u2014]")
_SIGNS = frozenset("$€£%)")

Span = tuple[int, int]


def passage_text_for_embedding(
    document: ParsedDocument, chunk: Chunk, *, fits: Callable[[str], bool] = lambda _: True
) -> str:
    """The headings above a chunk, then its text as one line, without running headers.

    Where it goes on with a table, the table's head goes before: rows do not say what they are.

    Args:
        document: What the chunk was cut of.
        chunk: What is to be embedded.
        fits: Whether the model reads a text whole. The head of the table is left out where it does
            not, and then one heading after the other, the outermost first.
    """
    first = bisect_left(document.headings, chunk.start, key=lambda heading: heading.start)
    last = bisect_left(document.headings, chunk.end, key=lambda heading: heading.start)
    left_out = [
        (heading.start, heading.end)
        for heading in document.headings[first:last]
        if heading.title in chunk.heading_path
    ]
    first = bisect_left(document.furniture, (chunk.start, 0))
    last = bisect_left(document.furniture, (chunk.end, 0))
    left_out += document.furniture[first:last]
    text = _line(without(document.text, chunk.start, chunk.end, sorted(left_out)))
    written = ""
    for above, head in _ways(chunk, _line(_head_of_table(document, chunk))):
        words = " ".join(filter(None, (head, text)))
        written = "\n".join(filter(None, (" > ".join(above), words)))
        if fits(written):
            break
    return written


def _ways(chunk: Chunk, head: str) -> Iterator[tuple[tuple[str, ...], str]]:
    if head:
        yield chunk.heading_path, head
    for outermost in range(len(chunk.heading_path) + 1):
        yield chunk.heading_path[outermost:], ""


def _line(text: str) -> str:
    return " ".join(_HYPHENATED.sub("-", text).replace("\N{SOFT HYPHEN}", "").split())


def _head_of_table(document: ParsedDocument, chunk: Chunk) -> str:
    """The head of the table in which a chunk begins; empty when it begins in none."""
    table = table_around(document, chunk.start)
    if table is None:
        return ""
    lines = document.text[slice(*table)].split("\n")
    figures = next((at for at, line in enumerate(lines) if _is_row_of_figures(line)), _HEAD_LINES)
    head = document.text[table[0] : chunk.start].split("\n")[:figures]
    while len(head) > 1 and len("\n".join(head)) > _HEAD_CHARACTERS:
        del head[0]
    return "\n".join(head)[:_HEAD_CHARACTERS]


def _is_row_of_figures(line: str) -> bool:
    """Whether a row has amounts, a cell that is a figure, or ends with two; years are none."""
    cells, words = line.split("|"), [word for word in line.split() if word not in _SIGNS]
    if len(cells) > 1:
        return any(_FIGURE.fullmatch(cell.strip()) for cell in cells)
    return bool(words) and (
        any(map(_AMOUNT.fullmatch, words)) or all(map(_FIGURE.fullmatch, words[-2:]))
    )


def table_around(document: ParsedDocument, offset: int) -> Span | None:
    """The table that begins before an offset and ends after it."""
    index = bisect_left(document.tables, (offset, 0)) - 1
    return document.tables[index] if index >= 0 and offset < document.tables[index][1] else None


def without(text: str, start: int, end: int, left_out: Iterable[Span], blank: str = "") -> str:
    """`text[start:end]`, each character of the spans replaced by `blank`."""
    parts = []
    for span_start, span_end in left_out:
        parts += [text[start:span_start], blank * (span_end - span_start)]
        start = span_end
    return "".join([*parts, text[start:end]])
