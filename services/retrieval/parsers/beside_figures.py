"""What tables print beside a figure in cells of its own, as filings do: "$", "(34" and ")"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from services.retrieval.parsers.table_header import Cell, Row

_SIGN = r"(?:[A-Z]{1,3})?[$\u00a2\u00a3\u00a5\u20a0-\u20bf]"
_BRACKET = re.compile(rf"(?:{_SIGN}\s?)?\((?:\s?{_SIGN})?")
_CURRENCY = re.compile(_SIGN)
_END_OF_BRACKET = re.compile(r"\)\s?%?|%\s?\)")
_SHARE = re.compile("[%\u2030]")
_NOTE = re.compile(
    "\\((?:\\d{1,2}|[a-z])\\)|[*\u2020\u2021]{1,3}|\\(?[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+\\)?"
)
_DASH = "[-\u2010-\u2015\u2212]"
# Not a year, which may name a column.
_FIGURE = re.compile(
    rf"(?!(?:19|20)\d\d\Z)(?:{_SIGN}\s?)?\(?(?:{_DASH}\s?)?(?:{_SIGN}\s?)?"
    rf"\.?\d[\d.,' \u00a0]*%?\)?%?|{_DASH}+"
)


def joined(rows: Sequence[Row], header_rows: int) -> list[Row]:
    """The rows of a table, each figure with what is printed beside it.

    A bracket belongs to a figure wherever it stands. A currency sign, a percent sign or a note's
    mark may have a column of its own: it is the figure's where nothing else is in its column, and
    no other header is above it.
    """
    header, body = rows[:header_rows], rows[header_rows:]
    columns = _Columns(
        header,
        before=_columns_of(body, _CURRENCY, _BRACKET),
        behind=_columns_of(body, _SHARE, _NOTE, _END_OF_BRACKET),
    )
    return [*header, *(_joined(row, columns) for row in body)]


@dataclass(frozen=True, slots=True)
class _Columns:
    """The header, and the columns of nothing but what stands before figures, or behind them."""

    header: Sequence[Row]
    before: frozenset[int]
    behind: frozenset[int]

    def opens(self, row: Row, column: int, figure: int) -> bool:
        words = row[column].words
        if _CURRENCY.fullmatch(words):
            return column in self.before and self._are_one(column, figure)
        return _BRACKET.fullmatch(words) is not None

    def closes(self, row: Row, column: int, figure: int, said: str) -> bool:
        words = row[column].words
        if _END_OF_BRACKET.fullmatch(words):
            return said.count("(") > said.count(")")
        # Without a header, "(1)" may be a figure below zero.
        is_mark = _SHARE.fullmatch(words) or (self.header and _NOTE.fullmatch(words))
        return bool(is_mark) and column in self.behind and self._are_one(column, figure)

    def _are_one(self, column: int, figure: int) -> bool:
        """Whether a column has no other header than that of the figure beside it."""
        return all(
            column >= len(row)
            or not row[column].words
            or (figure < len(row) and _start(row, column) == _start(row, figure))
            for row in self.header
        )


def _columns_of(rows: Sequence[Row], *kinds: re.Pattern[str]) -> frozenset[int]:
    """Columns that hold nothing else, apart from what goes on in the next column."""
    others: set[int] = set()
    found: set[int] = set()
    for row in rows:
        for column in _starts(row):
            words = row[column].words
            if any(kind.fullmatch(words) for kind in kinds):
                found.add(column)
            elif words and not (column + 1 < len(row) and row[column + 1].goes_on):
                others.add(column)
    return frozenset(found - others)


def _joined(row: Row, columns: _Columns) -> Row:
    written = list(row)
    starts = list(_starts(row))
    last = -1
    for at, figure in enumerate(starts):
        if at <= last or not _FIGURE.fullmatch(row[figure].words):
            continue
        said, first = row[figure].words, at
        while first > last + 1 and columns.opens(row, starts[first - 1], figure):
            first -= 1
            said = row[starts[first]].words + said
        last = at
        while last + 1 < len(starts) and columns.closes(row, starts[last + 1], figure, said):
            last += 1
            mark = row[starts[last]].words
            said += f" {mark}" if _NOTE.fullmatch(mark) else mark
        for beside in starts[first : last + 1]:
            written[beside] = Cell("")
        written[figure] = replace(row[figure], words=said)
    return written


def _starts(row: Row) -> Iterator[int]:
    return (column for column, cell in enumerate(row) if not cell.goes_on)


def _start(row: Row, column: int) -> int:
    while row[column].goes_on:
        column -= 1
    return column
