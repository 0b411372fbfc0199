"""The numbers of a DOCX file's paragraphs, which its text does not hold: Word counts them anew."""

import re
from collections import defaultdict
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from services.retrieval.parsers.counting import roman
from services.retrieval.parsers.docx_properties import W, is_on, value

BULLET = "\u2022"
_LEVELS = 9
_PLACE = re.compile(r"%([1-9])")
_ALPHABET = 26
_LEGAL = {"decimal", "decimalZero", "none"}


@dataclass(frozen=True, slots=True)
class _Level:
    """How a level of a list is counted: `template` such as "%1.%2".

    A legal number is in Arabic figures whatever the levels above it count in. A level begins anew
    below those from the outermost to `restart`.
    """

    format: str
    template: str
    start: int
    is_legal: bool
    restart: int


class Numbers:
    """Counts the numbered paragraphs of a document, in order.

    Args:
        numbering: The root of numbering.xml; None when the document has none.
    """

    def __init__(self, numbering: Element | None) -> None:
        self._lists: dict[str, str] = {}
        self._levels: dict[str, dict[int, _Level]] = {}
        self._counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
        self._restarts: dict[str, dict[int, int]] = {}
        if numbering is None:
            return
        kinds = _kinds(numbering)
        for number in numbering.iter(f"{W}num"):
            id_ = number.get(f"{W}numId", "")
            self._lists[id_] = value(number, "abstractNumId")
            self._levels[id_] = kinds.get(self._lists[id_], {}) | _levels(number)
            self._restarts[id_] = {
                int(change.get(f"{W}ilvl", "0")): int(value(change, "startOverride"))
                for change in number.iter(f"{W}lvlOverride")
                if value(change, "startOverride")
            }

    def next(self, list_id: str, level: int) -> str:
        """The number or bullet of the next paragraph of a list; empty when it shows none."""
        levels = self._levels.get(list_id, {})
        if level not in levels:
            return ""
        counts = self._counts[self._lists[list_id]]
        # A list that counts anew does so once.
        if (start := self._restarts[list_id].pop(level, None)) is not None:
            counts[level] = start - 1
        counts[level] = counts.get(level, levels[level].start - 1) + 1
        for deeper in range(level + 1, _LEVELS):
            if deeper not in levels or level < levels[deeper].restart:
                counts.pop(deeper, None)
        if levels[level].format == "bullet":
            return BULLET

        def shown(place: re.Match[str]) -> str:
            at = int(place[1]) - 1
            if at not in levels:
                return ""
            counts.setdefault(at, levels[at].start)
            is_changed = levels[level].is_legal and levels[at].format not in _LEGAL
            return _written(counts[at], "decimal" if is_changed else levels[at].format)

        return _PLACE.sub(shown, levels[level].template).strip()


def _kinds(numbering: Element) -> dict[str, dict[int, _Level]]:
    """The levels of the kinds of lists; some are but the name of another."""
    elements = list(numbering.iter(f"{W}abstractNum"))
    named = {
        name: _levels(element) for element in elements if (name := value(element, "styleLink"))
    }
    return {
        element.get(f"{W}abstractNumId", ""): named.get(value(element, "numStyleLink"))
        or _levels(element)
        for element in elements
    }


def _levels(element: Element) -> dict[int, _Level]:
    return {int(level.get(f"{W}ilvl", "0")): _level(level) for level in element.iter(f"{W}lvl")}


def _level(element: Element) -> _Level:
    return _Level(
        format=value(element, "numFmt") or "decimal",
        template=value(element, "lvlText"),
        start=int(value(element, "start") or 1),
        is_legal=is_on(element, "isLgl"),
        restart=int(value(element, "lvlRestart") or _LEVELS),
    )


def _written(number: int, format_: str) -> str:
    match format_:
        case "none":
            return ""
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
