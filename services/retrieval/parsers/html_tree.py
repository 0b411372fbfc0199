"""An HTML page's tree as it is walked: what is seen, in order, and the words on the way."""

import re
from collections.abc import Collection, Iterator
from enum import Enum, auto

from selectolax.lexbor import LexborNode

from services.retrieval.parsers.characters import superscript
from services.retrieval.parsers.limits import check_depth

_UNSEEN = frozenset(
    {
        *("head", "script", "style", "noscript", "template", "nav", "svg", "canvas", "iframe"),
        *("object", "video", "audio", "map", "button", "select", "textarea", "input", "datalist"),
        # Seen, but no longer said: "5" struck out before "6%" must not be read as "56%".
        *("del", "s", "strike"),
    }
)
_UNSEEN_STYLE = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden"
    r"|text-decoration(?:-line)?\s*:[^;]*line-through)",
    re.IGNORECASE,
)
HEADINGS = {f"h{level}": level for level in range(1, 7)}
BLOCKS = frozenset(
    {
        *("address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog"),
        *("div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header"),
        *("hgroup", "hr", "legend", "main", "ol", "p", "pre", "search", "section", "summary"),
        *("table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul", "caption", "li"),
        *HEADINGS,
    }
)
_SPACE = re.compile(r"[ \t\n\r\f]+")
# Alone they keep a cell open; at the ends of words they are nothing.
_NO_WIDTH = " \u00a0\u200b\u2060\ufeff"
_INTEGER = re.compile(r"-?[0-9]{1,6}")


class Event(Enum):
    """What is met on the way."""

    START = auto()
    TEXT = auto()
    END = auto()
    TABLE = auto()


def events(root: LexborNode, tables: Collection[int] = ()) -> Iterator[tuple[Event, LexborNode]]:
    """What is seen below an element, in order; tables that are named are one event each.

    It is not recursive, for a page may nest deeply. Raises InvalidInput where it nests deeper than
    any page that was written to be read.
    """
    above: list[LexborNode] = []
    node = root.first_child
    while node is not None or above:
        if node is None:
            node = above.pop()
            yield Event.END, node
        elif node.tag == "-text":
            yield Event.TEXT, node
        elif node.mem_id in tables:
            yield Event.TABLE, node
        elif node.is_element_node and not _is_unseen(node):
            yield Event.START, node
            above.append(node)
            check_depth(len(above))
            node = node.first_child
            continue
        node = node.next


class Words:
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
        self._parts.append(superscript(text) if self._raised else text)

    def taken(self) -> str:
        """The words so far; the next begin anew."""
        words, self._parts = "".join(self._parts), []
        if self._preformatted:
            return words.strip("\n") if words.strip() else ""
        words = "\n".join(_SPACE.sub(" ", line).strip() for line in words.split("\n"))
        return words.strip().strip(_NO_WIDTH).strip()


def number(node: LexborNode, attribute: str, default: int) -> int:
    """An attribute that is a whole number."""
    value = (node.attributes.get(attribute) or "").strip()
    return int(value) if _INTEGER.fullmatch(value) else default


def _is_unseen(node: LexborNode) -> bool:
    if node.tag in _UNSEEN:
        return True
    attributes = node.attributes
    return (
        "hidden" in attributes
        or attributes.get("role") == "navigation"
        or _UNSEEN_STYLE.search(attributes.get("style") or "") is not None
    )
