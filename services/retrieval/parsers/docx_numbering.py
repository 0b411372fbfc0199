"""The numbers of a DOCX file's paragraphs, which its text does not hold: Word counts them anew."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from services.retrieval.parsers.counting import roman

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"

BULLET = "\u2022"
_LEVELS = 9
_PLACE = re.compile(r"%([1-9])")
_ALPHABET = 26


@dataclass(frozen=True, slots=True)
class _Level:
    """How a level of a list is counted: `template` such as "%1.%2"."""

    format: str
    template: str
    start: int


class Numbers:
    """Counts the numbered paragraphs of a document, in order.

    Args:
        numbering: The root of numbering.xml; None when the document has none.
    """

    def __init__(self, numbering: Element | None) -> None:
        self._lists: dict[str, str] = {}
        self._levels: dict[str, Mapping[int, _Level]] = {}
        self._counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
        self._restarts: dict[str, dict[int, int]] = {}
        if numbering is None:
            return
        for kind in numbering.iter(f"{W}abstractNum"):
            self._levels[kind.get(f"{W}abstractNumId", "")] = {
                int(level.get(f"{W}ilvl", "0")): _level(level) for level in kind.iter(f"{W}lvl")
            }
        for number in numbering.iter(f"{W}num"):
            id_ = number.get(f"{W}numId", "")
            self._lists[id_] = value(number, "abstractNumId")
            self._restarts[id_] = {
                int(change.get(f"{W}ilvl", "0")): int(value(change, "startOverride"))
                for change in number.iter(f"{W}lvlOverride")
                if value(change, "startOverride")
            }

    def next(self, list_id: str, level: int) -> str:
        """The number or bullet of the next paragraph of a list; empty when it shows none."""
        kind = self._lists.get(list_id, "")
        levels = self._levels.get(kind, {})
        if level not in levels:
            return ""
        counts = self._counts[kind]
        # A list that counts anew does so once.
        if (start := self._restarts[list_id].pop(level, None)) is not None:
            counts[level] = start - 1
        counts[level] = counts.get(level, levels[level].start - 1) + 1
        for deeper in range(level + 1, _LEVELS):
            counts.pop(deeper, None)
        if levels[level].format == "bullet":
            return BULLET
        if levels[level].format == "none":
            return ""

        def shown(place: re.Match[str]) -> str:
            at = int(place[1]) - 1
            if at not in levels:
                return ""
            counts.setdefault(at, levels[at].start)
            return _written(counts[at], levels[at].format)

        return _PLACE.sub(shown, levels[level].template).strip()


def value(element: Element | None, child: str) -> str:
    """The value of a property; empty when it is not set."""
    found = None if element is None else element.find(f"{W}{child}")
    return "" if found is None else found.get(f"{W}val", "")


def _level(element: Element) -> _Level:
    return _Level(
        format=value(element, "numFmt") or "decimal",
        template=value(element, "lvlText"),
        start=int(value(element, "start") or 1),
    )


def _written(number: int, format_: str) -> str:
    match format_:
        case "decimalZero":
            return f"{number:02d}"
        case "lowerLetter" | "upperLetter" if number > 0:
            # After z come aa and bb.
            letters = chr(ord("a") + (number - 1) % _ALPHABET) * (1 + (number - 1) // _ALPHABET)
            return letters.upper() if format_ == "upperLetter" else letters
        case "lowerRoman":
            return roman(number)
        case "upperRoman":
            return roman(number).upper()
    return str(number)
