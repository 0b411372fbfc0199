"""Dates, periods and references to places in a document, as prose writes them."""

# ruff: noqa: RUF001 - typographic apostrophes are meant

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from services.verification.evidence import Span
from services.verification.phrases import any_of

_MONTH_NAMES = (
    "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug"
    "|september sept sep|october oct|november nov|december dec"
)
_MONTHS = {
    name: number
    for number, names in enumerate(
        [
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
        ],
        start=1,
    )
    for name in names.split()
}
_NTH = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
# Month names stand with a capital: "may" and "march" are words of their own.
_MONTH = "|".join(name.capitalize() for name in sorted(_MONTHS, key=len, reverse=True))
_MONTH = rf"(?P<name>{_MONTH})\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:1[89]|20|21)\d\d)"
_SHORT = r"['’]?(?P<short>\d\d)"
_QUARTER = r"(?P<quarter>[1-4])"
_LINK = r"(?:\s+(?:of\s+)?(?:fiscal\s+(?:year\s+)?|FY\s?)?|,\s+|\s*[/-]\s*)"
_NTH_PART = rf"(?P<nth>(?i:{'|'.join(_NTH)}))[ -](?i:fiscal[ -])?(?P<part>(?i:quarter|half))"

_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<![\w.-]){_YEAR}-(?P<month>\d\d)-(?P<day>\d\d)(?![\w-])",
        rf"(?<!\w){_DAY}(?:\s+of)?\s+{_MONTH}(?:,?\s+{_YEAR}\b)?",
        rf"\b{_MONTH}\s+{_DAY}(?!\d|[.,]\d)(?:,?\s+{_YEAR}\b)?",
        rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}\b",
        rf"\b[Qq]{_QUARTER}(?:{_LINK}{_YEAR}|\s?{_SHORT})?(?!\w)",
        rf"\b{_QUARTER}[Qq]{_SHORT}(?!\w)",
        rf"\b{_YEAR}\s?[-/]?\s?[Qq]{_QUARTER}(?!\w)",
        rf"\b{_NTH_PART}(?:{_LINK}{_YEAR})?(?!\w)",
        rf"\b[Hh](?P<half>[12])(?:{_LINK}{_YEAR})?(?!\w)",
        rf"\b(?i:FY|fiscal(?:\s+year)?)\s?(?:{_YEAR}|{_SHORT})(?!\w)",
        rf"(?<![\w.,$€£/-]){_YEAR}(?![\w%]|[.,/]\d|\s?(?:million|billion|%))",
    )
)
_KIND = any_of(
    r"""
    sections? | sec\. | articles? | art\. | clauses? | paragraphs? | para\. | chapters?
    annex(?:es)? | appendix | schedules? | rules? | recitals? | parts? | tables? | figures? | pages?
    forms? | items? | notes? | exhibits? | p\. | pp\.
    """
)
_REFERENCE = re.compile(
    rf"(?:\b(?P<kind>(?i:{_KIND}))|(?P<sign>§+))\s*"
    r"(?P<number>\(?\d[\w.-]*(?:\(\w{1,4}\))*|[A-Z](?![\w'’])(?:\.?\d+)*|[IVXLC]+\b)"
)
_KINDS = {
    "sec.": "section",
    "art.": "article",
    "para.": "paragraph",
    "annexes": "annex",
    "p.": "page",
    "pp.": "page",
}


@dataclass(frozen=True, slots=True)
class Date:
    """A day or a period, as far as it is said; 0 for what is not."""

    span: Span
    year: int = 0
    month: int = 0
    day: int = 0
    quarter: int = 0
    half: int = 0

    @property
    def parts(self) -> tuple[int, int, int, int, int]:
        return self.year, self.month, self.day, self.quarter, self.half

    def carries(self, other: "Date") -> bool:
        """Whether this says all that the other says.

        A day lies in its year, but the figures of a quarter are not those of the year, and so back.
        """
        return (self.quarter, self.half) == (other.quarter, other.half) and all(
            theirs in {0, ours} for ours, theirs in zip(self.parts, other.parts, strict=True)
        )

    def excludes(self, other: "Date") -> bool:
        """Whether what is so at one is not thereby so at the other; unknown without both years."""
        return bool(self.year and other.year) and not (self.carries(other) or other.carries(self))

    def is_like(self, other: "Date") -> bool:
        """Whether both are said to the same precision."""
        return [bool(part) for part in self.parts] == [bool(part) for part in other.parts]

    def in_year(self, year: int) -> "Date":
        return (
            self
            if self.year
            else Date(self.span, year, self.month, self.day, self.quarter, self.half)
        )


@dataclass(frozen=True, slots=True)
class Reference:
    """A numbered place, such as Section 4.2."""

    span: Span
    kind: str
    number: str


def dates(text: str) -> list[Date]:
    """Every date and period of a text in order, the longest reading of each."""
    return [_date(found) for found in _longest(m for p in _PATTERNS for m in p.finditer(text))]


def references(text: str) -> Iterator[Reference]:
    """Every numbered place that a text names, in order."""
    for found in _REFERENCE.finditer(text):
        kind = (found["kind"] or "section").lower()
        kind = _KINDS.get(kind, kind.removesuffix("s"))
        number = found["number"].rstrip(".-").lower()
        yield Reference(Span(found.start(), found.start("number") + len(number)), kind, number)


def _longest(found: Iterable[re.Match[str]]) -> Iterator[re.Match[str]]:
    done = 0
    for match in sorted(found, key=lambda m: (m.start(), -m.end())):
        if match.start() >= done:
            done = match.end()
            yield match


def _date(found: re.Match[str]) -> Date:
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
    )
