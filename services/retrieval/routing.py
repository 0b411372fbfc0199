"""What a query names exactly: numbers of sections, and words in quotation marks."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from services.retrieval.passage import Passage
from services.retrieval.phrases import has_words, quoted, words
from services.retrieval.sections import LABEL, section_keys

_MAX_TERMS = 10
# "What does section 4.2 say about proof of funds?"
_MOST_OTHER_WORDS = 5
_SHORTEST_CONTENT = 4

_PART = r"(?:\.?\([0-9a-z]{1,4}\)|\.(?:[0-9]{1,4}|guidance|notes?|[a-z]{1,3}(?![a-z])))"
_NAMED = re.compile(
    rf"(?<![\w.])(?P<label>{LABEL})[\s\u00a0]*(?P<number>[0-9]{{1,4}}[a-z]?{_PART}*)(?![\w%])",
    re.IGNORECASE,
)
# These are counted apart from sections, and keep their word.
_APART = re.compile(r"\b(?i:chapter|annex|appendix|schedule)\s+(?:[0-9]{1,3}|[A-Z]|[IVXLC]{1,6})\b")
# Without a word before it a number must look like nothing else: "14.2.3", "4.2(b)", "SEC_4.2".
_BARE = re.compile(
    rf"(?<![\w.,$€£])(?P<number>[0-9]{{1,4}}(?:\.[0-9]{{1,4}}){{2,}}{_PART}*"
    rf"|[0-9]{{1,4}}(?:\.[0-9]{{1,4}})+{_PART}*(?:\.guidance|\([0-9a-z]{{1,4}}\)){_PART}*"
    r"|(?:sec|art|cl|para)_[0-9]{1,4}(?:\.[0-9]{1,3})*)(?![\w%])",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")


class Kind(Enum):
    """What a query names; the names are those of the contract."""

    SECTION = auto()
    PHRASE = auto()


@dataclass(frozen=True, slots=True)
class Named:
    """Something that a query names exactly.

    Attributes:
        text: As the query has it.
        key: What tells it from others: a section's key, or the words as they are compared.
    """

    kind: Kind
    text: str
    key: str


def named(query: str) -> tuple[Named, ...]:
    """Everything that a query names, in order of kind, each once."""
    phrases = (Named(Kind.PHRASE, text, words(text)) for text in quoted(query))
    found = [*_sections(query), *phrases]
    return tuple({(one.kind, one.key): one for one in found}.values())[:_MAX_TERMS]


def leading(query: str, found: Iterable[Named]) -> tuple[Named, ...]:
    """What a query is for, of what it names: quoted words, and sections when it says little else.

    A long question mentions a section as often as something its answer refers to as for where its
    answer stands (ADR 25).
    """
    found = tuple(found)
    rest = query
    for one in found:
        if one.kind is Kind.SECTION:
            rest = rest.replace(one.text, " ")
    others = [word for word in _WORD.findall(rest) if len(word) >= _SHORTEST_CONTENT]
    if len(others) <= _MOST_OTHER_WORDS:
        return found
    return tuple(one for one in found if one.kind is Kind.PHRASE)


def has(passage: Passage, wanted: Named) -> bool:
    """Whether a passage is, or is in, the section that is named, or has the words."""
    if wanted.kind is Kind.SECTION:
        return wanted.key in section_keys(passage.section_id)
    return has_words(passage.text, wanted.text)


def _sections(query: str) -> Iterator[Named]:
    for match in (*_NAMED.finditer(query), *_BARE.finditer(query)):
        yield Named(Kind.SECTION, match[0].strip(), section_keys(match["number"])[0])
    for match in _APART.finditer(query):
        yield Named(Kind.SECTION, match[0], section_keys(match[0])[0])
