"""What the styles of a DOCX file say: headings, lists, what is hidden and what is bold."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from services.retrieval.parsers.docx_properties import W, is_on_first, value

_HEADING_NAME = re.compile(r"heading ([1-9])")


@dataclass(frozen=True, slots=True)
class Style:
    """What a style says of a paragraph's level (0 for body text) and list, and of its words.

    `bold_header` is said by a table's style: its first row is bold.
    """

    level: int = 0
    list_id: str = ""
    list_level: str = ""
    hidden: bool = False
    bold: bool = False
    bold_header: bool = False


NO_STYLE = Style()


def styles_of(root: Element | None) -> dict[str, Style]:
    """The styles by id; none when the file has none."""
    elements = {} if root is None else {s.get(f"{W}styleId", ""): s for s in root.iter(f"{W}style")}
    return {id_: _style(elements, id_) for id_ in elements}


def _style(elements: Mapping[str, Element], id_: str) -> Style:
    """A style with what it takes from those it is based on."""
    chain = list(_chain(elements, id_))
    words = [element.find(f"{W}rPr") for element in chain]
    headers = [
        part.find(f"{W}rPr")
        for element in chain
        for part in element.iter(f"{W}tblStylePr")
        if part.get(f"{W}type") == "firstRow"
    ]
    lists = [element.find(f"{W}pPr/{W}numPr") for element in chain]
    return Style(
        level=next(filter(None, map(_level, chain)), 0),
        list_id=next(filter(None, (value(numbered, "numId") for numbered in lists)), ""),
        list_level=next(filter(None, (value(numbered, "ilvl") for numbered in lists)), ""),
        hidden=is_on_first(words, "vanish"),
        bold=is_on_first(words, "b"),
        bold_header=is_on_first(headers, "b"),
    )


def _chain(elements: Mapping[str, Element], id_: str) -> Iterator[Element]:
    """A style, the one it is based on, and so on."""
    seen: set[str] = set()
    while id_ in elements and id_ not in seen:
        seen.add(id_)
        yield elements[id_]
        id_ = value(elements[id_], "basedOn")


def _level(element: Element) -> int:
    name = value(element, "name").lower()
    named = _HEADING_NAME.fullmatch(name)
    return outline_level(element.find(f"{W}pPr")) or (int(named[1]) if named else name == "title")


def outline_level(properties: Element | None) -> int:
    """1 for the outermost; 0 when it is not said, 10 for body text."""
    level = value(properties, "outlineLvl")
    return int(level) + 1 if level else 0
