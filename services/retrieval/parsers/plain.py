"""Plain text: form feeds end pages, blank lines end paragraphs, numbered lines start sections."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import TypeGuard

from services.retrieval.document import Heading, Line, Page, ParsedDocument
from services.retrieval.parsers import numbering, section_sequence

CONTENT_TYPE = "text/plain"
_LINE = re.compile(r"[^\n\f]+")
_PAGE = re.compile(r"[^\f]*\f|[^\f]+")


def parse(text: str) -> ParsedDocument:
    """Read text whose lines end with a line feed; offsets are into this text."""
    pages = tuple(
        Page(number, page.start(), page.end())
        for number, page in enumerate(_PAGE.finditer(text), start=1)
    )
    lines = tuple(lines_of(text, pages))
    starts = [
        index
        for index, line in enumerate(lines)
        if index == 0 or _are_parted(text, lines[index - 1], line)
    ]
    return ParsedDocument(
        text=text,
        pages=pages,
        lines=lines,
        headings=tuple(headings(text, lines, starts)),
        furniture=(),
        content_type=CONTENT_TYPE,
        has_page_images=False,
        paragraphs=tuple(lines[index].start for index in starts),
    )


def lines_of(text: str, pages: Iterable[Page]) -> Iterator[Line]:
    """The lines that are not blank."""
    for page in pages:
        for match in _LINE.finditer(text, page.start, page.end):
            if not match.group().isspace():
                yield Line(match.start(), match.end(), page.number, None)


def _are_parted(text: str, above: Line, line: Line) -> bool:
    """Whether a paragraph ends between two lines: at a blank line, or a page after a sentence."""
    if above.page_number != line.page_number:
        return section_sequence.ends_sentence(text[above.start : above.end])
    return text.count("\n", above.end, line.start) > 1


@dataclass(frozen=True, slots=True)
class _Found:
    line: Line
    numbered: numbering.Numbered
    whole_line: bool


def headings(
    text: str,
    lines: Sequence[Line],
    starts: Sequence[int],
    apart: Mapping[int, numbering.Numbered | None] = MappingProxyType({}),
) -> Iterator[Heading]:
    """Section numbers that begin a paragraph, alone or with its title.

    Args:
        text: The document's text.
        lines: Those that are not blank.
        starts: Indices of the lines that begin a paragraph, or an item, a table and the like.
        apart: Those of them that begin no paragraph, with the number of those that are headings.
    """
    found = list(_find(text, lines, starts, apart))
    levels = section_sequence.levels([heading.numbered for heading in found])
    for heading, level in zip(found, levels, strict=True):
        start, end = heading.line.start, heading.line.end
        title = text[start:end]
        if not heading.whole_line:
            end = start + heading.numbered.label_end
            title = numbering.label(title, heading.numbered)
        yield Heading(
            start=start,
            end=end,
            level=level,
            section_id=heading.numbered.section_id,
            title=" ".join(title.split()),
        )


def nested(named: Iterable[Heading], found: Iterable[Heading]) -> Iterator[Heading]:
    """Headings that the source names, and those found in its text below them."""
    above = 0
    names = set(named)
    for heading in sorted([*names, *found], key=lambda heading: heading.start):
        if heading in names:
            above = heading.level
            yield heading
        else:
            yield replace(heading, level=max(heading.level, above + 1))


def _find(
    text: str,
    lines: Sequence[Line],
    starts: Sequence[int],
    apart: Mapping[int, numbering.Numbered | None],
) -> Iterator[_Found]:
    """Paragraphs that are one numbered line, or that begin with a section number."""
    words = [text[line.start : line.end] for line in lines]
    read = [numbering.read(line) for line in words]
    paragraphs = list(_paragraphs(lines, words, read, starts, apart))
    begun = [None if first in apart else read[first] for first, _ in paragraphs]
    previous: numbering.Numbered | None = None
    for position, (first, end) in enumerate(paragraphs):
        previous = apart.get(first) or previous
        numbered = begun[position]
        if numbered is None or numbering.is_contents_line(words[first], numbered):
            continue
        alone = end - first == 1 and (not numbered.title or numbering.is_titled(numbered))
        is_title = alone and not numbered.stands_alone and not _is_in_list(begun, position)
        later = (begun[below] for below in range(position + 1, len(begun)))
        next_line = "".join(words[first + 1 : first + 2])
        if is_title or section_sequence.starts_section(numbered, previous, next_line, later):
            previous = numbered
            yield _Found(lines[first], numbered, whole_line=alone)


def _is_in_list(begun: Sequence[numbering.Numbered | None], position: int) -> bool:
    """Whether "4. Due diligence" is no heading: a paragraph beside it is numbered alike."""
    numbered = begun[position]
    beside = (*begun[max(position - 1, 0) : position], *begun[position + 1 : position + 2])
    return _is_item(numbered) and (not numbered.marked or any(map(_is_item, beside)))


def _is_item(numbered: numbering.Numbered | None) -> TypeGuard[numbering.Numbered]:
    return numbered is not None and numbered.kind == "bare" and numbered.depth == 1


def _paragraphs(
    lines: Sequence[Line],
    words: Sequence[str],
    read: Sequence[numbering.Numbered | None],
    starts: Sequence[int],
    apart: Collection[int],
) -> Iterator[tuple[int, int]]:
    """First line and end of each; in one, sections may begin without a blank line above.

    What stands below its last sentence is the title of a section that it does not have.
    """
    for first, end in pairwise([*starts, len(lines)]):
        inside = range(first + 1, end) if first not in apart else ()
        ended = max(
            (index for index in inside if section_sequence.ends_sentence(words[index])), default=0
        )
        cuts = [
            index
            for index in inside
            if index <= ended
            and (numbered := read[index])
            and section_sequence.parts_paragraph(
                numbered, words[index - 1], _around(lines, read, index)
            )
        ]
        yield from pairwise([first, *cuts, end])


def _around(
    lines: Sequence[Line], read: Sequence[numbering.Numbered | None], index: int
) -> Iterator[numbering.Numbered | None]:
    """What the lines above and below, on the same page, begin with."""
    for beside in (index - 1, index + 1):
        if beside < len(lines) and lines[beside].page_number == lines[index].page_number:
            yield read[beside]
