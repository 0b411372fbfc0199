"""Dates and periods, as prose writes them.

Month names are read in English, and behind a day in German, French and Spanish too; a date in
figures is read where it has one reading only.
"""

# ruff: noqa: RUF001 - typographic apostrophes are meant

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from services.verification.bounds import Comparator
from services.verification.evidence import Span
from services.verification.phrases import any_of

_MONTH_NAMES = (
    "january jan",
    "february feb",
    "march mar",
    "april apr",
    "may",
    "june jun",
    "july jul",
    "august aug",
    "september sept sep",
    "october oct",
    "november nov",
    "december dec",
)
# German, French and Spanish, without those that are written as in English.
_OTHER_NAMES = (
    "januar janvier enero",
    "februar février febrero",
    "märz mars marzo",
    "avril abril",
    "mai mayo",
    "juni juin junio",
    "juli juillet julio",
    "août agosto",
    "septembre septiembre",
    "oktober octobre octubre",
    "novembre noviembre",
    "dezember décembre diciembre",
)


def _numbered(lists: tuple[str, ...]) -> dict[str, int]:
    return {name: n for n, names in enumerate(lists, start=1) for name in names.split()}


_MONTHS = _numbered(_MONTH_NAMES) | _numbered(_OTHER_NAMES)
_NTH = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}


def _longest_first(names: Iterable[str]) -> str:
    return "|".join(sorted(names, key=len, reverse=True))


# Month names stand with a capital: "may" and "march" are words of their own.
_MONTH = rf"(?P<name>{_longest_first(n.capitalize() for n in _numbered(_MONTH_NAMES))})\b\.?"
_OTHER_MONTH = rf"(?P<name>(?i:{_longest_first(_numbered(_OTHER_NAMES))}))\b"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:1[89]|20|21)\d\d)"
_SHORT = r"['’]?(?P<short>\d\d)"
_QUARTER = r"(?P<quarter>[1-4])"
_LINK = r"(?:\s+(?:of\s+)?(?:(?:the\s+)?fiscal\s+(?:year\s+)?|FY\s?)?|,\s+|\s*[/-]\s*)"
_NTH_PART = rf"(?P<nth>(?i:{'|'.join(_NTH)}))[ -](?i:fiscal[ -])?(?P<part>(?i:quarter|half))"

_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<![\w.-]){_YEAR}-(?P<month>\d\d)-(?P<day>\d\d)(?![\w-])",
        rf"(?<!\w){_DAY}(?:\s+(?:day\s+)?of)?\s+{_MONTH}(?:,?\s+{_YEAR}\b)?",
        rf"(?<!\w)(?P<day>\d{{1,2}})(?:\.|er)?(?:\s+de)?\s+{_OTHER_MONTH}(?:\s+(?:de\s+)?{_YEAR}\b)?",
        rf"\b{_MONTH}\s+{_DAY}(?!\d|[.,]\d)(?:,?\s+{_YEAR}\b)?",
        rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}\b",
        rf"(?<=\b[Ii]n ){_MONTH}(?![\s,]+\d)",
        rf"\b[Qq]{_QUARTER}(?:{_LINK}{_YEAR}|\s?{_SHORT})?(?!\w)",
        rf"\b{_QUARTER}[Qq]{_SHORT}(?!\w)",
        rf"\b{_YEAR}\s?[-/]?\s?[Qq]{_QUARTER}(?!\w)",
        rf"\b{_NTH_PART}(?:{_LINK}{_YEAR})?(?!\w)",
        rf"\b[Hh](?P<half>[12])(?:{_LINK}{_YEAR})?(?!\w)",
        rf"\b(?i:FY|fiscal(?:\s+year)?)\s?(?:{_YEAR}|{_SHORT})(?!\w)",
        # Points stand between day, month and year; with slashes, only a day beyond 12 is plain.
        rf"(?<![\w.])(?P<day>\d{{1,2}})\.\s?(?P<month>\d{{1,2}})\.\s?{_YEAR}(?!\w)",
        rf"(?<![\w./-])(?P<day>1[3-9]|2\d|3[01])[/-](?P<month>0?[1-9]|1[0-2])[/-]{_YEAR}(?![\w/])",
        rf"(?<![\w./-])(?P<month>0?[1-9]|1[0-2])[/-](?P<day>1[3-9]|2\d|3[01])[/-]{_YEAR}(?![\w/])",
        rf"(?<![\w.,$€£/-]){_YEAR}(?![\w%]|[.,/]\d|\s?(?:million|billion|%))",
        rf"(?<=\b(?:19|20)\d\d[-–]){_YEAR}(?![\w%-])",
    )
)
_BOUNDS = {
    Comparator.AT_MOST: """
        on or before | (?:no|not) later than | by(?: the end of)? | until | up to and including
    """,
    Comparator.AT_LEAST: "on or after | (?:no|not) (?:earlier|sooner) than | not before",
    Comparator.LESS_THAN: "before | prior to | earlier than | ahead of",
    Comparator.MORE_THAN: "after | later than | following",
}
_BOUND = re.compile(
    rf"(?<!\w)(?:{'|'.join(f'(?P<{c.name}>{any_of(words)})' for c, words in _BOUNDS.items())}"
    r"|(?P<EXACTLY>on|in|during))(?: the| midnight on)? \Z",
    re.IGNORECASE,
)
_AT_THE_LATEST = re.compile(r",? at the latest\b| or (?:earlier|before)\b", re.IGNORECASE)
_REACH = 30
_MONTHS_A_QUARTER = 3
_MONTHS_A_HALF = 6


