"""The marks before the items of an HTML list, which its text does not hold."""

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from services.retrieval.parsers.counting import roman
from services.retrieval.parsers.html_tree import number

_BULLET = "\u2022 "
_STYLE = re.compile(
    r"(?:^|;)\s*list-style(?:-type)?\s*:[^;]*?([a-z]+-(?:alpha|latin|roman))", re.IGNORECASE
)
_ALPHABET = 26


@dataclass(slots=True)
class Items:
    """The items of a list, which are counted unless `step` is 0."""

    style: str = ""
    next: int = 1
    step: int = 0

    def mark(self, item: LexborNode) -> str:
        """What a browser prints before an item."""
        if not self.step:
            return _BULLET
        at = number(item, "value", self.next)
        self.next = at + self.step
        return f"{_written(at, _style(item) or self.style)}. "


def items_of(element: LexborNode) -> Items:
    """The items of an `ol` or `ul`."""
    if element.tag == "ul":
        return Items()
    back = "reversed" in element.attributes
    last = sum(child.tag == "li" for child in element.iter())
    start = number(element, "start", last if back else 1)
    return Items(_style(element), start, -1 if back else 1)


def _style(element: LexborNode) -> str:
    """How an element says that its list is counted; empty where it does not."""
    declared = _STYLE.search(element.attributes.get("style") or "")
    return declared[1].lower() if declared else element.attributes.get("type") or ""


def _written(at: int, style: str) -> str:
    match style:
        case "a" | "lower-alpha" | "lower-latin":
            return _letters(at)
        case "A" | "upper-alpha" | "upper-latin":
            return _letters(at).upper()
        case "i" | "lower-roman":
            return roman(at)
        case "I" | "upper-roman":
            return roman(at).upper()
    return str(at)


def _letters(at: int) -> str:
    """After z come aa and ab."""
    letters = ""
    while at > 0:
        at, letter = divmod(at - 1, _ALPHABET)
        letters = chr(ord("a") + letter) + letters
    return letters or str(at)
