"""Figures that a statement derives from cited ones: recomputed, with the statement's own rounding.

Sums, averages, differences, growth rates, shares, ratios and times between two dates, in English.
Which figures are meant must be plain: those that the statement names, else all there are of a kind.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from services.verification.bounds import DOWN, UP, Comparator
from services.verification.dates import Date
from services.verification.evidence import DerivedFigure, Span
from services.verification.periods import period
from services.verification.phrases import compiled
from services.verification.quantities import CLOCK, ORDINAL, TIMES, Quantity
from services.verification.reading import Evidence, Facts
from services.verification.words import content_stems, stem, words

# A stretch with more figures is a table, of which a sentence does not say which it means.
MAX_CITED = 40
# A sentence derives no more figures than this; the rest of them have to stand in the source.
MAX_DERIVED = 20
# A sum of more figures than this is a table's.
MAX_OPERANDS = 12
_SUM = compiled(
    "together | combined | total\\w* | in all | sum | aggregate\\w* | altogether | overall | both"
    " | plus"
)
_AVERAGE = compiled("averag\\w+ | mean | on average")
_MORE = compiled(f"{UP} | more | above | exceed\\w* | greater | larger | over | longer | ahead")
_LESS = compiled(f"{DOWN} | less | fewer | below | smaller | under | shorter | behind | short")
_CHANGE = compiled("chang\\w+ | differ\\w* | gap | margin | moved | spread")
_THAN = compiled("than | exceed\\w*")
_SHARE = compiled(
    "share | proportion | fraction | represent\\w* | account\\w* | ratio | rate | margin"
)
_OF = compiled("of")
_AFTER = compiled(
    "after | later | before | earlier | between | last\\w* | for | over | from | within | since"
)
# "230 million, up from 200 million": what follows is the earlier figure.
_BACKWARDS = re.compile(
    r"\b(?:from|compared (?:with|to)|against|versus|vs|than|after)\b", re.IGNORECASE
)
_TOTAL = stem("total")
_MONTHS_A_YEAR = 12


@dataclass(frozen=True, slots=True)
class _Operand:
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
        return _place(self.evidence, self.quantity.span)

    def __str__(self) -> str:
        return _cut(self.evidence, self.quantity.span)


class Derivation:
    """How figures of a statement follow from cited ones.

    Args:
        said: What the statement says.
        evidence: What it cites.
    """

    def __init__(self, said: Facts, evidence: Sequence[Evidence]) -> None:
        self._said = said
        self._evidence = evidence
        self._tried = 0

    def of(self, ours: Quantity) -> DerivedFigure | None:
        """How one of the statement's figures follows; None when it does not."""
        self._tried += 1
        if ours.unit in {ORDINAL, CLOCK} or self._tried > MAX_DERIVED:
            return None
        said = self._said
        if ours.unit == "month" and (found := _between_dates(said, ours, self._evidence)):
            return found
        for way in (_sum, _average, _difference, _growth, _share, _ratio):
            for value, formula, used in way(said, ours, self._operands):
                if _is_rounded(ours, value):
                    return DerivedFigure(ours.span, formula, tuple(one.place for one in used))
        return None

    @cached_property
    def _operands(self) -> list[_Operand]:
        return _operands(self._evidence)


_Found = Iterator[tuple[Decimal, str, Sequence[_Operand]]]


def _operands(evidence: Sequence[Evidence]) -> list[_Operand]:
    return [
        _Operand(e, quantity, label, period(e.facts, quantity.span))
        for e in evidence
        if len(e.facts.quantities) <= MAX_CITED
        for quantity, label in zip(e.facts.quantities, e.facts.labels, strict=True)
        if quantity.comparator is Comparator.EXACTLY and quantity.unit != ORDINAL
    ]


def _sum(said: Facts, ours: Quantity, operands: Sequence[_Operand]) -> _Found:
    if _SUM.search(said.text) is None:
        return
    parts = _meant(said, [one for one in _of_unit(operands, ours.unit) if _TOTAL not in one.label])
    if 1 < len(parts) <= MAX_OPERANDS:
        yield sum((one.value for one in parts), Decimal(0)), " + ".join(map(str, parts)), parts


