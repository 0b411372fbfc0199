"""Dates, periods and references to places in a document, as prose writes them."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from services.verification.evidence import Span

_MONTHS = {
    name: number
    for number, names in enumerate(
        (("january", "jan"), ("february", "feb"), ("march", "mar"), ("april", "apr"), ("may",), ("june", "jun"),
         ("july", "jul"), ("august", "aug"), ("september", "sept", "sep"), ("october", "oct"),
         ("november", "nov"), ("december", "dec")), start=1)
    for name in names
}  # fmt: skip
_NTH = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
# Month names stand with a capital: "may" and "march" are words of their own.
_MONTH = "|".join(name.capitalize() for name in sorted(_MONTHS, key=len, reverse=True))
_YEAR = r"(?:1[89]|20|21)\d\d"
_LINK = r"(?:\s+(?:of\s+)?(?:fiscal\s+(?:year\s+)?|FY\s?)?|,\s+|\s*[/-]\s*)"

_PATTERNS = tuple(
    re.compile(pattern, re.VERBOSE)
    for pattern in (
        rf"(?<![\w.-])(?P<year>{_YEAR})-(?P<month>\d\d)-(?P<day>\d\d)(?![\w-])",
        rf"(?<!\w)(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+(?P<name>{_MONTH})\b\.?(?:,?\s+(?P<year>{_YEAR})\b)?",
        rf"\b(?P<name>{_MONTH})\b\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\d|[.,]\d)(?:,?\s+(?P<year>{_YEAR})\b)?",
        rf"\b(?P<name>{_MONTH})\b\.?,?\s+(?:of\s+)?(?P<year>{_YEAR})\b",
        rf"\b[Qq](?P<quarter>[1-4])(?:{_LINK}(?P<year>{_YEAR})|\s?['’](?P<short>\d\d))?(?![\w])",
        r"\b(?P<quarter>[1-4])[Qq](?P<short>\d\d)(?!\w)",
        rf"\b(?P<year>{_YEAR})\s?[-/]?\s?[Qq](?P<quarter>[1-4])(?!\w)",
        rf"\b(?P<nth>(?i:first|second|third|fourth|1st|2nd|3rd|4th))[ -](?i:fiscal[ -])?(?P<part>(?i:quarter|half))"
        rf"(?:{_LINK}(?P<year>{_YEAR}))?(?!\w)",
        rf"\b[Hh](?P<half>[12])(?:{_LINK}(?P<year>{_YEAR}))?(?!\w)",
        rf"\b(?i:FY|fiscal(?:\s+year)?)\s?(?:(?P<year>{_YEAR})|['’]?(?P<short>\d\d))(?!\w)",
        rf"(?<![\w.,$€£/-])(?P<year>{_YEAR})(?![\w%]|[.,/]\d|\s?(?:million|billion|%))",
    )
)
_REFERENCE = re.compile(
    r"(?:\b|(?=§))(?P<kind>(?i:sections?|sec\.|articles?|art\.|clauses?|paragraphs?|para\.|chapters?|annex(?:es)?|appendix|schedules?|rules?"
    r"|recitals?|parts?|tables?|figures?|pages?|forms?|items?|notes?|exhibits?|p\.|pp\.)|§+)\s*"
    r"(?P<number>\(?\d[\w.-]*(?:\(\w{1,4}\))*|[A-Z](?![\w'’])(?:\.?\d+)*|[IVXLC]+\b)"
)
_KINDS = {"sec.": "section", "§": "section", "art.": "article", "para.": "paragraph", "p.": "page", "pp.": "page",
          "annexes": "annex"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Date:
    """A day or a period, as far as it is said; 0 for what is not."""

    span: Span
    year: int = 0
    month: int = 0
    day: int = 0
    quarter: int = 0
    half: int = 0

    def carries(self, other: "Date") -> bool:
        """Whether this says all that the other says; a year carries no quarter, nor a quarter its year's figures."""
        if (self.quarter, self.half) != (other.quarter, other.half):
            return False
        return all(
            theirs in (0, ours)
            for ours, theirs in (
                (self.year, other.year),
                (self.month, other.month),
                (self.day, other.day),
            )
        )

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
        kind = found["kind"].lower()
        kind = _KINDS.get(kind, "section" if kind[0] == "§" else kind.removesuffix("s"))
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
