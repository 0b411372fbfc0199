"""Which rows of a table are its header, where the file says what a cell is, and how it is bold."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from services.retrieval.parsers.flow import Flow

# What stands below a header, not in it: "1,250", "USD 5m", "10 days", "-", "n/a"; but not a date.
_VALUE = re.compile(r"\W*(?:[A-Z]{3}\s?)?\W*\d|[-\u2010-\u2015\u2212]+$|n/?a$", re.IGNORECASE)
_DATE = re.compile(
    r"(?<![\d.,])(?:19|20)\d\d(?![\d,]|\.\d)|\d{1,2}[./-]\d{1,2}[./-]\d{2}"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
    re.IGNORECASE,
)
# What figures are in, as it is printed above or beside the names of columns.
_MEASURE = re.compile(
    r"\(.{0,80}?(?:thousand|million|billion|unaudited|000).{0,80}\)", re.IGNORECASE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell in one of its columns; `goes_on` in all but the first that it spans."""

    words: str
    is_bold: bool = False
    goes_on: bool = False


Row = Sequence[Cell]


def is_title(row: Row) -> bool:
    """Whether a row says one thing alone, at its start: of the table, or of the rows below it."""
    return bool(row and row[0].words) and len(_said(row)) == 1


def is_heads(row: Row) -> bool:
    """Whether a row may tell columns apart by its words: all bold, and none of them a value.

    What all figures are in need not be bold.
    """
    said = _said(row)
    if said and said[0] is row[0] and _MEASURE.fullmatch(said[0].words):
        said = said[1:]
    return (
        bool(said)
        and not is_title(row)
        and all(cell.is_bold and not _is_value(cell.words) for cell in said)
    )


def bold_rows(rows: Sequence[Row]) -> int:
    """How many rows at the top are a header because they are bold, and those below are not.

    Below them a total may be bold. Another row of bold words would be a second header, and none of
    the two would hold for all rows.
    """
    titles = len(list(takewhile(_is_title_of_all, rows)))
    heads = len(list(takewhile(is_heads, rows[titles:])))
    below = [row for row in rows[titles + heads :] if _said(row) and not is_title(row)]
    if any(map(is_heads, below)) or all(_is_bold(row) for row in below):
        return 0
    return titles + heads if heads else 0


def write(rows: Sequence[Row], header_rows: int, flow: Flow) -> None:
    """Writes a table; titles at its top go before it, for they say nothing of a column.

    A title may be of the rows up to the next, and not of those behind.
    """
    titles = len(list(takewhile(is_title, rows[:header_rows])))
    if titles == header_rows:
        titles = header_rows = 0
    for row in rows[:titles]:
        flow.paragraph(row[0].words)
    written = [
        ["" if cell.goes_on and number >= header_rows else cell.words for cell in row]
        for number, row in enumerate(rows)
    ]
    flow.table(written[titles:], header_rows - titles)


def _said(row: Row) -> list[Cell]:
    return [cell for cell in row if cell.words and not cell.goes_on]


def _is_bold(row: Row) -> bool:
    return all(cell.is_bold for cell in _said(row))


def _is_title_of_all(row: Row) -> bool:
    return is_title(row) and (_is_bold(row) or _MEASURE.fullmatch(row[0].words) is not None)


def _is_value(words: str) -> bool:
    return _VALUE.match(words) is not None and _DATE.search(words) is None
