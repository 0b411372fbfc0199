"""What a dash stands for: a hyphen, a split word, a minus, a range, a bullet or a pause."""

# ruff: noqa: RUF001 - dashes are told apart here

import re
from enum import IntEnum
from types import MappingProxyType

from services.verification.characters import (
    BREAK,
    HYPHENS,
    INVISIBLE,
    is_letter,
    starts_line,
    visible_before,
)

DASHES = frozenset("-\u2010\u2011\ufe63\uff0d\u2012\u2013\u2014\u2015\u2212\ufe58")
_LONE_HYPHEN = re.compile(rf"[{HYPHENS}]")
_SIGN = re.compile(r"[-\u2212\ufe63\uff0d]")
_CURRENCY = "$€£¥₹₽₩₺₪₫₴₦"
_OPENING = "\"'“„«‘‹"


class Dash(IntEnum):
    """What stands between two letters or two words that the folded text joins."""

    NONE = 0
    INLINE = 1  # well-known
    SPACED = 2  # pre- and post-trade
    LINE_END = 3  # com-⏎pliance: a split word, or any of the two before
    FREE = 4  # the loan — once drawn —
    LINE_START = 5  # ⏎- once drawn: a free dash that was wrapped, or a bullet

    def agrees(self, other: "Dash") -> bool:
        return self is other or self in _READINGS.get(other, ()) or other in _READINGS.get(self, ())


_READINGS = MappingProxyType(
    {
        Dash.LINE_END: (Dash.NONE, Dash.INLINE, Dash.SPACED),
        Dash.LINE_START: (Dash.NONE, Dash.FREE),
    }
)


def read(  # noqa: PLR0911 - one for each use of a dash
    source: str, start: int, end: int, after: str
) -> tuple[str, Dash, bool]:
    """What stands for a run of dashes, which is taken out, and whether the space behind is too."""
    dash = source[start:end]
    before = visible_before(source, start)
    behind = source[end + len(after) : end + len(after) + 1]
    space = INVISIBLE.sub("", after)
    lone_hyphen = _LONE_HYPHEN.fullmatch(dash) is not None
    compound = lone_hyphen or dash in "‒–"
    wrapped = BREAK.search(space) is not None
    if not behind:
        return ("", Dash.FREE, True) if before.isspace() else ("–", Dash.NONE, False)
    if is_letter(behind) or behind in _OPENING:
        if space and (not before or before.isspace()):
            return "", Dash.LINE_START if starts_line(source, start) else Dash.FREE, True
        if before and not compound:
            return " ", Dash.FREE, True
        if before and is_letter(before) and is_letter(behind):
            if lone_hyphen and space:
                return "", Dash.LINE_END if wrapped else Dash.SPACED, True
            return (" ", Dash.FREE, True) if space and not wrapped else ("", Dash.INLINE, True)
    if any(c.isdigit() for c in before + behind) and before.isalnum() and behind.isalnum():
        if not space or (compound and wrapped):
            return "-", Dash.NONE, True
    elif not space and (behind.isdigit() or behind in _CURRENCY):
        return ("-" if _SIGN.fullmatch(dash) else "–"), Dash.NONE, False
    return "–", Dash.NONE, False
