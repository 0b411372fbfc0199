"""Headings of a PDF, from its outline, its section numbers and its type."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pypdfium2

from services.retrieval.document import Heading
from services.retrieval.parsers import numbering, section_sequence
from services.retrieval.parsers.pdf_layout import PlacedLine
from services.retrieval.parsers.pdf_levels import MAX_LEVEL, Found, Style, headings

_MAX_LINES = 3
_MAX_WORDS = 16
_MIN_LETTERS = 3
# Type this much larger than the body's is a heading's.
_LARGER = 1.12
# A document's first section is within so many lines of the next.
_SECTION_LINES = 500
# What follows a heading that is only bold must be prose: a line of at least this length.
_PROSE = 40


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of a PDF's outline; level 1 is outermost."""

    title: str
    page_number: int
    level: int


def outline(pdf: pypdfium2.PdfDocument) -> Iterator[Bookmark]:
    """The outline's entries that name a page, in order."""
    for bookmark in pdf.get_toc(max_depth=MAX_LEVEL):
        destination = bookmark.get_dest()
        index = destination.get_index() if destination else None
        try:
            title = bookmark.get_title()
        except UnicodeDecodeError:
            continue
        if index is not None:
            yield Bookmark(title, index + 1, bookmark.level + 1)


def find(
    lines: Sequence[PlacedLine],
    starts: Collection[int],
    tabular: Collection[int],
    bookmarks: Sequence[Bookmark],
) -> tuple[Heading, ...]:
    """The headings among the lines of the running text.

    A line is a heading when the outline names it, when it begins with a section number and is set
    as a title, when its type is larger than the body's, or when it is bold, short and followed by
    prose. A paragraph that begins with a section number ("Section 4.2: Any corporate entity ...")
    has a heading run in: the number alone.

    Args:
        lines: The running text.
        starts: Indices of the lines that begin a paragraph.
        tabular: Indices of the lines that are in a table.
        bookmarks: The outline.
    """
    page = _Text(lines, starts, tabular)
    named = _match_outline(lines, bookmarks)
    found: list[Found] = []
    previous: numbering.Numbered | None = None
    index = 0
    while index < len(lines):
        heading = named.get(index) or page.heading_at(index, previous)
        if heading is None:
            index += 1
            continue
        found.append(heading)
        previous = heading.numbered or previous
        index = heading.end
    return tuple(headings(lines, found))


