"""Takes presentation, and nothing else, out of a text, and remembers where each character stood.

Folded: line breaks and other white space, hyphens at line ends (as a split word and as a real
hyphen), soft hyphens, ligatures and presentation forms, typographic quotes and apostrophes, dash
forms where they are no minus, bullets, zero-width characters, width forms, canonical composition,
and letter case. Not folded: everything else; see trust rule 2.
"""

# ruff: noqa: RUF001 - look-alikes are what is told apart here

import re
import string
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType

# Tatweel only stretches a line of Arabic.
_ZERO_WIDTH = "\u061c\u0640\u200b-\u200f\u202a-\u202c\u2060-\u2064\u2066-\u2069\ufeff"
# The last is the Hebrew maqaf.
_HYPHENS = "\\-\u2010\u2011\ufe63\uff0d\u05be"
# Marks of a list item, wherever they stand alone; the last four are those of symbol fonts.
_BULLETS = "•‣▪▫●◦■□◆◇❖➢➤►▸⁃⦁\uf0b7\uf0a7\uf0d8\uf076"
_DASHES = "\u2012-\u2015\u2212\ufe58"
_BREAKS = "\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
# Combining characters that take part in canonical composition or ordering.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u093c\u094d"
    "\u0951-\u0954\u09bc\u09be\u09cd\u09d7\u0a3c\u0b3c\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0c56\u0cbc\u0cc2"
    "\u0cd5\u0cd6\u0d3e\u0d57\u0dca\u0dcf\u0ddf\u102e\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
    "\u3099\u309a\ufe20-\ufe2f\u1161-\u1175\u11a8-\u11c2"
)
# Characters that canonical composition replaces wherever they stand.
_SINGLETONS = (
    "\u0340\u0341\u0343\u0344\u0374\u037e\u0387\u0958-\u095f\u09dc-\u09df\u0a33\u0a36\u0a59-\u0a5e"
    "\u0b5c\u0b5d\u1f71-\u1ffd\u2126\u212a\u212b\u2329\u232a\uf900-\ufaff\U0002f800-\U0002fa1d"
)
# Han, Kana and the punctuation that stands among them: spaces beside them mean nothing.
_EAST_ASIAN = (
    "\u3001-\u9fff\uf900-\ufaff\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uffef"
    "\U00020000-\U0002ffff"
)
_FORMS = "\ufb00-\ufdff\ufe70-\ufefc\uff01-\uff0c\uff0e-\uff5e\uffe0-\uffe6"
# With the Hebrew gershayim and geresh, the corner brackets of East Asia, and accents typed for
# apostrophes.
_QUOTES = {**dict.fromkeys("“”„‟«»״「」『』", '"'), **dict.fromkeys("‘’‚‛ʼ‹›׳´`", "'")}

_SPECIAL = re.compile(
    rf"""
    (?P<composed>[^\s{_MARKS}][{_MARKS}]{{1,30}})
  | (?P<soft>\u00ad[\u00ad{_ZERO_WIDTH}]*(?:[^\S{_BREAKS}]*[{_BREAKS}]\s*)?)
  | (?P<dash>[{_HYPHENS}{_DASHES}]+)(?=(?P<after>[\s{_ZERO_WIDTH}]*))
  | (?P<space>[\s{_ZERO_WIDTH}{_BULLETS}]{{2,}}|[^\S\ ]|[{_ZERO_WIDTH}]
        |\ (?=[{_EAST_ASIAN}])|(?<=[{_EAST_ASIAN}])\ )
  | (?P<quote>[{"".join(_QUOTES)}])
  | (?P<star>(?<!\S)[*·∙]\s+)
  | (?P<dots>…)
  | (?P<kana>[\uff65-\uff9f]+)
  | (?P<form>[{_FORMS}])
  | (?P<singleton>[{_SINGLETONS}])
    """,
    re.VERBOSE,
)
_SPECIAL_ASCII = re.compile(
    r"(?P<dash>-+)(?=(?P<after>\s*))|(?P<space>\s{2,}|[^\S ])|(?P<star>(?<!\S)\*\s+)|(?P<quote>`)"
)
_LONE_HYPHEN = re.compile(rf"[{_HYPHENS}]")
DASHES = frozenset("-\u2010\u2011\ufe63\uff0d\u2012\u2013\u2014\u2015\u2212\ufe58")
_SIGN = re.compile(r"[-\u2212\ufe63\uff0d]")
_BREAK = re.compile(rf"[{_BREAKS}]")
_BESIDE = re.compile(rf"[{_EAST_ASIAN}]")
_ITEM_START = re.compile(rf"(?:\A|[{_BREAKS}])[\s{_ZERO_WIDTH}{_BULLETS}*·]*\Z")
_FORM = re.compile(rf"[{_FORMS}]")
_INVISIBLE = re.compile(rf"[{_ZERO_WIDTH}\u00ad]")
_CURRENCY = "$€£¥₹₽₩₺₪₫₴₦"
_OPENING = "\"'“„«‘‹"
_DEEPEST_INDENT = 40