def _average(said: Facts, ours: Quantity, operands: Sequence[_Operand]) -> _Found:
    if _AVERAGE.search(said.text) is None:
        return
    parts = _meant(said, _of_unit(operands, ours.unit))
    if 1 < len(parts) <= MAX_OPERANDS:
        total = sum((one.value for one in parts), Decimal(0))
        yield total / len(parts), f"({' + '.join(map(str, parts))}) ÷ {len(parts)}", parts


def _difference(said: Facts, ours: Quantity, operands: Sequence[_Operand]) -> _Found:
    unit = "%" if ours.unit == "pp" else ours.unit
    if ours.unit == "%" or not _speaks_of_change(said, ours):
        return
    for earlier, later in _pair(said, _of_unit(operands, unit)):
        change = later.value - earlier.value
        if _goes(said, ours, change):
            yield abs(change), f"{later} − {earlier}", (later, earlier)  # noqa: RUF001 - a minus


def _growth(said: Facts, ours: Quantity, operands: Sequence[_Operand]) -> _Found:
    if ours.unit != "%" or not _speaks_of_change(said, ours):
        return
    for unit in _units(operands):
        for earlier, later in _pair(said, _of_unit(operands, unit)):
            if earlier.value and _goes(said, ours, later.value - earlier.value):
                growth = abs((later.value - earlier.value) / earlier.value) * 100
                formula = f"({later} − {earlier}) ÷ {earlier}"  # noqa: RUF001 - a minus
                yield growth, formula, (later, earlier)


def _share(said: Facts, ours: Quantity, operands: Sequence[_Operand]) -> _Found:
    if ours.unit != "%" or ours.direction:
        return
    if not (_SHARE.search(said.text) or _OF.search(said.text, ours.span.end)):
        return
    for unit in _units(operands):
        parts = _of_unit(operands, unit)
        named = [one for one in parts if _is_named(said, one, parts)]
        total = sum((one.value for one in parts), Decimal(0))
        if len(named) == 1 and len(parts) > len(("one", "other")) and total:
            formula = f"{named[0]} ÷ ({' + '.join(map(str, parts))})"
            yield named[0].value / total * 100, formula, parts
        for pair in _pair(said, parts):
            part, whole = sorted(pair, key=lambda one: abs(one.value))
            if whole.value:
                yield part.value / whole.value * 100, f"{part} ÷ {whole}", (part, whole)


def _ratio(said: Facts, ours: Quantity, operands: Sequence[_Operand]) -> _Found:
    if ours.unit != TIMES or ours.rate:
        return
    for unit in _units(operands):
        for one, other in _pair(said, _of_unit(operands, unit)):
            is_named = _named(said, (one, other)) and not ours.direction
            # "A was three times B", or the later figure three times the earlier one.
            top, bottom = _in_order_said(said, (one, other)) if is_named else (other, one)
            if bottom.value:
                yield top.value / bottom.value, f"{top} ÷ {bottom}", (top, bottom)


def _between_dates(
    said: Facts, ours: Quantity, evidence: Sequence[Evidence]
) -> DerivedFigure | None:
    found = [(e, date) for e in evidence for date in e.facts.dates if date.year]
    years = sorted({date.year for _, date in found if date.parts == (date.year, 0, 0, 0, 0)})
    if (
        len(years) > 1
        and ours.value == len(years) * _MONTHS_A_YEAR == (years[-1] - years[0] + 1) * _MONTHS_A_YEAR
    ):
        operands = tuple(_place(e, date.span) for e, date in found)
        return DerivedFigure(ours.span, ", ".join(map(str, years)), operands)
    if len(found) != len(("start", "end")) or _AFTER.search(said.text) is None:
        return None
    (_, start), (_, end) = sorted(found, key=lambda one: one[1].order)
    if not start.is_like(end):
        return None
    months = (end.year - start.year) * _MONTHS_A_YEAR + end.month - start.month
    if ours.unit == "month" and start.day == end.day and ours.value == months:
        formula = (
            f"from {_cut(found[0][0], found[0][1].span)} to {_cut(found[1][0], found[1][1].span)}"
        )
        return DerivedFigure(ours.span, formula, tuple(_place(e, date.span) for e, date in found))
    return None


