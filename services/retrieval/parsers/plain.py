"""Plain text: form feeds end pages, blank lines end paragraphs, numbered lines start sections."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from services.retrieval.document import Heading, Line, Page, ParsedDocument
from services.retrieval.parsers import numbering

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
        return _ends_sentence(text, above)
    return text.count("\n", above.end, line.start) > 1


def _ends_sentence(text: str, line: Line) -> bool:
    return text[line.start : line.end].rstrip()[-1] in ".!?:;"


@dataclass(frozen=True, slots=True)
class _Found:
    line: Line
    numbered: numbering.Numbered
    whole_line: bool


def headings(text: str, lines: Sequence[Line], starts: Sequence[int]) -> Iterator[Heading]:
    """Section numbers that begin a paragraph, alone or with its title.

    Args:
        text: The document's text.
        lines: Those that are not blank.
        starts: Indices of the lines that begin a paragraph.
    """
    found = list(_find(text, lines, starts))
    levels = numbering.levels([heading.numbered for heading in found])
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


def _find(text: str, lines: Sequence[Line], starts: Sequence[int]) -> Iterator[_Found]:
    """Paragraphs that are one numbered line, or that begin with a section number.

    "4. Due diligence" is a heading only when no paragraph beside it is numbered alike: it would be
    a list.
    """
    read = [numbering.read(text[lines[index].start : lines[index].end]) for index in starts]
    previous: numbering.Numbered | None = None
    for position, (index, end) in enumerate(pairwise([*starts, len(lines)])):
        numbered = read[position]
        if numbered is None or numbering.is_contents_line(numbered.title):
            continue
        around = (*read[max(position - 1, 0) : position], *read[position + 1 : position + 2])
        in_list = (
            numbered.kind == "bare"
            and numbered.depth == 1
            and (
                not numbered.marked or any(n and n.kind == "bare" and n.depth == 1 for n in around)
            )
        )
        alone = end - index == 1 and (not numbered.title or numbering.is_title(numbered.title))
        if (alone and not in_list) or numbering.starts_section(numbered, previous):
            previous = numbered
            yield _Found(lines[index], numbered, whole_line=alone)
