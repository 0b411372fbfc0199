"""Text written block after block, for sources that say themselves what each block is."""

from collections.abc import Iterable, Iterator, Sequence

from services.retrieval.document import Heading, Line, Page, ParsedDocument
from services.retrieval.parsers import numbering, plain
from services.retrieval.parsers.characters import MADE_READABLE, UNREADABLE

# A form feed of the source's own would begin a page.
_CHARACTERS = {**MADE_READABLE, ord("\f"): UNREADABLE}
_CELL_GAP = " | "

Span = tuple[int, int]


class Flow:
    """A document under construction, of one page unless pages are ended.

    Blocks are parted by a blank line; items of a list, rows of a table and furniture by a line
    break. Blank blocks are left out.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._headings: list[Heading] = []
        self._paragraphs: list[int] = []
        self._items: set[int] = set()
        self._tables: list[Span] = []
        self._furniture: list[Span] = []
        self._above = ""
        self._page_starts = [0]

    def end_page(self) -> None:
        """What follows stands on the next page."""
        self._append("\n\f")
        self._page_starts.append(self._length)
        self._above = ""

    def heading(self, words: str, level: int) -> None:
        """A heading; level 1 is outermost."""
        if span := self._write("heading", words):
            title = " ".join(words.split())
            numbered = numbering.read(title)
            section_id = numbered.section_id if numbered else ""
            self._headings.append(Heading(*span, level, section_id, title))

    def paragraph(self, words: str) -> None:
        """A paragraph, which may have line breaks."""
        self._write("paragraph", words)

    def item(self, words: str) -> None:
        """An item of a list with its bullet or number."""
        if span := self._write("item", words):
            self._items.add(span[0])

    def furniture(self, words: str) -> None:
        """What is repeated on every page: part of the text, and of no passage's meaning."""
        if span := self._write("furniture", words):
            self._furniture.append(span)

    def table(
        self, rows: Sequence[Sequence[str]], header_rows: int = 0, *, is_continued: bool = False
    ) -> None:
        """A table, a line for each row.

        The header's rows come first, as they stand. In the rows below, each cell has its column's
        header before it, as a screen reader says it ("Item: Revenue | 2024: 2,450"): a row alone
        still tells which column its figures are from.

        Args:
            rows: Cells; one that spans columns is in the first of them, but in each in a header.
            header_rows: How many of the rows are its header.
            is_continued: Whether its header stands above already, and is not written again.
        """
        rows = [[" ".join(cell.split()) for cell in row] for row in rows]
        labels = _labels(rows[:header_rows])
        header = [] if is_continued else rows[:header_rows]
        lines = [_joined(list(_parted(row))) for row in header]
        lines += [_row(row, labels) for row in rows[header_rows:]]
        if span := self._write("table", "\n".join(filter(None, lines))):
            self._tables.append(span)

    def document(self, content_type: str) -> ParsedDocument:
        """What was written."""
        text = "".join(self._parts)
        ends = [*self._page_starts[1:], len(text)]
        pages = tuple(
            Page(number, start, end)
            for number, (start, end) in enumerate(zip(self._page_starts, ends, strict=True), 1)
        )
        lines = tuple(plain.lines_of(text, pages))
        return ParsedDocument(
            text=text,
            pages=pages,
            lines=lines,
            headings=tuple(self._all_headings(text, lines)),
            furniture=tuple(self._furniture),
            content_type=content_type,
            has_page_images=False,
            paragraphs=tuple(self._paragraphs),
            tables=tuple(self._tables),
        )

    def _write(self, kind: str, words: str) -> Span | None:
        words = words.translate(_CHARACTERS).strip()
        if not words:
            return None
        if self._length > self._page_starts[-1]:
            close = kind == self._above and kind in {"item", "furniture"}
            self._append("\n" if close else "\n\n")
        start = self._length
        self._append(words)
        self._paragraphs.append(start)
        self._above = kind
        return start, self._length

    def _append(self, words: str) -> None:
        self._parts.append(words)
        self._length += len(words)

    def _all_headings(self, text: str, lines: Sequence[Line]) -> Iterator[Heading]:
        """Those that the source names, and paragraphs below them that begin with a number."""
        index_of = {line.start: index for index, line in enumerate(lines)}
        blocks = [start for start, _ in (*self._tables, *self._furniture)]
        return plain.nested(
            self._headings,
            plain.headings(
                text,
                lines,
                [index_of[start] for start in self._paragraphs],
                dict.fromkeys(index_of[start] for start in (*self._items, *blocks))
                | {index_of[h.start]: numbering.read(h.title) for h in self._headings},
            ),
        )


def _labels(header: Sequence[Sequence[str]]) -> list[str]:
    """By column, what the rows of the header say of it, each thing once."""
    width = max(map(len, header), default=0)
    columns: Iterable[list[str]] = (
        [row[column] for row in header if column < len(row)] for column in range(width)
    )
    return [" ".join(dict.fromkeys(filter(None, column))) for column in columns]


def _parted(header: Sequence[str]) -> Iterator[str]:
    """A row of the header; a cell that spans columns is said once."""
    for column, cell in enumerate(header):
        if not cell or column == 0 or header[column - 1] != cell:
            yield cell


def _joined(cells: Sequence[str]) -> str:
    """Cells as they stand; those that are empty keep the others' places."""
    return _CELL_GAP.join(cells).rstrip(_CELL_GAP)


def _row(cells: Sequence[str], labels: Sequence[str]) -> str:
    if not labels:
        return _joined(cells)
    if not any(cells[1:]):  # A title between rows.
        return cells[0] if cells else ""
    said = [
        f"{labels[column]}: {cell}" if column < len(labels) and labels[column] else cell
        for column, cell in enumerate(cells)
        if cell
    ]
    return _CELL_GAP.join(said)
