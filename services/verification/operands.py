"""The cited figures that a statement derives one of its own from: those it names, or else all.

Which are meant must be plain; where it is not, none are.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from services.verification.bounds import Comparator
from services.verification.dates import Date
from services.verification.evidence import Span
from services.verification.periods import period
from services.verification.phrases import compiled
from services.verification.quantities import ORDINAL, Quantity
from services.verification.reading import Evidence, Facts
from services.verification.words import content_stems, words

# A stretch with more figures is a table, of which a sentence does not say which it means.
MAX_CITED = 40
PAIR = 2
_THAN = compiled("than | exceed\\w*")
# "230 million, up from 200 million": what follows is the earlier figure.
_BACKWARDS = re.compile(
    r"\b(?:from|compared (?:with|to)|against|versus|vs|than|after)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Operand:
    """A cited figure that something may be derived from."""

    evidence: Evidence
    quantity: Quantity
    label: frozenset[str]
    period: Date | None

    @property
    def value(self) -> Decimal:
        return self.quantity.value

    @property
    def place(self) -> tuple[str, Span]:
        return place_of(self.evidence, self.quantity.span)

    def __str__(self) -> str:
        return text_at(self.evidence, self.quantity.span)


def operands_of(evidence: Sequence[Evidence]) -> list[Operand]:
    """The exact figures that are cited; those of tables are left out."""
    return [
        Operand(e, quantity, label, period(e.facts, quantity.span))
        for e in evidence
        if len(e.facts.quantities) <= MAX_CITED
        for quantity, label in zip(e.facts.quantities, e.facts.labels, strict=True)
        if quantity.comparator is Comparator.EXACTLY and quantity.unit != ORDINAL
    ]


def pairs(said: Facts, operands: Sequence[Operand]) -> Iterator[tuple[Operand, Operand]]:
    """The earlier and the later of the two figures that are meant; none where it is not plain."""
    meant = meant_by(said, operands)
    if len(meant) != PAIR:
        meant = [one for one in operands if _is_of_its_period(said, one)]
    if len(meant) != PAIR:
        return
    one, other = meant
    if are_named(said, meant) and _THAN.search(said.text):
        first, second = in_order_said(said, (one, other))
        yield second, first
    elif one.period and other.period and one.period.order != other.period.order:
        yield (one, other) if one.period.order < other.period.order else (other, one)
    elif one.evidence is other.evidence and _is_backwards(one, other):
        yield other, one
    else:
        yield one, other


def meant_by(said: Facts, operands: Sequence[Operand]) -> Sequence[Operand]:
    """The figures that the statement names by words that only they have, or else all."""
    named = [one for one in operands if is_named(said, one, operands)]
    return named if len(named) > 1 else operands


def are_named(said: Facts, operands: Sequence[Operand]) -> bool:
    """Whether the statement names each by words that none of the others has."""
    return all(is_named(said, one, operands) for one in operands)


def is_named(said: Facts, one: Operand, operands: Sequence[Operand]) -> bool:
    """Whether the statement has a word of this figure that none of the others has."""
    return bool(_own_words(one, operands) & content_stems(said.text))


def _own_words(one: Operand, operands: Sequence[Operand]) -> frozenset[str]:
    return one.label.difference(*(other.label for other in operands if other is not one))


def in_order_said(said: Facts, pair: tuple[Operand, Operand]) -> tuple[Operand, Operand]:
    """The two figures in the order in which the statement names them."""
    one, other = pair
    said_words = [word.stem for word in words(said.text)]

    def at(operand: Operand) -> int:
        own = _own_words(operand, pair)
        return next(
            (n for n, said_stem in enumerate(said_words) if said_stem in own), len(said_words)
        )

    return (one, other) if at(one) <= at(other) else (other, one)


def _is_of_its_period(said: Facts, one: Operand) -> bool:
    return one.period is not None and any(one.period.carries(date) for date in said.dates)


def _is_backwards(one: Operand, other: Operand) -> bool:
    between = one.evidence.facts.text[one.quantity.span.end : other.quantity.span.start]
    return _BACKWARDS.search(between) is not None


def of_unit(operands: Sequence[Operand], unit: str) -> list[Operand]:
    """Those in a unit, as `Quantity.unit` names it."""
    return [one for one in operands if one.quantity.unit == unit]


def units_of(operands: Sequence[Operand]) -> list[str]:
    """Their units, each once."""
    return list(dict.fromkeys(one.quantity.unit for one in operands))


def place_of(evidence: Evidence, span: Span) -> tuple[str, Span]:
    """The passage of a stretch of cited words, and where it stands in it."""
    return evidence.cited.source.passage.id, evidence.cited.in_source(span)


def text_at(evidence: Evidence, span: Span) -> str:
    """A stretch of cited words, as it is written."""
    return evidence.facts.text[span.start : span.end]
