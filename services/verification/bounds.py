"""What the words around a number make of it: a bound, a threshold, a rise or a fall."""

# ruff: noqa: RUF001 - typographic apostrophes and dashes are meant

import re
from dataclasses import dataclass
from enum import StrEnum

from services.verification.evidence import Span
from services.verification.phrases import any_of

_REACH = 48


class Comparator(StrEnum):
    """How a number bounds what it speaks of."""

    EXACTLY = "exactly"
    ABOUT = "about"
    MORE_THAN = "more than"
    AT_LEAST = "at least"
    LESS_THAN = "less than"
    AT_MOST = "at most"


BEFORE = {
    Comparator.AT_MOST: r"""
        (?:not|no|never|\w+n['’]t) (?:be )?(?:more|greater|higher|later|longer) than
        (?:not|never|\w+n['’]t) (?:be )?(?:over|above) | as (?:much|many|high|long) as | capped at
        limited to
        (?:not|never|cannot) exceed(?:ing|s)? | at most | up to | (?:a )?maximum(?: of)? | within
        ≤ | <=
    """,
    Comparator.AT_LEAST: r"""
        (?:not|no|never|\w+n['’]t) (?:be )?(?:less|fewer|lower|smaller|earlier) than
        (?:not|never|\w+n['’]t) (?:be )?(?:below|under)
        at least | (?:a )?minimum(?: of)? | equal to or (?:more|greater|higher) than | ≥ | >=
    """,
    Comparator.MORE_THAN: r"""
        (?:more|greater|higher|larger|longer|later) than | over | above | exceed(?:s|ed|ing)?
        in excess of | upwards? of | beyond | >
    """,
    Comparator.LESS_THAN: r"""
        (?:less|fewer|lower|smaller|shorter|earlier) than | under | below | <
    """,
    Comparator.ABOUT: r"""
        about | around | approximately | approx\.? | roughly | nearly | almost | some | circa | ca\.
        close to | ~ | ≈
    """,
}
_BOUND_BEFORE = re.compile(
    rf"(?<!\w)(?:{'|'.join(f'(?P<{c.name}>{any_of(words)})' for c, words in BEFORE.items())})"
    r"\s*(?:the |a |an |its )?(?:threshold of |limit of )?\Z",
    re.IGNORECASE,
)
_BOUND_AFTER = re.compile(
    r"[\s,]{0,2}(?:"
    r"(?P<AT_LEAST>(?:or|and) (?:more|greater|higher|over|above|longer|older)|at least(?=[,.;)]|$))"
    r"|(?P<AT_MOST>(?:or|and) (?:less|fewer|lower|under|below|younger)|at most(?=[,.;)]|$)))(?!\w)",
    re.IGNORECASE,
)
# "The minimum capital is", "a maximum daily dose of": a noun that makes a bound of what it is.
_BOUND_NOUN = re.compile(
    r"\b(?:(?P<AT_LEAST>minimum|floor)|(?P<AT_MOST>maximum|limit|cap|ceiling))"
    r"(?: [\w-]+){0,4}? (?:is|are|was|were|be|of)\s?(?:set at )?\Z",
    re.IGNORECASE,
)
_THRESHOLD_AFTER = re.compile(
    r"[\s-](?:\w+ ){0,2}(?:threshold|limit|cap|ceiling|floor|minimum|maximum|mark|level)\b",
    re.IGNORECASE,
)
UP = any_of(
    r"""
    up | rose | rise[sn]? | rising | increas\w* | grew | grow(?:s|n|th|ing)? | gain\w* | higher
    climb\w* | surg\w* | jump\w* | improv\w* | rais\w+ | widen\w* | advanc\w+ | expand\w*
    """
)
DOWN = any_of(
    r"""
    down | fell | fall(?:s|en|ing)? | decreas\w* | declin\w* | drop\w* | lower | los[st]\w*
    shr[aiu]nk\w* | reduc\w* | slid | contract(?:ed|ion) | cuts? | cutting | narrow\w* | slump\w*
    plung\w+ | halv(?:ed|es|ing)
    """
)
_LINK = any_of("by | of | to | in | about | nearly | almost | a | an | the | over | more | than")
_DIRECTION_BEFORE = re.compile(
    rf"\b(?:(?P<up>{UP})|(?P<down>{DOWN}))(?: {_LINK}){{0,3}} ?\Z", re.IGNORECASE
)
_DIRECTION_AFTER = re.compile(
    rf"[\s-](?:\w+[\s-])?(?:(?P<up>{UP})|(?P<down>{DOWN}))\b", re.IGNORECASE
)
_GAIN = "profits? | surplus(?:es)? | gains? | inflows?"
_LOSS = "loss(?:es)? | deficits? | shortfalls? | outflows?"
GAIN, LOSS = any_of(_GAIN), any_of(_LOSS)
_SIDE_BEFORE = re.compile(
    rf"\b(?:(?P<gain>{GAIN})|(?P<loss>{LOSS}))(?: for the \w+| in \w+)?"
    r"(?: (?:of|was|were|is|totall?ed|amounted to|came to|stood at|about|nearly))* ?\Z",
    re.IGNORECASE,
)
_SIDE_AFTER = re.compile(
    rf"[\s-](?:net |operating |annual )?(?:(?P<gain>{GAIN})|(?P<loss>{LOSS}))\b", re.IGNORECASE
)
_TO = re.compile(r"\s?(?:to|through|[-–—])\s?")
_AND = re.compile(r"\s?and\s?", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s?\Z", re.IGNORECASE)
# A change from one value to another is no range.
_CHANGE = re.compile(rf"\b(?:{UP}|{DOWN}|chang\w+|rais\w+|cut|amended)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Bound:
    """What a number is a bound of; `is_threshold`: it may stand for the bound itself."""

    comparator: Comparator
    is_threshold: bool


def bound(text: str, start: int, end: int) -> Bound:
    """How the number at text[start:end] bounds what it speaks of."""
    found = _BOUND_AFTER.match(text, end, end + _REACH) or _BOUND_BEFORE.search(
        text, max(0, start - _REACH), start
    )
    if found:
        return Bound(Comparator[str(found.lastgroup)], is_threshold(text, end))
    if noun := _BOUND_NOUN.search(text, max(0, start - _REACH), start):
        return Bound(Comparator[str(noun.lastgroup)], is_threshold=True)
    return Bound(Comparator.EXACTLY, is_threshold(text, end))


def is_threshold(text: str, end: int) -> bool:
    """Whether the number that ends there names a threshold: it may stand for the bound itself."""
    return _THRESHOLD_AFTER.match(text, end, end + _REACH) is not None


def is_range(text: str, one: Span, following: Span) -> bool:
    """Whether two numbers beside each other are the ends of a range."""
    between = text[one.end : following.start]
    before = text[max(0, one.start - _REACH) : one.start]
    if _AND.fullmatch(between):
        return _BETWEEN.search(before) is not None
    return _TO.fullmatch(between) is not None and _CHANGE.search(before) is None


def direction(text: str, start: int, end: int) -> int:
    """1 where the number at text[start:end] is an increase, -1 where it is a decrease, else 0."""
    found = _DIRECTION_BEFORE.search(text, max(0, start - _REACH), start) or _DIRECTION_AFTER.match(
        text, end, end + _REACH
    )
    if found is None:
        return 0
    return 1 if found["up"] else -1


def side(text: str, start: int, end: int) -> int:
    """1 where the number at text[start:end] is a gain, -1 where it is a loss, else 0."""
    found = _SIDE_BEFORE.search(text, max(0, start - _REACH), start) or _SIDE_AFTER.match(
        text, end, end + _REACH
    )
    if found is None:
        return 0
    return 1 if found["gain"] else -1
