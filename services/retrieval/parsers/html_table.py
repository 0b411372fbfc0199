"""HTML tables: which of them hold data, and their cells by row and column."""

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from services.retrieval.parsers import beside_figures, table_header
from services.retrieval.parsers.flow import Flow
from services.retrieval.parsers.html_grid import Grid
from services.retrieval.parsers.html_tree import BLOCKS, HEADINGS, Event, Words, events

_CELLS = frozenset({"td", "th"})
_BOLD = frozenset({"b", "strong", "th"})
_BOLD_STYLE = re.compile(
    r"(?:^|;)\s*font(?:-weight)?\s*:[^;]*?\b(?:bold|bolder|[6-9]00)\b", re.IGNORECASE
)


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
    grid = Grid()
    words, weight = Words(), _Weight()
    for event, node in events(table):
        tag = node.tag or ""
        if event is Event.TEXT:
            words.add(node.text_content or "")
            weight.add(node.text_content or "")
            continue
        if tag in _CELLS or tag == "caption":
            said, is_bold = words.taken(), weight.taken()
            if event is Event.END and tag == "caption":
                flow.paragraph(said)
            elif event is Event.END:
                grid.add(node, said, is_bold=is_bold)
        elif tag in BLOCKS:
            words.add(" ")
        if event is Event.START:
            words.start(tag)
            weight.start(node)
            grid.start(tag)
        else:
            words.end(tag)
            weight.end(node)
    for rows, header_rows in grid.tables():
        table_header.write(beside_figures.joined(rows, header_rows), header_rows, flow)


class _Weight:
    """Whether the words of a cell are bold as they are gathered."""

    def __init__(self) -> None:
        self._bold = 0
        self._all_bold = True

    def start(self, node: LexborNode) -> None:
        self._bold += _is_bold(node)

    def end(self, node: LexborNode) -> None:
        self._bold -= _is_bold(node)

    def add(self, text: str) -> None:
        self._all_bold = self._all_bold and (self._bold > 0 or not text.strip())

    def taken(self) -> bool:
        """Whether all words so far are bold; the next begin anew."""
        all_bold, self._all_bold = self._all_bold, True
        return all_bold


def _is_bold(node: LexborNode) -> bool:
    return node.tag in _BOLD or _BOLD_STYLE.search(node.attributes.get("style") or "") is not None
