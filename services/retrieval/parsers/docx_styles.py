"""What the styles of a DOCX file say of its paragraphs: headings, lists, hidden ones."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from services.retrieval.parsers.docx_numbering import W, value

_HEADING_NAME = re.compile(r"heading ([1-9])")
_OFF = {"0", "false", "off"}


@dataclass(frozen=True, slots=True)
class Style:
    """What a paragraph style says of level (0 for body text) and list."""

    level: int
    list_id: str
    list_level: str
    hidden: bool


NO_STYLE = Style(level=0, list_id="", list_level="", hidden=False)


def styles_of(root: Element | None) -> dict[str, Style]:
    """The styles by id; none when the file has none."""
    elements = {} if root is None else {s.get(f"{W}styleId", ""): s for s in root.iter(f"{W}style")}
    return {id_: _style(elements, id_) for id_ in elements}


def _style(elements: Mapping[str, Element], id_: str) -> Style:
    """A style with what it takes from those it is based on."""
    level, list_id, list_level, hidden = 0, "", "", False
    seen: set[str] = set()
    while id_ in elements and id_ not in seen:
        seen.add(id_)
        element = elements[id_]
        properties = element.find(f"{W}pPr")
        name = value(element, "name").lower()
        named = _HEADING_NAME.fullmatch(name)
        level = level or outline_level(properties) or (int(named[1]) if named else name == "title")
        numbered = None if properties is None else properties.find(f"{W}numPr")
        list_id = list_id or value(numbered, "numId")
        list_level = list_level or value(numbered, "ilvl")
        hidden = hidden or is_on(element.find(f"{W}rPr"), "vanish")
        id_ = value(element, "basedOn")
    return Style(int(level), list_id, list_level, hidden)


def outline_level(properties: Element | None) -> int:
    """1 for the outermost; 0 when it is not said, 10 for body text."""
    level = value(properties, "outlineLvl")
    return int(level) + 1 if level else 0


def is_on(properties: Element | None, name: str) -> bool:
    """Whether a property that has only two values is set."""
    found = None if properties is None else properties.find(f"{W}{name}")
    return found is not None and found.get(f"{W}val", "true") not in _OFF