def _speaks_of_change(said: Facts, ours: Quantity) -> bool:
    return bool(ours.direction) or any(cue.search(said.text) for cue in (_MORE, _LESS, _CHANGE))


def _goes(said: Facts, ours: Quantity, change: Decimal) -> bool:
    """Whether the statement gives a change the direction it has."""
    way = ours.direction
    if not way:
        more, less = _MORE.search(said.text), _LESS.search(said.text)
        way = (more is not None) - (less is not None)
    return way == 0 or way * change > 0


def _pair(said: Facts, operands: Sequence[_Operand]) -> Iterator[tuple[_Operand, _Operand]]:
    """The earlier and the later of the two figures that are meant; none where it is not plain."""
    meant = _meant(said, operands)
    if len(meant) != len(("one", "other")):
        meant = [one for one in operands if _is_of_its_period(said, one)]
    if len(meant) != len(("one", "other")):
        return
    one, other = meant
    if _named(said, meant) and _THAN.search(said.text):
        first, second = _in_order_said(said, (one, other))
        yield second, first
    elif one.period and other.period and one.period.order != other.period.order:
        yield (one, other) if one.period.order < other.period.order else (other, one)
    elif one.evidence is other.evidence and _is_backwards(one, other):
        yield other, one
    else:
        yield one, other


def _meant(said: Facts, operands: Sequence[_Operand]) -> Sequence[_Operand]:
    """The figures that the statement names by words that only they have, or else all."""
    named = [one for one in operands if _is_named(said, one, operands)]
    return named if len(named) > 1 else operands


def _named(said: Facts, operands: Sequence[_Operand]) -> bool:
    return all(_is_named(said, one, operands) for one in operands)


def _is_named(said: Facts, one: _Operand, operands: Sequence[_Operand]) -> bool:
    return bool(_own_words(one, operands) & content_stems(said.text))


def _own_words(one: _Operand, operands: Sequence[_Operand]) -> frozenset[str]:
    return one.label.difference(*(other.label for other in operands if other is not one))


def _in_order_said(said: Facts, pair: tuple[_Operand, _Operand]) -> tuple[_Operand, _Operand]:
    """The two figures in the order in which the statement names them."""
    one, other = pair
    said_words = [word.stem for word in words(said.text)]

    def at(operand: _Operand) -> int:
        own = _own_words(operand, pair)
        return next(
            (n for n, said_stem in enumerate(said_words) if said_stem in own), len(said_words)
        )

    return (one, other) if at(one) <= at(other) else (other, one)


def _is_of_its_period(said: Facts, one: _Operand) -> bool:
    return one.period is not None and any(one.period.carries(date) for date in said.dates)


def _is_backwards(one: _Operand, other: _Operand) -> bool:
    between = one.evidence.facts.text[one.quantity.span.end : other.quantity.span.start]
    return _BACKWARDS.search(between) is not None


def _of_unit(operands: Sequence[_Operand], unit: str) -> list[_Operand]:
    return [one for one in operands if one.quantity.unit == unit]


def _units(operands: Sequence[_Operand]) -> list[str]:
    return list(dict.fromkeys(one.quantity.unit for one in operands))


def _is_rounded(ours: Quantity, value: Decimal) -> bool:
    """Whether the statement's figure is that value, rounded as the statement rounds."""
    off = abs(abs(ours.value) - abs(value))
    match ours.comparator:
        case Comparator.EXACTLY:
            return off * 2 <= ours.step
        case Comparator.ABOUT:
            return off * 2 <= max(
                ours.step, Decimal(1).scaleb(ours.value.normalize().adjusted() - 1)
            )
        case Comparator.MORE_THAN:
            return abs(value) > abs(ours.value)
        case Comparator.AT_LEAST:
            return abs(value) >= abs(ours.value)
        case Comparator.LESS_THAN:
            return abs(value) < abs(ours.value)
        case Comparator.AT_MOST:
            return abs(value) <= abs(ours.value)


def _place(evidence: Evidence, span: Span) -> tuple[str, Span]:
    return evidence.cited.source.passage.id, evidence.cited.in_source(span)


def _cut(evidence: Evidence, span: Span) -> str:
    return evidence.facts.text[span.start : span.end]
