"""HTML: what a reader sees of it, from the tree that a browser would build."""

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from services.retrieval.document import ParsedDocument
from services.retrieval.parsers import html_table
from services.retrieval.parsers.flow import Flow
from services.retrieval.parsers.html_lists import Items, items_of
from services.retrieval.parsers.html_tree import BLOCKS, HEADINGS, Event, Words, events

CONTENT_TYPE = "text/html"

_DECLARED = re.compile(
    rb"<(?:meta|\?xml)\b[^>]*?(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE
)
_DECLARED_WITHIN = 2048


def declared_charset(data: bytes) -> str:
    """The encoding that a page says it is in; empty when it does not say."""
    found = _DECLARED.search(data, 0, _DECLARED_WITHIN)
    name = found[1].decode("ascii").lower() if found else ""
    # It could be read: whatever it is, it is no UTF-16.
    return "utf-8" if name.startswith("utf-16") else name


def parse(text: str) -> ParsedDocument:
    """Read a page: text, headings, lists and tables, without what is hidden or leads elsewhere.

    Scripts, styles, navigation, forms' controls, and what is hidden or struck out are left out,
    pictures and links give their visible text alone. Headers and footers of the page are furniture.
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
        self._words = Words()
        self._level = 0
        self._marker = ""
        self._lists: list[Items] = []
        self._sections = 0
        self._furniture = 0

    def read(self, body: LexborNode) -> None:
        for event, node in events(body, html_table.data_tables(body)):
            match event:
                case Event.START:
                    self._start(node)
                case Event.END:
                    self._end(node)
                case Event.TEXT:
                    self._words.add(node.text_content or "")
                case Event.TABLE:
                    self._flush()
                    html_table.write(node, self._flow)
        self._flush()

    def _start(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in BLOCKS:
            self._flush()
        self._words.start(tag)
        match tag:
            case "ul" | "ol":
                self._lists.append(items_of(node))
            case "li":
                items = self._lists[-1] if self._lists else Items()
                self._marker = items.mark(node)
            case "header" | "footer":
                self._furniture += self._is_furniture(node)
            case "article" | "section" | "main":
                self._sections += 1
        self._level = HEADINGS.get(tag, self._level)

    def _end(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in BLOCKS:
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
        if tag in HEADINGS:
            self._level = 0

    def _is_furniture(self, node: LexborNode) -> bool:
        """Whether a header or footer is the site's, not an article's and without a title."""
        return not self._sections and node.css_first(", ".join(HEADINGS)) is None

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