_PADDING = (
    string.whitespace
    + "\u00ad\u00a0\u202f\u3000"
    + _BULLETS
    + "".join(
        map(
            chr,
            [
                0x61C,
                0x640,
                *range(0x2000, 0x2010),
                *range(0x2028, 0x2030),
                *range(0x2060, 0x2070),
                0xFEFF,
            ],
        )
    )
)


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


def without_padding(quote: str) -> str:
    """A quote without the white space, bullets and the like around its first and last word."""
    stripped = quote.strip(_PADDING)
    while stripped.startswith(("* ", "· ", "∙ ")):
        stripped = stripped[2:].lstrip(_PADDING)
    return stripped


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
            replaced, taken, joins = _dash(source, start, end, found["after"])
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


def starts_item(text: str, position: int) -> bool:
    """Whether nothing but an indent and a bullet stands before it in its line."""
    return _ITEM_START.search(text, max(0, position - _DEEPEST_INDENT), position) is not None


def is_letter(char: str) -> bool:
    return char.isalpha() or unicodedata.category(char)[0] == "M"


def is_unspaced(char: str) -> bool:
    """Written without spaces between words: Han, Hiragana, Thai, Lao, Khmer."""
    return (
        "\u3400" <= char <= "\u9fff"
        or "\u3040" <= char <= "\u309f"
        or "\uf900" <= char <= "\ufaff"
        or "\u0e00" <= char <= "\u0eff"
        or "\u1780" <= char <= "\u17ff"
        or "\U00020000" <= char <= "\U0002ffff"
    )


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
            return _QUOTES[piece]
        case "star":
            return "" if _starts_line(source, start) else f"{piece[0]} "
        case "dots":
            return "..."
        case _:
            return "".join(_QUOTES.get(c, c) for c in unicodedata.normalize("NFKC", piece))


def _space(piece: str, before: str, after: str) -> str:
    visible = _INVISIBLE.sub("", piece)
    if not visible or not any(map(str.isspace, visible)):
        return visible
    if before and after:
        if _BESIDE.match(before) or _BESIDE.match(after):
            return " " if _is_hangul(before) or _is_hangul(after) else ""
        if _BREAK.search(piece) and is_unspaced(before) and is_unspaced(after):
            return ""
    return " "


def _is_hangul(char: str) -> bool:
    return "\uac00" <= char <= "\ud7a3" or "\u1100" <= char <= "\u11ff"


def _dash(  # noqa: PLR0911 - one for each use of a dash
    source: str, start: int, end: int, after: str
) -> tuple[str, Dash, bool]:
    """What stands for a run of dashes, which is taken out, and whether the space behind is too."""
    dash = source[start:end]
    before = _visible_before(source, start)
    behind = source[end + len(after) : end + len(after) + 1]
    space = _INVISIBLE.sub("", after)
    lone_hyphen = _LONE_HYPHEN.fullmatch(dash) is not None
    compound = lone_hyphen or dash in "‒–"
    wrapped = _BREAK.search(space) is not None
    if not behind:
        return ("", Dash.FREE, True) if before.isspace() else ("–", Dash.NONE, False)
    if is_letter(behind) or behind in _OPENING:
        if space and (not before or before.isspace()):
            return "", Dash.LINE_START if _starts_line(source, start) else Dash.FREE, True
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


def _starts_line(source: str, position: int) -> bool:
    """Whether nothing but an indent stands before it in its line."""
    at = position - 1
    while at >= 0 and position - at < _DEEPEST_INDENT and source[at] in " \t\u00a0\u3000\u200b":
        at -= 1
    return at < 0 or _BREAK.match(source[at]) is not None


def _visible_before(source: str, position: int) -> str:
    """The nearest visible character before a position, at most a few steps away; empty for none."""
    for at in range(position - 1, max(position - 8, -1), -1):
        if not _INVISIBLE.match(source[at]):
            return source[at]
    return ""
