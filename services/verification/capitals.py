"""Whether two texts that differ in letter case only say the same."""

import re
from collections.abc import Collection
from itertools import pairwise

# Where the case of a letter differs, it is asked for its word: letters, digits and what joins them.
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
# All in capitals these are other words; with a capital those are.
_OTHER_IN_CAPITALS = frozenset({"us", "it", "who", "aids", "or", "in", "am", "pm", "un", "eu"})
_OTHER_WITH_CAPITAL = frozenset({"may", "march", "august", "polish", "turkey", "china"})
_AFTER_NUMBER = re.compile(r"\d\s?$")
# A raised digit behind so many letters is a reference mark, as in typesetting.py, and no unit.
_REFERENCE = re.compile(r"(?<=[^\W\d_]{4})[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]{1,4}$")
_POSSESSIVE = re.compile(r"['\u2019][sS]$")


def same_case(one: str, other: str, seams: Collection[int] = ()) -> bool:
    """False where a capital tells two words apart: US from us, mW from MW, May from may.

    Args:
        one: A text.
        other: The same text but for the case of its letters.
        seams: Where a hyphen was taken out: each part of a compound is a word.
    """
    if one == other:
        return True
    return all(
        _is_same(one, other, start, end)
        for found in _WORD.finditer(one)
        if found.group() != other[found.start() : found.end()]
        for start, end in pairwise(sorted({*found.span(), *_within(seams, found)}))
        if one[start:end] != other[start:end]
    )


def _within(seams: Collection[int], word: re.Match[str]) -> list[int]:
    return [at for at in seams if word.start() < at < word.end()]


def _is_same(one: str, other: str, start: int, end: int) -> bool:
    if any(map(str.isdigit, _REFERENCE.sub("", one[start:end]))) or _AFTER_NUMBER.search(
        one[max(0, start - 2) : start]
    ):
        return False  # A unit, or a code.
    a, b = (_POSSESSIVE.sub("", text[start:end]) for text in (one, other))
    if not (_is_plain(a) and _is_plain(b)):
        return False
    if a.lower() in _OTHER_WITH_CAPITAL:
        return a.isupper() or b.isupper()
    if a.lower() in _OTHER_IN_CAPITALS and (_shouts(a) or _shouts(b)):
        # In a line of capitals, capitals say nothing.
        text = one if _shouts(a) else other
        beside = [*_WORD.findall(text[:start][-60:])[-1:], *_WORD.findall(text[end : end + 60])[:1]]
        return bool(beside) and all(map(_shouts, beside))
    return True


def _is_plain(word: str) -> bool:
    """All small, all capitals, or one capital first: forms that a sentence or a heading gives."""
    return word == word.lower() or word == word.upper() or word[1:] == word[1:].lower()


def _shouts(word: str) -> bool:
    return len(word) > 1 and word.isupper()
