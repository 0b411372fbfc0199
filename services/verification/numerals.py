"""Numbers that are written as words, as fractions of words, or in Roman letters; English only."""

import re
from collections.abc import Iterable
from decimal import Decimal

from services.verification.phrases import listed

_ONES = listed("one two three four five six seven eight nine")
_TEENS = listed("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
_TENS = listed("twenty thirty forty fifty sixty seventy eighty ninety")
_SMALL = {"zero": 0, "a": 1} | {word: n for n, word in enumerate(_ONES + _TEENS, start=1)}
_SMALL |= {word: 10 * tens for tens, word in enumerate(_TENS, start=2)}
_LARGE = {"hundred": 100, "dozen": 12, "thousand": 1_000}
_THOUSAND = 1_000
_NTH = {
    word: n
    for n, word in enumerate(
        listed(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
            " thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
        ),
        start=1,
    )
} | {f"{word[:-1]}ieth": 10 * tens for tens, word in enumerate(_TENS, start=2)}
# "one second" is a time and "one first" nothing, so the parts begin with the third.
_PART = {"half": 2, "quarter": 4} | {word: n for word, n in _NTH.items() if n in range(3, 13)}
_PARTS = {"halves": 2} | {f"{word}s": n for word, n in _PART.items() if word != "half"}


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_TWO_DIGITS = (
    rf"(?:(?:{_any(_TENS)})(?:[- ](?:{_any(_ONES)})(?!\w))?|{_any([*_ONES, *_TEENS, 'zero'])})"
)
_HUNDREDS = rf"[- ]hundred(?:(?: and |[- ]){_TWO_DIGITS})?"
# "twenty-five", "one hundred and twenty", "two thousand five hundred", "a dozen", "a million".
WORDS = (
    rf"\b(?i:half a dozen|(?:a(?= (?:hundred|thousand|dozen|[mb]illion)\b)|{_TWO_DIGITS})"
    rf"(?:[- ]dozen|(?:{_HUNDREDS})?"
    rf"(?:[- ]thousand(?:(?: and |[, ]{{1,2}}){_TWO_DIGITS}(?:{_HUNDREDS})?)?)?))(?!\w)"
)
# "two thirds", "three-quarters"; a single part only where something follows that it is part of.
FRACTION = (
    rf"\b(?i:(?P<top>{_any(_ONES[1:])})[- ](?P<parts>{_any(_PARTS)})"
    rf"|(?:one[- ]|a )(?P<part>{_any(_PART)})(?= of\b)"
    rf"|(?<=\bby )a (?P<by>{_any(_PART)})|one[- ](?P<one>{_any(_PART)})"
    r"|half(?= (?:of|the|its|an?)\b(?! dozen)))(?!\w)"
)
ORDINAL = rf"\b(?i:(?:(?P<tens>{_any(_TENS)})[- ])?(?P<nth>{_any(_NTH)}))(?!\w)"
AND_A_HALF = re.compile(r"[- ]and[- ]a[- ]half(?!\w)", re.IGNORECASE)
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_ROMAN_NUMBER = re.compile("(?=.)(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})", re.IGNORECASE)


def value(words: str) -> Decimal:
    """The value of number words that WORDS matched."""
    lowered = words.lower()
    if lowered.startswith("half a"):
        return Decimal(6)
    total = group = 0
    for word in re.findall(r"[a-z]+", lowered):
        if word in _LARGE:
            group = max(group, 1) * _LARGE[word]
            if _LARGE[word] == _THOUSAND:
                total, group = total + group, 0
        elif word != "and":
            group += _SMALL[word]
    return Decimal(total + group)


def fraction(found: re.Match[str]) -> Decimal:
    """The value of what FRACTION matched."""
    if found["top"]:
        return Decimal(_SMALL[found["top"].lower()]) / _PARTS[found["parts"].lower()]
    return 1 / Decimal(_PART[(found["part"] or found["by"] or found["one"] or "half").lower()])


def ordinal(found: re.Match[str]) -> Decimal:
    """The value of what ORDINAL matched."""
    return Decimal(_SMALL[(found["tens"] or "zero").lower()] + _NTH[found["nth"].lower()])


def roman(letters: str) -> int | None:
    """The value of a Roman number up to ninety-nine; None for other letters."""
    if not _ROMAN_NUMBER.fullmatch(letters):
        return None
    digits = [_ROMAN[letter] for letter in letters.lower()]
    following = [*digits[1:], 0]
    return sum(-one if one < next_ else one for one, next_ in zip(digits, following, strict=True))
