"""A blank line above each paragraph: what only a PDF's layout says, said in its text.

Whoever reads a passage later has its text alone. Without this a heading runs into the sentence
below it, and its words seem to govern that sentence.
"""

from bisect import bisect_left, bisect_right
from dataclasses import replace
from itertools import pairwise

from services.retrieval.document import ParsedDocument


def spaced(document: ParsedDocument) -> ParsedDocument:
    """The document with an empty line before every paragraph and table but the first.

    Rows of a table stay together. Everything that counts characters is counted anew.
    """
    text, tables = document.text, document.tables
    starts = {*document.paragraphs, *(start for start, _ in tables)}
    inside = (start for start in document.paragraphs for t in tables if t[0] < start < t[1])
    gaps = sorted(starts.difference(inside, {0}))
    cuts = [0, *gaps, len(text)]

    def first(offset: int) -> int:
        """Of what begins at an offset: it goes below the blank line."""
        return offset + bisect_right(gaps, offset)

    def last(offset: int) -> int:
        """Of what ends at an offset, or of a page, whose blank line is its own."""
        return offset + bisect_left(gaps, offset)

    return replace(
        document,
        text="\n".join(text[start:end] for start, end in pairwise(cuts)),
        pages=tuple(replace(p, start=last(p.start), end=last(p.end)) for p in document.pages),
        lines=tuple(replace(o, start=first(o.start), end=last(o.end)) for o in document.lines),
        headings=tuple(
            replace(h, start=first(h.start), end=last(h.end)) for h in document.headings
        ),
        furniture=tuple((first(start), last(end)) for start, end in document.furniture),
        paragraphs=tuple(first(start) for start in document.paragraphs),
        tables=tuple((first(start), last(end)) for start, end in tables),
    )
