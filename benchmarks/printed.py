"""The same words as another tool would print them, by kind of presentation, with every offset."""

# ruff: noqa: RUF001 - typographic characters are what is written

import re
import unicodedata
from collections.abc import Callable, Sequence
from random import Random

# For each character of a text, what is printed for it.
Pieces = list[str]
Printing = Callable[[str, Random], Pieces]

_LIGATURES = {"ffi": "ﬃ", "ffl": "ﬄ", "fi": "ﬁ", "fl": "ﬂ", "ff": "ﬀ"}
_WIDE = {chr(c): chr(c + 0xFEE0) for c in [*range(0x41, 0x5B), *range(0x61, 0x7B)]}


def _spaces(*choices: str) -> Printing:
    def printing(text: str, chance: Random) -> Pieces:
        return [chance.choice(choices) if c == " " else c for c in text]

    return printing


def _wrapped(text: str, chance: Random) -> Pieces:
    """Broken at a margin, between words."""
    width, column, pieces = chance.randrange(20, 60), 0, []
    for c in text:
        column += 1
        if c == " " and column > width:
            pieces.append(chance.choice(["\n", "\r\n", "\n    ", " \n"]))
            column = 0
        else:
            pieces.append(c)
    return pieces


def _inside(marks: Sequence[str], share: float) -> Printing:
    """Marks put inside words."""

    def printing(text: str, chance: Random) -> Pieces:
        pieces = list(text)
        for found in re.finditer(r"(?<=[^\W\d_]{2})[^\W\d_](?=[^\W\d_])", text):
            # A raised digit counts as a letter there; no word is broken before its reference mark.
            if chance.random() < share and found[0].isalpha() and not _joins(text, found.start()):
                pieces[found.start()] = chance.choice(marks) + found[0]
        return pieces

    return printing


def _joins(text: str, at: int) -> bool:
    """Whether a character belongs to the one before it, or to a script that splits no words."""
    return bool(unicodedata.combining(text[at])) or text[at] > "\u0590"


def _ligatured(text: str, _: Random) -> Pieces:
    pieces, at = list(text), 0
    while at < len(text):
        plain = next((one for one in _LIGATURES if text.startswith(one, at)), "")
        if plain:
            pieces[at : at + len(plain)] = [_LIGATURES[plain], *[""] * (len(plain) - 1)]
        at += max(len(plain), 1)
    return pieces


def _requoted(text: str, chance: Random) -> Pieces:
    double, single = chance.choice(['""', "“”", "„“", "«»"]), chance.choice("'’")
    return [
        double[0] if c in "“„«" else double[1] if c in "”»" else chance.choice(double) if c == '"'
        else single if c in "'’" else c
        for c in text
    ]  # fmt: skip


def _redashed(text: str, chance: Random) -> Pieces:
    pieces = list(text)
    for found in re.finditer(r"(?<= )[-–—](?= [^\W\d_])|(?<=\d)[–-](?=\d)", text):
        pieces[found.start()] = chance.choice("-–—" if text[found.start() - 1] == " " else "-–")
    for found in re.finditer(r"(?<=[^\W\d_])-(?=[^\W\d_])", text):
        pieces[found.start()] = chance.choice(["-", "\u2010", "\u2011", "-\n", "\u2010\n  "])
    return pieces


def _decomposed(text: str, _: Random) -> Pieces:
    return [unicodedata.normalize("NFD", c) for c in text]


def _widened(text: str, chance: Random) -> Pieces:
    pieces = list(text)
    for found in re.finditer(r"[A-Za-z]+", text):
        if chance.random() < 0.3:
            for at in range(*found.span()):
                pieces[at] = _WIDE[text[at]]
    return pieces


def _recased(text: str, chance: Random) -> Pieces:
    """Ordinary words in capitals, with one capital each, or the first word small."""
    how = chance.choice(["capitals", "titles", "first"])
    pieces = list(text)
    for number, found in enumerate(re.finditer(r"[^\W\d_]+(?:['’][^\W\d_]+)*", text)):
        word, start = found[0], found.start()
        ordinary = len(word) > 4 and word[1:].islower()
        if not ordinary or text[max(0, start - 2) : start].strip(" ")[-1:].isdigit():
            continue
        if word.lower() in {"march", "august", "polish", "turkey", "china"} or set("ßı") & set(
            word
        ):
            continue
        if how == "first" and number == 0:
            pieces[start] = text[start].lower()
        elif how == "titles" and len(word[0].upper()) == 1:
            pieces[start] = word[0].upper()
        elif how == "capitals" and len(word.upper()) == len(word):
            pieces[start : found.end()] = word.upper()
    return pieces


def _bulleted(text: str, chance: Random) -> Pieces:
    """Bullets at wraps: behind a colon or a semicolon, before a word."""
    bullet = chance.choice(["\n• ", "\n▪ ", "\n\uf0b7 ", "\n- ", "\n– ", "\n  * "])
    pieces = list(text)
    for found in re.finditer(r"(?<=[:;,]) (?=[^\W\d_])", text):
        pieces[found.start()] = bullet
    return pieces


def _paged(text: str, chance: Random) -> Pieces:
    """A page break at one space, with a page number beside it."""
    spaces = [n for n, c in enumerate(text) if c == " " and text[n + 1 : n + 2].isalpha()]
    number = chance.randrange(2, 90)
    furniture = ["\n\f", f"\n{number}\n\f", f"\n\nPage {number} of 99\n\n\f", f"\n- {number} -\n\f"]
    pieces = list(text)
    if spaces:
        pieces[chance.choice(spaces)] = chance.choice(furniture)
    return pieces


PRINTINGS: dict[str, Printing] = {
    "re-wrapped": _wrapped,
    "hyphenated": _inside(["-\n", "-\n   ", "\u2010\n", "-\r\n"], 0.06),
    "soft hyphens": _inside(["\u00ad", "\u00ad\n"], 0.15),
    "zero-width characters": _inside(["\u200b", "\u2060", "\u200d", "\ufeff"], 0.15),
    "no-break and thin spaces": _spaces(" ", "\u00a0", "\u2009", "\u202f", "\u2003"),
    "many spaces": _spaces(" ", "  ", "\t", " \t ", "\u00a0 "),
    "ligatures": _ligatured,
    "quotation marks": _requoted,
    "dashes": _redashed,
    "decomposed": _decomposed,
    "full-width letters": _widened,
    "letter case": _recased,
    "bullets at wraps": _bulleted,
    "page break": _paged,
}


def combined(text: str, chance: Random) -> Pieces:
    """Several kinds at once, none of which hides another."""
    kinds = ["re-wrapped", "ligatures", "quotation marks", "soft hyphens", "decomposed"]
    pieces = list(text)
    # A ligature stands for several characters, between which nothing is put any more.
    for kind in sorted(chance.sample(kinds, 3), key=lambda kind: kind != "ligatures"):
        for at, new in enumerate(PRINTINGS[kind](text, chance)):
            if new != text[at] and pieces[at] == text[at]:
                pieces[at] = new
    return pieces


def inside(source: str, start: int, end: int, pieces: Pieces) -> tuple[str, int, int]:
    """The source with a quote printed so, and where the quote stands in it now."""
    printed = "".join(pieces)
    return source[:start] + printed + source[end:], start, start + len(printed)
