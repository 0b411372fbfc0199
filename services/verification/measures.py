"""What the figures of a sentence measure: of what, of whom, for when, in whose view."""

# ruff: noqa: RUF001 - typographic dashes and apostrophes are meant

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, partial

from services.verification.bounds import DOWN, UP
from services.verification.dates import Date
from services.verification.evidence import Span
from services.verification.phrases import compiled, whole
from services.verification.quantities import Quantity
from services.verification.reading import MAX_REMEMBERED, Facts, overlaps, read
from services.verification.source import Cited
from services.verification.words import STOPWORDS, content_stems, stem

# A sentence with more figures is a table, whose rows and columns are not read here.
MAX_FIGURES = 6

CHANGE = "±"
_MOVED = re.compile(
    whole(f"(?:{UP}|{DOWN}|growth|chang\\w+|lowered|rais\\w+|replac\\w+|amend\\w+)"),
    re.IGNORECASE,
)
_BREAK = re.compile(
    r"[;:()–—]|,(?!\d)|\b(?:and|but|while|whereas|versus|compared (?:with|to))\b", re.IGNORECASE
)
# These tell that something is said, not of what.
_NEUTRAL = content_stems(
    """
    report announce post record state say said show reach amount came come stand stood total result
    figure end year quarter month fiscal annual quarterly three six nine twelve company firm group
    according statement release document now amended revised hereby therefore following
    apply exceed excess set earlier ago prior previous last same basis effect
    """
)
# Words that mean the same where policies and filings speak of figures.
_SAME = {
    stem(word): stem(group.split()[0])
    for group in (
        "revenue revenues sales turnover",
        "submit provide present furnish deliver supply",
        "hold own holding",
        "ubo owner",
        "customer client",
        "fee charge",
        "threshold limit",
        "keep kept retain",
        "employee staff headcount",
        "notarized notarised",
    )
    for word in group.split()
}
_BENEFICIAL_OWNER = re.compile(r"\b(?:ultimate )?beneficial owners?\b", re.IGNORECASE)
_ALTERNATIVES = {
    common: frozenset(other for other, one in _SAME.items() if one == common)
    for common in set(_SAME.values())
}
# Another view of a measure has another value, and contradicts nothing.
_VIEW = compiled(
    r"""
    expect\w* | forecasts? | guid(?:ance|ed) | outlook | consensus | estimat\w+ | target\w*
    project(?:s|ed|ions?) | budget\w* | analysts? | wall street | plan(?:s|ned)? | preliminary
    pro[ -]forma | adjusted | non-gaap | organic\w* | underlying | restated | net | gross
    constant[ -]currenc\w+ | excluding | without | average | median | cumulative | to date | half
    months | segments? | divisions? | domestic | international | europe\w* | asia\w* | americas?
    emea | apac | would | could | might | previously | formerly | used to | until | for example
    """
)
_OVER_A_YEAR = compiled(
    r"""
    year[ -](?:over|on)[ -]year | yoy | y/y | (?:from|than|over|above|below) a year (?:earlier|ago)
    (?:from|than|over|above|below) the (?:same|year-ago) \w+ | annual growth
    """
)
# What a figure is of stands in another sentence, which is not looked up.
_SPEAKS_OF_ANOTHER = re.compile(
    r"\b(?:this|these|those|such)\b|^\W*(?:it|they|he|she)\b", re.IGNORECASE
)
_RULE = compiled(
    "must | shall | requir\\w+ | (?-i:may) | should | mandatory | threshold | limit | due"
    " | (?:is|are) (?:kept|retained|stored|reviewed|updated|filed|reported|submitted|investigated)"
)
# "7.1 The Borrower shall": no figure of the sentence.
_CLAUSE_NUMBER = re.compile(r"\W*\d+(?:\.\d+)+\.?\s")
_TAKES_EFFECT = re.compile(
    r"\b(?:effective(?: from| on| as of)?|as of|from|since|starting)\s*\Z", re.IGNORECASE
)
_DEADLINE = re.compile(
    r"\b(?:by|before|due(?: on)?|deadline (?:is|of|for)|no later than|expires? on)\s*(?:the )?\Z",
    re.IGNORECASE,
)
_COMPARED_WITH = re.compile(
    r"\b(?:above|below|over|from|than|against|with|since|to)\s+(?:the |that of )*\Z", re.IGNORECASE
)
_FROM = re.compile(r"\bfrom\s+\Z", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s+(?:[^,;]+\band\s+)?\Z", re.IGNORECASE)
_REACH = 40
_NAME = re.compile(r"[A-Z][\w&]*(?:[.'’-]\w+)*")
_SPEAKS = compiled("reported | posted | announced | said | recorded | earned | booked | employs")
_NO_NAMES = content_stems(
    """
    section article clause annex appendix chapter rule policy board company group inc ltd plc corp
    corporation limited holdings gmbh ag sa llc llp form table note ubo
    """
)


# A quantity, or the day of a deadline.
Value = Quantity | Date


@dataclass(frozen=True, slots=True)
class Figure:
    """One value with what it is the value of. Two figures of one measure differ in the value only.

    Attributes:
        cited: The sentence it stands in.
        value: What it is.
        about: The stems of what is measured, in common words.
        names: Whose it is; empty when the sentence does not say.
        period: For when; None when that is not said.
        view: Words that make another measure of it, such as "consensus" or "segment".
        beside: The other quantities that it stands with, which are its circumstances.
        is_rule: It is laid down rather than found.
        is_yearly: It is a change over a year.
        places: The numbered places that its clause refers to.
        starts: The day from which its sentence says that it applies.
    """

    cited: Cited
    value: Value
    about: frozenset[str]
    names: frozenset[str]
    period: Date | None
    view: frozenset[str]
    beside: frozenset[tuple[Decimal, str]]
    is_rule: bool
    is_yearly: bool
    places: frozenset[tuple[str, str]]
    starts: Date | None


def figures(sentence: Cited) -> Iterator[Figure]:
    """The figures of a sentence of which it is plain what they measure."""
    text, headings = sentence.text, "\n".join(sentence.source.passage.heading_path)
    remember = len(text) + len(headings) <= MAX_REMEMBERED
    for figure in (_remembered if remember else _measured)(text, headings):
        yield figure(cited=sentence)


def _measured(text: str, headings: str) -> tuple[Callable[..., Figure], ...]:
    """The figures of a text below its headings, but for where it stands."""
    return tuple(_figures(text, headings))


# The passages of one question come again with its next attempt, and with the next question.
_remembered = lru_cache(maxsize=1_000)(_measured)


def _figures(text: str, headings: str) -> Iterator[Callable[..., Figure]]:
    facts = read(text)
    number = _CLAUSE_NUMBER.match(text)
    quantities = [q for q in facts.quantities if not number or q.span.start >= number.end()]
    if len(quantities) > MAX_FIGURES or "|" in text or _SPEAKS_OF_ANOTHER.search(text):
        return
    is_rule = _RULE.search(text) is not None
    deadlines = [date for date in facts.dates if date.day and _follows(_DEADLINE, text, date)]
    # "Revenue rose from 30 June" gives its period, "from 30 June clients must" the rule's own.
    starts = [d for d in facts.dates if is_rule and d.day and _follows(_TAKES_EFFECT, text, d)]
    periods = [
        date
        for date in facts.dates
        if date not in starts and date not in deadlines and not _follows(_COMPARED_WITH, text, date)
    ]
    names = names_of(text, facts.spans)
    view = frozenset(found.group().lower() for found in _VIEW.finditer(f"{text}\n{headings}"))
    is_yearly = _OVER_A_YEAR.search(text) is not None
    places = frozenset((r.kind, r.number) for r in facts.references if not _is_label(text, r.span))
    pieces = [(piece, _about(text, piece, facts, names)) for piece in _pieces(text, facts)]
    valued = [q for q in quantities if _is_value(text, q)] + deadlines
    # What stands beside the pieces with figures, such as "For private clients,", binds them all.
    apart = frozenset[str]().union(
        *(about for piece, about in pieces if not any(piece.contains(v.span) for v in valued))
    )
    before = frozenset[str]()
    for piece, own in pieces:
        here = [value for value in valued if piece.contains(value.span)]
        about = own if own - {CHANGE} else own | before
        before = about - {CHANGE} if here else before
        near = [date for date in periods if piece.contains(date.span)] or periods
        for value in here:
            unit = unit_of(value)
            if len(near) > 1 or not about - {CHANGE} | apart:
                continue
            if [unit_of(other) for other in here].count(unit) > 1 or unit == "ordinal":
                continue
            beside = quantities if is_rule else [q for q in here if isinstance(q, Quantity)]
            yield partial(
                Figure,
                value=value,
                about=about | apart,
                names=names,
                period=near[0] if near else None,
                view=view,
                beside=frozenset((q.value, q.unit) for q in beside if q is not value),
                is_rule=is_rule,
                is_yearly=is_yearly and CHANGE in about,
                places=places,
                starts=starts[0] if starts else None,
            )


def alternatives(about: str) -> frozenset[str]:
    """The stems that are counted as one."""
    return _ALTERNATIVES.get(about, frozenset({about}))


def unit_of(value: Value) -> str:
    return value.unit if isinstance(value, Quantity) else "date"


def names_of(text: str, taken: Sequence[Span] = ()) -> frozenset[str]:
    """The stems of the names in a text: words with a capital that no sentence start explains."""
    found = set()
    for match in _NAME.finditer(text):
        word, span = match.group(), Span(match.start(), match.end())
        opens = not text[: match.start()].strip(" \"'“(-•*") or text[: match.start()].rstrip()[
            -1:
        ] in set(".:!?\n")
        inner = any(char.isupper() for char in word[1:]) and not word.isupper()
        if opens and not inner and not _speaks(text, match.end(), word):
            continue
        if word.lower() not in STOPWORDS and not overlaps(span, taken):
            found.add(stem(word))
    return frozenset(found) - _NO_NAMES


def _speaks(text: str, end: int, word: str) -> bool:
    """Whether a word that opens a sentence is whose figures follow."""
    return word.endswith(("'s", "’s")) or _SPEAKS.match(text, end + 1) is not None


def _pieces(text: str, facts: Facts) -> Iterator[Span]:
    breaks = [m for m in _BREAK.finditer(text) if not overlaps(Span(*m.span()), facts.spans)]
    edges = [0, *(edge for found in breaks for edge in found.span()), len(text)]
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        if text[start:end].strip():
            yield Span(start, end)


def _about(text: str, piece: Span, facts: Facts, names: frozenset[str]) -> frozenset[str]:
    part = text[piece.start : piece.end]
    for span in (s.shifted(-piece.start) for s in facts.spans if piece.contains(s)):
        part = part[: span.start] + " " * (span.end - span.start) + part[span.end :]
    part = _OVER_A_YEAR.sub(" ", _BENEFICIAL_OWNER.sub("UBO", part))
    stems = content_stems(_MOVED.sub(" ", part)) - _NEUTRAL - names
    moved = {CHANGE} if _MOVED.search(part) else set()
    return frozenset(_SAME.get(one, one) for one in stems) | moved


def _follows(words_before: re.Pattern[str], text: str, date: Date) -> bool:
    start = max(0, date.span.start - _REACH)
    return words_before.search(text, start, date.span.start) is not None


def _is_value(text: str, quantity: Quantity) -> bool:
    """False for the number of a list item, the first of "lowered from 25% to 20%", and a range."""
    start, end = quantity.span.start, quantity.span.end
    before = text[max(0, start - _REACH) : start]
    is_number = not text[:start].strip(" (") and text[end : end + 1] in {".", ")", ":"}
    is_old = text.startswith(" to ", end) and _FROM.search(before) and _MOVED.search(before)
    return not (is_number or is_old or _BETWEEN.search(before))


def _is_label(text: str, span: Span) -> bool:
    """The number that a sentence stands under, as in "Section 4.2: ..."."""
    return not text[: span.start].strip() and re.match(r"\s*[:.–-]", text[span.end :]) is not None
