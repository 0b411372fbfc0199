"""HTML tables: which of them hold data, and their cells by row and column."""

from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from services.retrieval.parsers.flow import Flow
from services.retrieval.parsers.html_tree import BLOCKS, HEADINGS, Event, Words, events, number

_CELLS = frozenset({"td", "th"})
# A browser draws a thousand; nobody reads as many.
_MAX_SPAN = 100


@dataclass(slots=True)
class _Arrangement:
    """What a table is seen to hold so far."""

    is_for_layout: bool
    cells_in_row: int = 0
    has_columns: bool = False


def data_tables(body: LexborNode) -> frozenset[int]:
    """The tables that hold cells, and are not there to arrange the page.

    A table arranges the page when it has one column, or holds headings or tables.
    """
    found: set[int] = set()
    above: list[_Arrangement] = []
    for event, node in events(body):
        tag = node.tag or ""
        if event is Event.START:
            if above and (tag == "table" or tag in HEADINGS):
                above[-1].is_for_layout = True
            if tag == "table":
                above.append(_Arrangement(node.attributes.get("role") in {"presentation", "none"}))
            elif above and tag == "tr":
                above[-1].cells_in_row = 0
            elif above and tag in _CELLS:
                above[-1].cells_in_row += 1
                above[-1].has_columns |= above[-1].cells_in_row > 1
        elif event is Event.END and tag == "table":
            table = above.pop()
            if table.has_columns and not table.is_for_layout:
                found.add(node.mem_id)
    return frozenset(found)


def write(table: LexborNode, flow: Flow) -> None:
    """Writes a table that holds data, its caption above it."""
    grid = _Grid()
    words = Words()
    for event, node in events(table):
        tag = node.tag or ""
        if event is Event.TEXT:
            words.add(node.text_content or "")
            continue
        if tag in _CELLS or tag == "caption":
            said = words.taken()
            if event is Event.END and tag == "caption":
                flow.paragraph(said)
            elif event is Event.END:
                grid.add(node, said)
        elif tag in BLOCKS:
            words.add(" ")
        if event is Event.START:
            words.start(tag)
            if tag == "tr":
                grid.start_row()
        else:
            words.end(tag)
    flow.table(*grid.table())


class _Grid:
    """A table's cells by row and column."""

    def __init__(self) -> None:
        self._rows: list[list[str]] = []
        self._headers: list[bool] = []
        # By column, the cell that reaches down from above, and for how many rows more.
        self._hanging: dict[int, tuple[str, int]] = {}

    def start_row(self) -> None:
        self._fill()
        self._rows.append([])
        self._headers.append(True)

    def add(self, node: LexborNode, words: str) -> None:
        if not self._rows:
            self.start_row()
        self._fill()
        row = self._rows[-1]
        is_header = node.tag == "th"
        self._headers[-1] &= is_header or not words or _is_in_head(node)
        rows = _span(node, "rowspan")
        for column in range(_span(node, "colspan")):
            said = words if not column or is_header else ""
            if rows > 1:
                self._hanging[len(row)] = (said, rows - 1)
            row.append(said)

    def table(self) -> tuple[list[list[str]], int]:
        """The rows, and how many of them are the header."""
        self._fill()
        count = next((n for n, header in enumerate(self._headers) if not header), 0)
        return self._rows, count

    def _fill(self) -> None:
        """Goes on in a row behind the cells that reach into it."""
        row = self._rows[-1] if self._rows else []
        while len(row) in self._hanging:
            words, rows = self._hanging.pop(len(row))
            if rows > 1:
                self._hanging[len(row)] = (words, rows - 1)
            row.append(words)


def _span(cell: LexborNode, attribute: str) -> int:
    return min(max(number(cell, attribute, 1), 1), _MAX_SPAN)


def _is_in_head(cell: LexborNode) -> bool:
    row = cell.parent
    return row is not None and row.parent is not None and row.parent.tag == "thead"
