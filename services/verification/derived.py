"""Figures that a statement derives from cited ones: recomputed, with the statement's own rounding.

Sums, averages, differences, growth rates, shares, ratios and times between two dates, in English.
Which figures are meant must be plain: those that the statement names, else all there are of a kind.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cached_property

from services.verification.bounds import DOWN, UP, Comparator
from services.verification.evidence import DerivedFigure
from services.verification.operands import (
    PAIR,
    Operand,
    are_named,
    in_order_said,
    is_named,
    meant_by,
    of_unit,
    operands_of,
    pairs,
    place_of,
    text_at,
    units_of,
)
from services.verification.phrases import compiled
from services.verification.quantities import CLOCK, ORDINAL, TIMES, Quantity
from services.verification.reading import Evidence, Facts
from services.verification.words import stem

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
_SHARE = compiled(
    "share | proportion | fraction | represent\\w* | account\\w* | ratio | rate | margin"
)
_OF = compiled("of")
_AFTER = compiled(
    "after | later | before | earlier | between | last\\w* | for | over | from | within | since"
)
_TOTAL = stem("total")
_MONTHS_A_YEAR = 12


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
    def _operands(self) -> list[Operand]:
        return operands_of(self._evidence)


_Found = Iterator[tuple[Decimal, str, Sequence[Operand]]]


def _sum(said: Facts, ours: Quantity, operands: Sequence[Operand]) -> _Found:
    if _SUM.search(said.text) is None:
        return
    parts = meant_by(said, [one for one in of_unit(operands, ours.unit) if _TOTAL not in one.label])
    if 1 < len(parts) <= MAX_OPERANDS:
        yield sum((one.value for one in parts), Decimal(0)), " + ".join(map(str, parts)), parts


def _average(said: Facts, ours: Quantity, operands: Sequence[Operand]) -> _Found:
    if _AVERAGE.search(said.text) is None:
        return
    parts = meant_by(said, of_unit(operands, ours.unit))
    if 1 < len(parts) <= MAX_OPERANDS:
        total = sum((one.value for one in parts), Decimal(0))
        yield total / len(parts), f"({' + '.join(map(str, parts))}) ÷ {len(parts)}", parts


def _difference(said: Facts, ours: Quantity, operands: Sequence[Operand]) -> _Found:
    unit = "%" if ours.unit == "pp" else ours.unit
    if ours.unit == "%" or not _speaks_of_change(said, ours):
        return
    for earlier, later in pairs(said, of_unit(operands, unit)):
        change = later.value - earlier.value
        if _goes(said, ours, change):
            yield abs(change), f"{later} − {earlier}", (later, earlier)  # noqa: RUF001 - a minus


def _growth(said: Facts, ours: Quantity, operands: Sequence[Operand]) -> _Found:
    if ours.unit != "%" or not _speaks_of_change(said, ours):
        return
    for unit in units_of(operands):
        for earlier, later in pairs(said, of_unit(operands, unit)):
            if earlier.value and _goes(said, ours, later.value - earlier.value):
                growth = abs((later.value - earlier.value) / earlier.value) * 100
                formula = f"({later} − {earlier}) ÷ {earlier}"  # noqa: RUF001 - a minus
                yield growth, formula, (later, earlier)


def _share(said: Facts, ours: Quantity, operands: Sequence[Operand]) -> _Found:
    if ours.unit != "%" or ours.direction:
        return
    if not (_SHARE.search(said.text) or _OF.search(said.text, ours.span.end)):
        return
    for unit in units_of(operands):
        parts = of_unit(operands, unit)
        named = [one for one in parts if is_named(said, one, parts)]
        total = sum((one.value for one in parts), Decimal(0))
        if len(named) == 1 and len(parts) > PAIR and total:
            formula = f"{named[0]} ÷ ({' + '.join(map(str, parts))})"
            yield named[0].value / total * 100, formula, parts
        for pair in pairs(said, parts):
            part, whole = sorted(pair, key=lambda one: abs(one.value))
            if whole.value:
                yield part.value / whole.value * 100, f"{part} ÷ {whole}", (part, whole)


def _ratio(said: Facts, ours: Quantity, operands: Sequence[Operand]) -> _Found:
    if ours.unit != TIMES or ours.rate:
        return
    for unit in units_of(operands):
        for one, other in pairs(said, of_unit(operands, unit)):
            is_named = are_named(said, (one, other)) and not ours.direction
            # "A was three times B", or the later figure three times the earlier one.
            top, bottom = in_order_said(said, (one, other)) if is_named else (other, one)
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
        operands = tuple(place_of(e, date.span) for e, date in found)
        return DerivedFigure(ours.span, ", ".join(map(str, years)), operands)
    if len(found) != PAIR or _AFTER.search(said.text) is None:
        return None
    (_, start), (_, end) = sorted(found, key=lambda one: one[1].order)
    if not start.is_like(end):
        return None
    months = (end.year - start.year) * _MONTHS_A_YEAR + end.month - start.month
    if ours.unit == "month" and start.day == end.day and ours.value == months:
        formula = "from " + " to ".join(text_at(e, date.span) for e, date in found)
        return DerivedFigure(ours.span, formula, tuple(place_of(e, date.span) for e, date in found))
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
