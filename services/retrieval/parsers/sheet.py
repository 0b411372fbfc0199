"""What can be seen of a sheet, as tables: which rows belong together, and which are a header."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import islice, takewhile
from typing import NamedTuple

from services.retrieval.parsers.flow import Flow

_MIN_HEADER = 3


class Kind(Enum):
    """What a cell holds. A period is a date, or what may be a year: it can name a column."""

    WORDS = auto()
    FIGURE = auto()
    PERIOD = auto()


class Cell(NamedTuple):
    """A cell as it is shown; one that spans others is the same object in all of them."""

    words: str
    kind: Kind
    is_bold: bool


Row = Mapping[int, Cell]
Rows = dict[int, dict[int, Cell]]


@dataclass(frozen=True, slots=True)
class Area:
    """Rows and columns from 1, the last included."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(slots=True)
class Sheet:
    """The cells of a sheet that can be seen, and what it says of them."""

    rows: Rows = field(default_factory=dict)
    hidden_columns: set[int] = field(default_factory=set)
    hidden_rows: set[int] = field(default_factory=set)
    merged: list[Area] = field(default_factory=list)
    tables: list[Area] = field(default_factory=list)
    frozen: int = 0

    @property
    def headers(self) -> set[int]:
        """Rows that are known to be headers: the first of a table, or those that stay in view."""
        frozen = {row for row in self.rows if row <= self.frozen}
        return {area.top for area in self.tables} | (
            frozen if len(frozen) < len(self.rows) else set()
        )

    def spread(self) -> None:
        """Makes a cell that spans others stand for all of them."""
        lowest = max(self.rows, default=0)
        widest = max((max(cells) for cells in self.rows.values()), default=0)
        for area in self.merged:
            cell = self.rows.get(area.top, {}).get(area.left)
            if cell is None:
                continue
            for row in range(area.top, min(area.bottom, lowest) + 1):
                for column in range(area.left, min(area.right, widest) + 1):
                    if row in self.rows:
                        self.rows[row].setdefault(column, cell)

    def gap(self, above: int, below: int) -> int:
        """Blank rows that are seen between two rows: none, one, or 2 for more; none in a table."""
        if below - above == 1 or any(
            area.top <= above and below <= area.bottom for area in self.tables
        ):
            return 0
        blank = (row for row in range(above + 1, below) if row not in self.hidden_rows)
        return len(list(islice(blank, 2)))


@dataclass(frozen=True, slots=True)
class _Table:
    """A header, and what is below it by column."""

    header: Sequence[Row]
    columns: set[int]
    kinds: Mapping[int, set[Kind]]


def write(sheet: Sheet, flow: Flow) -> None:
    """Writes the rows of a sheet: titles, and below them tables with their headers."""
    above: _Table | None = None
    headers = sheet.headers
    last = 0
    for block in _blocks(sheet):
        if sheet.gap(last, min(block)) > 1:
            above = None
        last = max(block)
        titles = dict(takewhile(lambda numbered: _is_title(numbered[1]), block.items()))
        for title in titles.values():
            flow.paragraph(next(iter(title.values())).words)
        if table := {number: row for number, row in block.items() if number not in titles}:
            above = _write_table(table, headers, above, flow)


def _blocks(sheet: Sheet) -> Iterator[Rows]:
    """Rows that follow each other."""
    block: Rows = {}
    last = 0
    for number in sorted(sheet.rows):
        if block and sheet.gap(last, number):
            yield block
            block = {}
        block[number] = sheet.rows[number]
        last = number
    if block:
        yield block


def _is_title(row: Row) -> bool:
    return len(set(map(id, row.values()))) == 1


def _write_table(rows: Rows, headers: set[int], above: _Table | None, flow: Flow) -> _Table | None:
    """Writes rows with their own header, or under that of the table above; returns what it is."""
    numbers, listed = list(rows), list(rows.values())
    columns = sorted({column for row in listed for column in row})
    known = bisect_right(numbers, max(headers & set(numbers), default=0))
    count = known if 0 < known < len(numbers) else _header_rows(listed)
    goes_on = not count and above is not None and _goes_on(listed, above)
    header = above.header if above and goes_on else listed[:count]
    flow.table(
        [_written(row, columns, keep=True) for row in header]
        + [_written(row, columns, keep=False) for row in listed[count:]],
        len(header),
        is_continued=goes_on,
    )
    if goes_on:
        return above
    if known == len(numbers) or _is_header_alone(listed):
        return _Table(listed, set(columns), {})
    return _Table(header, set(columns), _kinds(listed[count:])) if header else None


def _written(cells: Row, columns: Sequence[int], *, keep: bool) -> list[str]:
    """The words by column; a cell that spans columns is said once below the header."""
    written: list[str] = []
    above: Cell | None = None
    for column in columns:
        cell = cells.get(column)
        written.append(cell.words if cell and (keep or cell is not above) else "")
        above = cell
    return written


def _header_rows(rows: Sequence[Row]) -> int:
    """How many of the first rows are a header by their looks.

    It is bold and what is below it is not, or it is all words above figures. A second row is part
    of it where cells of the first reach down to it or span columns, or it names no row.
    """
    first = rows[0]
    reach = 1
    while reach < len(rows) and any(rows[reach].get(column) is first[column] for column in first):
        reach += 1
    is_parted = len(set(map(id, first.values()))) < len(first)
    if reach == 1 < len(rows) and (is_parted or min(first) not in rows[1]):
        reach = 2
    return next((n for n in (reach, 1) if _is_header(rows[:n], rows[n:])), 0)


def _is_header(header: Sequence[Row], below: Sequence[Row]) -> bool:
    """Two columns are no table without more than words: they may be names and values."""
    row = next((list(row.values()) for row in below if not _is_title(row)), [])
    if not row or len({_is_bold(cells) for cells in header}) > 1:
        return False
    cells = [cell for cells in header for cell in cells.values()]
    if all(cell.is_bold and cell.kind is not Kind.FIGURE for cell in cells) and not all(
        cell.is_bold for cell in row
    ):
        return True
    return (
        all(cell.kind is Kind.WORDS for cell in cells)
        and len({cell.words for cell in cells}) >= _MIN_HEADER
        and any(cell.kind is not Kind.WORDS for cell in row)
    )


def _is_bold(row: Row) -> bool:
    return all(cell.is_bold for cell in row.values())


def _is_header_alone(rows: Sequence[Row]) -> bool:
    """Whether what has a blank row below it can be a header: a bold row of three names or more."""
    cells = rows[0].values()
    return (
        len(rows) == 1
        and len(cells) >= _MIN_HEADER
        and all(cell.is_bold and cell.kind is not Kind.FIGURE for cell in cells)
    )


def _goes_on(rows: Sequence[Row], above: _Table) -> bool:
    """Whether rows below a blank one are of the table above it.

    They begin with figures, as a header does not, and have the same columns with the same in them;
    the column that names the rows may have no header.
    """
    kinds = _kinds(rows)
    columns = set(kinds)
    return (
        any(cell.kind is Kind.FIGURE for cell in rows[0].values())
        and above.columns <= columns <= above.columns | {min(columns)}
        and all(kinds[column] <= above.kinds.get(column, kinds[column]) for column in columns)
    )


def _kinds(rows: Sequence[Row]) -> dict[int, set[Kind]]:
    kinds: defaultdict[int, set[Kind]] = defaultdict(set)
    for row in rows:
        for column, cell in row.items():
            kinds[column].add(cell.kind)
    return dict(kinds)
