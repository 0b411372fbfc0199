"""What the words around a number make of it: a bound, a threshold, a rise or a fall."""

import re
from enum import StrEnum

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
        (?:not|no|never|n't) (?:be )?(?:more|greater|higher|later|longer) than
        (?:not|never|n't) (?:be )?(?:over|above)
        (?:not|never|cannot) exceed(?:ing|s)? | at most | up to | (?:a )?maximum(?: of)? | within
        ≤ | <=
    """,
    Comparator.AT_LEAST: r"""
        (?:not|no|never|n't) (?:be )?(?:less|fewer|lower|smaller|earlier) than
        (?:not|never|n't) (?:be )?(?:below|under)
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
_THRESHOLD_AFTER = re.compile(
    r"[\s-](?:\w+ ){0,2}(?:threshold|limit|cap|ceiling|floor|minimum|maximum|mark|level)\b",
    re.IGNORECASE,
)
UP = any_of(
    r"""
    up | rose | rise[sn]? | rising | increas\w* | grew | grow(?:s|n|th|ing)? | gain\w* | higher
    climb\w* | surg\w* | jump\w* | improv\w*
    """
)
DOWN = any_of(
    r"""
    down | fell | fall(?:s|en|ing)? | decreas\w* | declin\w* | drop\w* | lower | los[st]\w*
    shr[aiu]nk\w* | reduc\w* | slid | contract(?:ed|ion)
    """
)
_LINK = any_of("by | of | to | in | about | nearly | almost | a | an | the | over | more | than")
_DIRECTION_BEFORE = re.compile(
    rf"\b(?:(?P<up>{UP})|(?P<down>{DOWN}))(?: {_LINK}){{0,3}} ?\Z", re.IGNORECASE
)
_DIRECTION_AFTER = re.compile(
    rf"[\s-](?:\w+[\s-])?(?:(?P<up>{UP})|(?P<down>{DOWN}))\b", re.IGNORECASE
)


def comparator(text: str, start: int, end: int) -> Comparator:
    """The comparator of the number at text[start:end]."""
    found = _BOUND_AFTER.match(text, end, end + _REACH) or _BOUND_BEFORE.search(
        text, max(0, start - _REACH), start
    )
    return Comparator[str(found.lastgroup)] if found else Comparator.EXACTLY


def is_threshold(text: str, end: int) -> bool:
    """Whether the number that ends there names a threshold: it may stand for the bound itself."""
    return _THRESHOLD_AFTER.match(text, end, end + _REACH) is not None


def direction(text: str, start: int, end: int) -> int:
    """1 where the number at text[start:end] is an increase, -1 where it is a decrease, else 0."""
    found = _DIRECTION_BEFORE.search(text, max(0, start - _REACH), start) or _DIRECTION_AFTER.match(
        text, end, end + _REACH
    )
    if found is None:
        return 0
    return 1 if found["up"] else -1
