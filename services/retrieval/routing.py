"""What a query names exactly: numbers of sections, and words in quotation marks."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from services.retrieval.passage import Passage
from services.retrieval.phrases import has_words, quoted, words
from services.retrieval.references import in_plain_characters, sections
from services.retrieval.sections import section_keys

_MAX_TERMS = 10
# "What does section 4.2 say about proof of funds?"
_MOST_OTHER_WORDS = 5
_SHORTEST_CONTENT = 4

_WORD = re.compile(r"[^\W_]+")


class Kind(Enum):
    """What a query names; the names are those of the contract."""

    SECTION = auto()
    PHRASE = auto()


@dataclass(frozen=True, slots=True)
class Named:
    """Something that a query names exactly.

    Attributes:
        text: As the query has it, in plain characters.
        key: What tells it from others: a section's key, or the words as they are compared.
        wider: The sections that it may be a part of without being set apart, nearest first: the
            text of Article 48 for its paragraph (1).
    """

    kind: Kind
    text: str
    key: str
    wider: tuple["Named", ...] = ()


def named(query: str) -> tuple[Named, ...]:
    """Everything that a query names, in order of kind, each once."""
    query = in_plain_characters(query)
    found: dict[tuple[Kind, str], Named] = {}
    for (text, key), *wider in sections(query):
        around = tuple(Named(Kind.SECTION, *one) for one in wider)
        found.setdefault((Kind.SECTION, key), Named(Kind.SECTION, text, key, around))
    for text in quoted(query):
        found.setdefault((Kind.PHRASE, words(text)), Named(Kind.PHRASE, text, words(text)))
    return tuple(found.values())[:_MAX_TERMS]


def leading(query: str, found: Iterable[Named]) -> tuple[Named, ...]:
    """What a query is for, of what it names: quoted words, and sections when it says little else.

    A long question mentions a section as often as something its answer refers to as for where its
    answer stands (ADR 25).
    """
    found = tuple(found)
    rest = in_plain_characters(query)
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


def reached(
    wanted: Iterable[Named], passages: Sequence[Passage]
) -> Mapping[Named, Sequence[Passage]]:
    """Which passages have what is named, in order.

    Behind it, of each document that has it nowhere, those of the nearest section around it.
    """
    found: dict[Named, Sequence[Passage]] = {}
    for one in wanted:
        found[one] = [passage for passage in passages if has(passage, one)]
        documents = {passage.document_id for passage in found[one]}
        for around in one.wider:
            those = [p for p in passages if _is(p, around) and p.document_id not in documents]
            documents |= {passage.document_id for passage in those}
            if those:
                found.setdefault(around, those)
    return found


def nearness(wanted: Iterable[Named], passages: Sequence[Passage]) -> Mapping[str, int]:
    """By id: 2 for a passage that is what is named, 1 for one that lies in it, as 6.1 does in 6."""
    near: dict[str, int] = {}
    for one, those in reached(wanted, passages).items():
        for passage in those:
            near[passage.id] = max(near.get(passage.id, 0), 1 + _is(passage, one))
    return near


def _is(passage: Passage, wanted: Named) -> bool:
    if wanted.kind is Kind.SECTION:
        return wanted.key in section_keys(passage.section_id)[:1]
    return has(passage, wanted)
