"""HTML: what a reader sees of it, from the tree that a browser would build."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from selectolax.lexbor import LexborHTMLParser, LexborNode

from services.retrieval.document import ParsedDocument
from services.retrieval.parsers.flow import Flow

CONTENT_TYPE = "text/html"

_UNSEEN = frozenset(
    {
        *("head", "script", "style", "noscript", "template", "nav", "svg", "canvas", "iframe"),
        *("object", "video", "audio", "map", "button", "select", "textarea", "input", "datalist"),
    }
)
_HIDDEN_STYLE = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    {
        *("address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog"),
        *("div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header"),
        *("hgroup", "hr", "legend", "main", "ol", "p", "pre", "search", "section", "summary"),
        *("table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul", "caption", "li"),
        *_HEADINGS,
    }
)
_CELLS = frozenset({"td", "th"})
_SPACE = re.compile(r"[ \t\n\r\f]+")
_SUPERSCRIPT = str.maketrans(
    "0123456789", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
)
_BULLET = "\u2022 "
# A browser draws a thousand; nobody reads as many.
_MAX_SPAN = 100
_COUNT = re.compile(r"[0-9]{1,6}")

_DECLARED = re.compile(
    rb"<(?:meta|\?xml)\b[^>]*?(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE
)
_DECLARED_WITHIN = 2048


class _Event(Enum):
    START = auto()
    TEXT = auto()
    END = auto()
    TABLE = auto()


def declared_charset(data: bytes) -> str:
    """The encoding that a page says it is in; empty when it does not say."""
    found = _DECLARED.search(data, 0, _DECLARED_WITHIN)
    name = found[1].decode("ascii").lower() if found else ""
    # It could be read: whatever it is, it is no UTF-16.
    return "utf-8" if name.startswith("utf-16") else name


def parse(text: str) -> ParsedDocument:
    """Read a page: text, headings, lists and tables, without what is hidden or leads elsewhere.

    Scripts, styles, navigation, forms' controls and hidden elements are left out, pictures and
    links give their visible text alone. Headers and footers of the page are furniture.
    """
    flow = Flow()
    write(text, flow)
    return flow.document(CONTENT_TYPE)


def write(text: str, flow: Flow) -> None:
    """Writes what is to be read of a page."""
    body = LexborHTMLParser(text).body
    if body is not None:
        _Reader(flow).read(body)


class _Reader:
    """Writes elements as blocks, and remembers in what it is."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._words = _Words()
        self._level = 0
        self._marker = ""
        # The number of the next item; 0 in a list without numbers.
        self._lists: list[int] = []
        self._sections = 0
        self._furniture = 0

    def read(self, body: LexborNode) -> None:
        for event, node in _events(body, _data_tables(body)):
            match event:
                case _Event.START:
                    self._start(node)
                case _Event.END:
                    self._end(node)
                case _Event.TEXT:
                    self._words.add(node.text_content or "")
                case _Event.TABLE:
                    self._flush()
                    _write_table(node, self._flow)
        self._flush()

    def _start(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _BLOCKS:
            self._flush()
        self._words.start(tag)
        match tag:
            case "ul" | "ol":
                start = _number(node, "start", 1) if tag == "ol" else 0
                self._lists.append(start)
            case "li":
                self._marker = self._next_marker()
            case "header" | "footer":
                self._furniture += self._is_furniture(node)
            case "article" | "section" | "main":
                self._sections += 1
        self._level = _HEADINGS.get(tag, self._level)

    def _end(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _BLOCKS:
            self._flush()
        self._words.end(tag)
        match tag:
            case "ul" | "ol":
                self._lists.pop()
            case "li":
                self._marker = ""
            case "header" | "footer":
                self._furniture -= self._is_furniture(node)
            case "article" | "section" | "main":
                self._sections -= 1
        if tag in _HEADINGS:
            self._level = 0

    def _is_furniture(self, node: LexborNode) -> bool:
        """Whether a header or footer is the site's, not an article's and without a title."""
        return not self._sections and node.css_first(", ".join(_HEADINGS)) is None

    def _next_marker(self) -> str:
        if not self._lists or not self._lists[-1]:
            return _BULLET
        self._lists[-1] += 1
        return f"{self._lists[-1] - 1}. "

    def _flush(self) -> None:
        words = self._words.taken()
        if not words:
            return
        if self._furniture:
            self._flow.furniture(words)
        elif self._level:
            self._flow.heading(words, self._level)
        elif self._marker:
            self._flow.item(self._marker + words)
            self._marker = ""
        else:
            self._flow.paragraph(words)


class _Words:
    """The words of a block as they are gathered, white space as a browser shows it."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._preformatted = 0
        self._raised = 0

    def start(self, tag: str) -> None:
        self._preformatted += tag == "pre"
        self._raised += tag == "sup"
        if tag == "br":
            self._parts.append("\n")

    def end(self, tag: str) -> None:
        self._preformatted -= tag == "pre"
        self._raised -= tag == "sup"

    def add(self, text: str) -> None:
        if not self._preformatted:
            text = _SPACE.sub(" ", text)
        # The mark of a footnote must not become a figure's last digit.
        self._parts.append(text.translate(_SUPERSCRIPT) if self._raised else text)

    def taken(self) -> str:
        """The words so far; the next begin anew."""
        words, self._parts = "".join(self._parts), []
        if self._preformatted:
            return words.strip("\n") if words.strip() else ""
        return "\n".join(_SPACE.sub(" ", line).strip() for line in words.split("\n")).strip()


def _events(root: LexborNode, tables: Collection[int] = ()) -> Iterator[tuple[_Event, LexborNode]]:
    """What is seen below an element, in order; tables that are named are one event each.

    It is not recursive, for a page may nest without end.
    """
    above: list[LexborNode] = []
    node = root.first_child
    while node is not None or above:
        if node is None:
            node = above.pop()
            yield _Event.END, node
        elif node.tag == "-text":
            yield _Event.TEXT, node
        elif node.mem_id in tables:
            yield _Event.TABLE, node
        elif node.is_element_node and not _is_unseen(node):
            yield _Event.START, node
            above.append(node)
            node = node.first_child
            continue
        node = node.next


def _is_unseen(node: LexborNode) -> bool:
    if node.tag in _UNSEEN:
        return True
    attributes = node.attributes
    return (
        "hidden" in attributes
        or attributes.get("role") == "navigation"
        or _HIDDEN_STYLE.search(attributes.get("style") or "") is not None
    )


@dataclass(slots=True)
class _Arrangement:
    """What a table is seen to hold so far."""

    is_for_layout: bool
    cells_in_row: int = 0
    has_columns: bool = False


def _data_tables(body: LexborNode) -> frozenset[int]:
    """The tables that hold cells, and are not there to arrange the page.

    A table arranges the page when it has one column, or holds headings or tables.
    """
    found: set[int] = set()
    above: list[_Arrangement] = []
    for event, node in _events(body):
        tag = node.tag or ""
        if event is _Event.START:
            if above and (tag == "table" or tag in _HEADINGS):
                above[-1].is_for_layout = True
            if tag == "table":
                above.append(_Arrangement(node.attributes.get("role") in {"presentation", "none"}))
            elif above and tag == "tr":
                above[-1].cells_in_row = 0
            elif above and tag in _CELLS:
                above[-1].cells_in_row += 1
                above[-1].has_columns |= above[-1].cells_in_row > 1
        elif event is _Event.END and tag == "table":
            table = above.pop()
            if table.has_columns and not table.is_for_layout:
                found.add(node.mem_id)
    return frozenset(found)


def _write_table(table: LexborNode, flow: Flow) -> None:
    grid = _Grid()
    words = _Words()
    for event, node in _events(table):
        tag = node.tag or ""
        if event is _Event.TEXT:
            words.add(node.text_content or "")
            continue
        if tag in _CELLS or tag == "caption":
            said = words.taken()
            if event is _Event.END and tag == "caption":
                flow.paragraph(said)
            elif event is _Event.END:
                grid.add(node, said)
        elif tag in _BLOCKS:
            words.add(" ")
        if event is _Event.START:
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
        rows = min(_number(node, "rowspan", 1), _MAX_SPAN)
        for column in range(min(_number(node, "colspan", 1), _MAX_SPAN)):
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


def _is_in_head(cell: LexborNode) -> bool:
    row = cell.parent
    return row is not None and row.parent is not None and row.parent.tag == "thead"


def _number(node: LexborNode, attribute: str, default: int) -> int:
    value = (node.attributes.get(attribute) or "").strip()
    return max(int(value), 1) if _COUNT.fullmatch(value) else default
