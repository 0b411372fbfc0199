"""Which characters are marks, breaks, dashes, bullets and the like, as parts of patterns."""

# ruff: noqa: RUF001 - look-alikes are what is told apart here

import re
import unicodedata

# Tatweel only stretches a line of Arabic.
ZERO_WIDTH = "\u061c\u0640\u200b-\u200f\u202a-\u202c\u2060-\u2064\u2066-\u2069\ufeff"
# The last is the Hebrew maqaf.
HYPHENS = "\\-\u2010\u2011\ufe63\uff0d\u05be"
# Marks of a list item, wherever they stand alone; the last four are those of symbol fonts.
BULLETS = "•‣▪▫●◦■□◆◇❖➢➤►▸⁃⦁\uf0b7\uf0a7\uf0d8\uf076"
LONGER_DASHES = "\u2012-\u2015\u2212\ufe58"
BREAKS = "\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
# Combining characters that take part in canonical composition or ordering.
MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u093c\u094d"
    "\u0951-\u0954\u09bc\u09be\u09cd\u09d7\u0a3c\u0b3c\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0c56\u0cbc\u0cc2"
    "\u0cd5\u0cd6\u0d3e\u0d57\u0dca\u0dcf\u0ddf\u102e\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
    "\u3099\u309a\ufe20-\ufe2f\u1161-\u1175\u11a8-\u11c2"
)
# Characters that canonical composition replaces wherever they stand.
SINGLETONS = (
    "\u0340\u0341\u0343\u0344\u0374\u037e\u0387\u0958-\u095f\u09dc-\u09df\u0a33\u0a36\u0a59-\u0a5e"
    "\u0b5c\u0b5d\u1f71-\u1ffd\u2126\u212a\u212b\u2329\u232a\uf900-\ufaff\U0002f800-\U0002fa1d"
)
# Han, Kana and the punctuation that stands among them: spaces beside them mean nothing.
EAST_ASIAN = (
    "\u3001-\u9fff\uf900-\ufaff\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uffef"
    "\U00020000-\U0002ffff"
)
FORMS = "\ufb00-\ufdff\ufe70-\ufefc\uff01-\uff0c\uff0e-\uff5e\uffe0-\uffe6"
# With the Hebrew gershayim and geresh, the corner brackets of East Asia, and accents typed for
# apostrophes.
QUOTES = {**dict.fromkeys("“”„‟«»״「」『』", '"'), **dict.fromkeys("‘’‚‛ʼ‹›׳´`", "'")}

BREAK = re.compile(rf"[{BREAKS}]")
INVISIBLE = re.compile(rf"[{ZERO_WIDTH}\u00ad]")
_STAR = re.compile(r"[*·∙]\s")
_PADDING = re.compile(rf"[\s{ZERO_WIDTH}{BULLETS}\u00ad]")
_ITEM_START = re.compile(rf"(?:\A|[{BREAKS}])[\s{ZERO_WIDTH}{BULLETS}*·]*\Z")
_DEEPEST_INDENT = 40


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


def is_hangul(char: str) -> bool:
    return "\uac00" <= char <= "\ud7a3" or "\u1100" <= char <= "\u11ff"


def starts_item(text: str, position: int) -> bool:
    """Whether nothing but an indent and a bullet stands before it in its line."""
    return _ITEM_START.search(text, max(0, position - _DEEPEST_INDENT), position) is not None


def starts_line(source: str, position: int) -> bool:
    """Whether nothing but an indent stands before it in its line."""
    at = position - 1
    while at >= 0 and position - at < _DEEPEST_INDENT and source[at] in " \t\u00a0\u3000\u200b":
        at -= 1
    return at < 0 or BREAK.match(source[at]) is not None


def visible_before(source: str, position: int) -> str:
    """The nearest visible character before a position, at most a few steps away; empty for none."""
    for at in range(position - 1, max(position - 8, -1), -1):
        if not INVISIBLE.match(source[at]):
            return source[at]
    return ""


def without_padding(quote: str) -> str:
    """A quote without the white space, bullets and the like around its first and last word."""
    start, end = 0, len(quote)
    while end > start and _PADDING.match(quote[end - 1]):
        end -= 1
    while start < end and (_PADDING.match(quote[start]) or _STAR.match(quote, start, end)):
        start += 1
    return quote[start:end]
