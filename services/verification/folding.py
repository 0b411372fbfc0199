"""Takes presentation, and nothing else, out of a text, and remembers where each character stood.

Folded: line breaks and other white space, hyphens at line ends (as a split word and as a real
hyphen), soft hyphens, ligatures and presentation forms, typographic quotes and apostrophes, dash
forms where they are no minus, bullets, zero-width characters, width forms, canonical composition,
and letter case. Not folded: everything else; see trust rule 2.
"""

# ruff: noqa: RUF001 - look-alikes are what is told apart here

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from services.verification import dashes as dash_signs
from services.verification.characters import (
    BREAK,
    BREAKS,
    BULLETS,
    EAST_ASIAN,
    FORMS,
    HYPHENS,
    INVISIBLE,
    LONGER_DASHES,
    MARKS,
    QUOTES,
    SINGLETONS,
    ZERO_WIDTH,
    is_hangul,
    is_unspaced,
    starts_line,
)
from services.verification.dashes import Dash

_SPECIAL = re.compile(
    rf"""
    (?P<composed>[^\s{MARKS}][{MARKS}]{{1,30}})
  | (?P<soft>\u00ad[\u00ad{ZERO_WIDTH}]*(?:[^\S{BREAKS}]*[{BREAKS}]\s*)?)
  | (?P<dash>[{HYPHENS}{LONGER_DASHES}]+)(?=(?P<after>[\s{ZERO_WIDTH}]*))
  | (?P<space>[\s{ZERO_WIDTH}{BULLETS}]{{2,}}|[^\S\ ]|[{ZERO_WIDTH}]
        |\ (?=[{EAST_ASIAN}])|(?<=[{EAST_ASIAN}])\ )
  | (?P<quote>[{"".join(QUOTES)}])
  | (?P<star>(?<!\S)[*·∙]\s+)
  | (?P<dots>…)
  | (?P<kana>[\uff65-\uff9f]+)
  | (?P<form>[{FORMS}])
  | (?P<singleton>[{SINGLETONS}])
    """,
    re.VERBOSE,
)
_SPECIAL_ASCII = re.compile(
    r"(?P<dash>-+)(?=(?P<after>\s*))|(?P<space>\s{2,}|[^\S ])|(?P<star>(?<!\S)\*\s+)|(?P<quote>`)"
)
_BESIDE = re.compile(rf"[{EAST_ASIAN}]")
_FORM = re.compile(rf"[{FORMS}]")
# A line end most often splits a word; what is read there is the whole word.
_AS_READ = MappingProxyType(
    {Dash.INLINE: "-", Dash.SPACED: "- ", Dash.FREE: "– ", Dash.LINE_START: "– "}
)


@dataclass(frozen=True, slots=True)
class Folded:
    """A text without its presentation.

    Attributes:
        text: The folded text, letter case kept, dashes between words and letters taken out.
        key: The same in lower case, of the same length.
        dashes: Position in `text` before which a dash was taken out, and which kind it was.
    """

    text: str
    key: str
    dashes: dict[int, Dash]
    _dash_at: "array[int]"
    _runs: "array[int]" = field(repr=False)
    _sources: "array[int]" = field(repr=False)
    _literal: bytearray = field(repr=False)

    def source_start(self, position: int) -> int | None:
        """Where the character at a position begins in the source; None inside a replaced one."""
        run = bisect_right(self._runs, position) - 1
        into = position - self._runs[run]
        if into and not self._literal[run]:
            return None
        return self._sources[run] + into

    def source_end(self, position: int) -> int | None:
        """Where the character before a position ends in the source; None inside a replaced one."""
        run = bisect_right(self._runs, position - 1) - 1
        if self._literal[run]:
            return self._sources[run] + position - self._runs[run]
        return self._sources[run + 1] if self._runs[run + 1] == position else None

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        """Where a stretch comes from; with the whole of a replaced character that it cuts."""
        first, last = bisect_right(self._runs, start) - 1, bisect_right(self._runs, end - 1) - 1
        begin = self._sources[first] + (start - self._runs[first]) * self._literal[first]
        stop = self.source_end(end)
        return begin, self._sources[last + 1] if stop is None else stop

    def dash_start(self, position: int) -> int:
        """Where the dash that was taken out at a position begins in the source."""
        return self._sources[bisect_left(self._runs, position)]

    def dashes_within(self, start: int, end: int) -> dict[int, Dash]:
        """The dashes between two positions, by their distance from the first."""
        first, last = bisect_left(self._dash_at, start), bisect_right(self._dash_at, end)
        return {at - start: self.dashes[at] for at in self._dash_at[first:last]}


def unwrapped(source: str) -> Folded:
    """The text as it is read: presentation folded, but dashes kept; takes linear time."""
    return fold(source, as_read=_AS_READ)


def fold(source: str, *, as_read: Mapping[Dash, str] = MappingProxyType({})) -> Folded:
    """The text as it is compared; takes linear time for any input.

    Args:
        source: Any text.
        as_read: What to write for a dash between words or letters; by default nothing.
    """
    pieces: list[str] = []
    runs, sources, literal = array("L"), array("L"), bytearray()
    dashes: dict[int, Dash] = {}
    done = length = 0

    def add(piece: str, at: int, is_literal: bool) -> None:
        nonlocal length
        runs.append(length)
        sources.append(at)
        literal.append(is_literal)
        pieces.append(piece)
        length += len(piece)

    for found in (_SPECIAL_ASCII if source.isascii() else _SPECIAL).finditer(source):
        start, end = found.span()
        if start < done:  # White space that a hyphen at a line end took with it.
            continue
        if start > done:
            add(source[done:start], done, is_literal=True)
        kind = found.lastgroup if found["dash"] is None else "dash"
        if kind == "dash":
            replaced, taken, joins = dash_signs.read(source, start, end, found["after"])
            if taken:
                dashes[length + len(replaced)] = taken
                replaced += as_read.get(taken, "")
            if joins:
                end += len(found["after"])
        else:
            replaced = _replace(str(kind), found.group(), source, start, end)
        add(replaced, start, is_literal=False)
        done = end
    if done < len(source):
        add(source[done:], done, is_literal=True)
    add("", len(source), is_literal=True)
    text = "".join(pieces)
    return Folded(text, lower(text), dashes, array("L", dashes), runs, sources, literal)


def lower(text: str) -> str:
    """Lower case, one character for each character."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(low if len(low := c.lower()) == 1 else c for c in text)
    return lowered.replace("ς", "σ")


def _replace(  # noqa: PLR0911 - one for each kind
    kind: str, piece: str, source: str, start: int, end: int
) -> str:
    match kind:
        case "composed" if _FORM.match(piece):
            return unicodedata.normalize("NFKC", piece)
        case "composed" | "singleton":
            return unicodedata.normalize("NFC", piece)
        case "soft":
            return ""
        case "space":
            return _space(piece, source[start - 1 : start], source[end : end + 1])
        case "quote":
            return QUOTES[piece]
        case "star":
            return "" if starts_line(source, start) else f"{piece[0]} "
        case "dots":
            return "..."
        case _:
            return "".join(QUOTES.get(c, c) for c in unicodedata.normalize("NFKC", piece))


def _space(piece: str, before: str, after: str) -> str:
    visible = INVISIBLE.sub("", piece)
    if not visible or not any(map(str.isspace, visible)):
        return visible
    if before and after:
        if _BESIDE.match(before) or _BESIDE.match(after):
            return " " if is_hangul(before) or is_hangul(after) else ""
        if BREAK.search(piece) and is_unspaced(before) and is_unspaced(after):
            return ""
    return " "