@dataclass(frozen=True, slots=True)
class Date:
    """A day or a period, as far as it is said; 0 for what is not.

    Attributes:
        span: Where it stands.
        comparator: How it bounds what happens; None where nothing is said.
        bound_start: Where the words of that bound begin.
    """

    span: Span
    year: int = 0
    month: int = 0
    day: int = 0
    quarter: int = 0
    half: int = 0
    comparator: Comparator | None = None
    bound_start: int = 0

    @property
    def parts(self) -> tuple[int, int, int, int, int]:
        return self.year, self.month, self.day, self.quarter, self.half

    @property
    def order(self) -> tuple[int, int, int]:
        """By which it comes before or after another."""
        month = self.month or self.quarter * _MONTHS_A_QUARTER or self.half * _MONTHS_A_HALF
        return self.year, month, self.day

    def carries(self, other: "Date") -> bool:
        """Whether this says all that the other says.

        A day lies in its year, but the figures of a quarter are not those of the year, and so back.
        """
        if self.day and (other.quarter or other.half) and not other.month:
            return self.year == other.year and self._lies_in(other)
        return (self.quarter, self.half) == (other.quarter, other.half) and all(
            theirs in {0, ours} for ours, theirs in zip(self.parts, other.parts, strict=True)
        )

    def excludes(self, other: "Date") -> bool:
        """Whether what is so at one is not thereby so at the other.

        Unknown where one says the year only; of two months without a year, it is said.
        """
        if self.month and other.month and not self.year and not other.year:
            return self.month != other.month
        return bool(self.year and other.year) and not (self.carries(other) or other.carries(self))

    def is_like(self, other: "Date") -> bool:
        """Whether both are said to the same precision."""
        return [bool(part) for part in self.parts] == [bool(part) for part in other.parts]

    def in_year(self, year: int) -> "Date":
        return self if self.year else replace(self, year=year)

    def _lies_in(self, part: "Date") -> bool:
        quarter = (self.month - 1) // _MONTHS_A_QUARTER + 1
        half = (self.month - 1) // _MONTHS_A_HALF + 1
        return part.quarter in {0, quarter} and part.half in {0, half}


def dates(text: str) -> list[Date]:
    """Every date and period of a text in order, the longest reading of each."""
    return [
        _date(text, found) for found in _longest(m for p in _PATTERNS for m in p.finditer(text))
    ]


def _longest(found: Iterable[re.Match[str]]) -> Iterable[re.Match[str]]:
    done = 0
    for match in sorted(found, key=lambda m: (m.start(), -m.end())):
        if match.start() >= done:
            done = match.end()
            yield match


def _date(text: str, found: re.Match[str]) -> Date:
    said = {name: value for name, value in found.groupdict().items() if value}
    year = int(said.get("year", 0)) or (2000 + int(said["short"]) if "short" in said else 0)
    nth = _NTH.get(said.get("nth", "").lower(), 0)
    is_half = said.get("part", "").lower() == "half"
    return Date(
        Span(found.start(), found.end()),
        year,
        _MONTHS[said["name"].lower()] if "name" in said else int(said.get("month", 0)),
        int(said.get("day", 0)),
        int(said.get("quarter", 0)) or (0 if is_half else nth),
        int(said.get("half", 0)) or (nth if is_half else 0),
        *_bound(text, found.start(), found.end()),
    )


def _bound(text: str, start: int, end: int) -> tuple[Comparator | None, int]:
    """How a date bounds what happens, and where the words that say so begin."""
    if _AT_THE_LATEST.match(text, end, end + _REACH):
        return Comparator.AT_MOST, start
    if found := _BOUND.search(text, max(0, start - _REACH), start):
        return Comparator[str(found.lastgroup)], found.start()
    return None, start
