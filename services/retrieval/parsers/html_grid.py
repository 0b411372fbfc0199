"""The cells of an HTML table by row and column, and which of its rows are headers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from selectolax.lexbor import LexborNode

from services.retrieval.parsers.html_tree import number
from services.retrieval.parsers.table_header import Cell, bold_rows, is_heads, is_title

# A browser draws a thousand; nobody reads as many.
_MAX_SPAN = 100
_GROUPS = frozenset({"thead", "tbody", "tfoot"})


@dataclass(slots=True)
class _Row:
    """A row, and whether it is in the table's head, or of nothing but headers of columns."""

    in_head: bool
    is_header: bool = True
    cells: list[Cell] = field(default_factory=list)


class Grid:
    """A table as it is filled, cell by cell."""

    def __init__(self) -> None:
        self._rows: list[_Row] = []
        self._in_head = False
        # By column, what reaches down into the row, and into those after it for how many more.
        self._above: dict[int, Cell] = {}
        self._hanging: dict[int, tuple[Cell, int]] = {}

    def start(self, tag: str) -> None:
        """A row begins, or a head, body or foot: no cell reaches from one into the next."""
        if tag in _GROUPS:
            self._end_row()
            self._in_head = tag == "thead"
            self._hanging.clear()
        elif tag == "tr":
            self._start_row()

    def add(self, node: LexborNode, words: str, *, is_bold: bool) -> None:
        """The next cell of the row."""
        if not self._rows:
            self._start_row()
        row = self._rows[-1]
        row.is_header &= not words or _is_header(node)
        while len(row.cells) in self._above:
            row.cells.append(self._above[len(row.cells)])
        rows = _span(node, "rowspan", at_zero=_MAX_SPAN)
        for column in range(_span(node, "colspan")):
            cell = Cell(words, is_bold, goes_on=column > 0)
            if rows > 1:
                self._hanging[len(row.cells)] = (cell, rows - 1)
            row.cells.append(cell)

    def tables(self) -> Iterator[tuple[list[list[Cell]], int]]:
        """The rows that say something, and how many of them are the header.

        Where columns get other headers further down, another table begins.
        """
        self._end_row()
        rows = [row for row in self._rows if any(cell.words for cell in row.cells)]
        first = _header_rows(rows)
        starts = [
            index
            for index, (above, row) in enumerate(pairwise(rows), 1)
            if index > first and _opens(row) and not _opens(above)
        ]
        for start, end in pairwise([0, *starts, len(rows)]):
            cells = [row.cells for row in rows[start:end]]
            yield cells, _header_rows(rows[start:end]) or bold_rows(cells)

    def _start_row(self) -> None:
        self._end_row()
        self._rows.append(_Row(self._in_head))
        self._above = {column: cell for column, (cell, _) in self._hanging.items()}
        self._hanging = {
            column: (cell, rows - 1) for column, (cell, rows) in self._hanging.items() if rows > 1
        }

    def _end_row(self) -> None:
        """What reaches down behind the last cell of a row is in it too."""
        for column in sorted(self._above):
            cells = self._rows[-1].cells
            if column >= len(cells):
                cells += [Cell("")] * (column - len(cells))
                cells.append(self._above[column])
        self._above = {}


def _header_rows(rows: Sequence[_Row]) -> int:
    """How many rows at the top are marked as headers; none where nothing is below them.

    Outside of the table's head, what stands below the names of columns may be the title of the rows
    that follow, or a row that is named and has no figures.
    """
    named = False
    for count, row in enumerate(rows):
        if not row.in_head and not (row.is_header and (_names_all(row) or not named)):
            return count
        named = named or not is_title(row.cells)
    return 0


def _names_all(row: _Row) -> bool:
    """Whether a row says something else in other columns, in each from the first that it names."""
    said = [bool(cell.words) for cell in row.cells]
    return all(said[said.index(True) :]) and not is_title(row.cells)


def _opens(row: _Row) -> bool:
    return row.is_header and is_heads(row.cells) and _names_all(row)


def _is_header(cell: LexborNode) -> bool:
    """Whether a cell is marked as the header of a column."""
    return cell.tag == "th" and cell.attributes.get("scope") not in {"row", "rowgroup"}


def _span(cell: LexborNode, attribute: str, *, at_zero: int = 1) -> int:
    span = number(cell, attribute, 1)
    return min(max(span, 1), _MAX_SPAN) if span else at_zero