class _Text:
    """The running text, asked line by line whether a heading begins there."""

    def __init__(
        self, lines: Sequence[PlacedLine], starts: Collection[int], tabular: Collection[int]
    ) -> None:
        self._lines = lines
        self._starts = starts
        self._tabular = tabular
        self._read = [numbering.read(line.text) for line in lines]
        self._styles = [Style.of(line) for line in lines]
        characters: Counter[Style] = Counter()
        for line, style in zip(lines, self._styles, strict=True):
            characters[style] += len(line.text)
        self._body = characters.most_common(1)[0][0] if lines else Style(0.0, bold=False)

    def heading_at(self, index: int, previous: numbering.Numbered | None) -> Found | None:
        line = self._lines[index]
        numbered = self._read[index]
        if numbering.is_contents_line(line.text, numbered):
            return None
        if numbered is None:
            return self._by_type(index)
        may_number = self._may_number(index, numbered) or self._is_next(index, numbered, previous)
        stands_out = self._stands_out(index) and may_number
        whole_line = not numbered.title or numbering.is_titled(numbered, stands_out=stands_out)
        if whole_line and stands_out and not numbered.stands_alone:
            # Sections with much space behind their numbers look like rows.
            is_row = index in self._tabular and not (
                previous and numbered.depth > 1 and section_sequence.follows(numbered, previous)
            )
            return None if is_row else Found(index, self._end_of_title(index), numbered)
        if index in self._tabular or not self._begins_paragraph(index, numbered):
            return None
        is_last = index + 1 == len(self._lines)
        alone = whole_line and (is_last or index + 1 in self._starts)
        is_title = alone and numbered.kind != "bare"
        next_line = "" if is_last else self._lines[index + 1].text
        if is_title or section_sequence.starts_section(
            numbered, previous, next_line, self._later(index)
        ):
            return Found(index, index + 1, numbered, run_in=not alone)
        return None

    def _begins_paragraph(self, index: int, numbered: numbering.Numbered) -> bool:
        if index in self._starts:
            return True
        beside = [at for at in (index - 1, index + 1) if at < len(self._lines)]
        page = self._lines[index].page_number
        around = (self._read[at] for at in beside if self._lines[at].page_number == page)
        return section_sequence.parts_paragraph(numbered, self._lines[index - 1].text, around)

    def _later(self, index: int) -> Iterator[numbering.Numbered | None]:
        """What the paragraphs below a line begin with."""
        for below in range(index + 1, min(index + _SECTION_LINES, len(self._lines))):
            if below in self._starts and below not in self._tabular:
                yield self._read[below]

    def _stands_out(self, index: int) -> bool:
        style = self._styles[index]
        return style.size >= _LARGER * self._body.size or (style.bold and not self._body.bold)

    def _may_number(self, index: int, numbered: numbering.Numbered) -> bool:
        """Bold type alone does not make a section of "12 months ended"; a word or a point does."""
        larger = self._styles[index].size >= _LARGER * self._body.size
        return larger or numbered.kind != "bare" or numbered.marked or numbered.depth > 1

    def _is_next(
        self, index: int, numbered: numbering.Numbered, previous: numbering.Numbered | None
    ) -> bool:
        """Whether a number is one more than the last section's, over prose: "2 Background"."""
        last = previous.section_id.partition(".")[0] if previous else "0"
        end = self._end_of_title(index)
        return (
            index in self._starts
            and last.isdecimal()
            and numbered.section_id == str(int(last) + 1)
            and end < len(self._lines)
            and self._is_prose_below(index, end)
        )

    def _end_of_title(self, first: int) -> int:
        """Index after the last line of a title: lines that go on in the same type without a gap."""
        end = first + 1
        while (
            end < len(self._lines)
            and end - first < _MAX_LINES
            and end not in self._starts
            and end not in self._tabular
            and self._styles[end] == self._styles[first]
            and self._lines[end].page_number == self._lines[first].page_number
            and self._read[end] is None
        ):
            end += 1
        return end

    def _by_type(self, index: int) -> Found | None:
        """A heading without a number: set as one, and worded as one."""
        if index not in self._starts or index in self._tabular or not self._stands_out(index):
            return None
        end = self._end_of_title(index)
        if end == len(self._lines) or not self._is_worded_as_title(index, end):
            return None
        if self._styles[end] == self._styles[index] and end not in self._starts:
            # The type goes on for more lines than a title has: large print.
            return None
        larger = self._styles[index].size >= _LARGER * self._body.size
        return Found(index, end, None) if larger or self._is_prose_below(index, end) else None

    def _is_worded_as_title(self, first: int, end: int) -> bool:
        lines = self._lines[first:end]
        words = " ".join(line.text for line in lines).split()
        return (
            len(words) <= _MAX_WORDS
            and sum(map(str.isalpha, "".join(words))) >= _MIN_LETTERS
            and (words[0][0].isupper() or words[0][0].isdigit())
            and words[-1][-1] not in ".,;:"
            and not any(line.printed.columns for line in lines)
        )

    def _is_prose_below(self, title: int, index: int) -> bool:
        """Whether a line that follows a title is running text on the same page, not a table."""
        line = self._lines[index]
        return (
            index not in self._tabular
            and not line.printed.bold
            and len(line.text) >= _PROSE
            and line.page_number == self._lines[title].page_number
        )


def _match_outline(
    lines: Sequence[PlacedLine], bookmarks: Sequence[Bookmark]
) -> Mapping[int, Found]:
    """By index of the first line, the headings that the outline names on their pages."""
    on_page: defaultdict[int, list[int]] = defaultdict(list)
    if bookmarks:
        for index, line in enumerate(lines):
            on_page[line.page_number].append(index)
    named: dict[int, Found] = {}
    for bookmark in bookmarks:
        title = _fold(bookmark.title)
        for index in on_page[bookmark.page_number]:
            end = _end_of_match(lines, index, title)
            if end and index not in named:
                numbered = numbering.read(lines[index].text)
                named[index] = Found(index, end, numbered, outline_level=bookmark.level)
                break
    return named


def _end_of_match(lines: Sequence[PlacedLine], first: int, title: str) -> int:
    """Index after the lines that together read as the title, its number aside; 0 if they do not."""
    if not title:
        return 0
    numbered = numbering.read(lines[first].text)
    printed = _fold(lines[first].text)
    beginnings = {printed, _fold(numbered.title)} if numbered and numbered.title else {printed}
    for end in range(first + 1, min(first + 1 + _MAX_LINES, len(lines) + 1)):
        if title in beginnings:
            return end
        beginnings = {start for start in beginnings if title.startswith(start)}
        if not beginnings or end == len(lines):
            return 0
        beginnings = {start + _fold(lines[end].text) for start in beginnings}
    return 0


def _fold(words: str) -> str:
    return "".join(filter(str.isalnum, words.casefold()))
