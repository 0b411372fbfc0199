"""Whether the figures of a statement are those of the words it cites, and of the same measure."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from services.verification.agreement import bounds_agree, is_so_in_other_figures, is_turned
from services.verification.bounds import Comparator
from services.verification.derived import Derivation
from services.verification.evidence import Code, DerivedFigure, Reason, Span
from services.verification.periods import period
from services.verification.quantities import CLOCK, ORDINAL, Quantity
from services.verification.rates import MEASURES
from services.verification.reading import Evidence, Facts, absent, against
from services.verification.units import DURATIONS

_SENTENCE_END = re.compile(r"[.!?]\s+(?=[A-Z])|\n")
_TOGETHER = re.compile(r"\b(?:together|combined|taken together|in aggregate)\b", re.IGNORECASE)
# A sentence with more numbers than this is no sentence; those beyond are held to be unverified.
MAX_QUANTITIES = 200
# One figure is compared with this many of its value in the cited words at most.
MAX_PLACES = 64
# "first" and "second" are adverbs as often as they count; a later ordinal counts.
_SURELY_COUNTS = 3


@dataclass(frozen=True, slots=True)
class _Place:
    """A quantity of the cited words."""

    evidence: Evidence
    quantity: Quantity
    label: frozenset[str]


def disagreements(said: Facts, evidence: Sequence[Evidence]) -> Iterator[Reason]:
    """The quantities of the statement that the cited words do not carry, with what they have."""
    for _, found in _compared(said, evidence):
        if isinstance(found, Reason):
            yield found


def derivations(said: Facts, evidence: Sequence[Evidence]) -> Iterator[DerivedFigure]:
    """The quantities of the statement that follow from figures of the cited words."""
    for _, found in _compared(said, evidence):
        if isinstance(found, DerivedFigure):
            yield found


def _compared(
    said: Facts, evidence: Sequence[Evidence]
) -> Iterator[tuple[Quantity, Reason | DerivedFigure]]:
    there = [
        _Place(e, quantity, label)
        for e in evidence
        for quantity, label in zip(e.facts.quantities, e.facts.labels, strict=True)
    ]
    by_value: dict[tuple[Decimal, str], list[_Place]] = defaultdict(list)
    for place in there:
        by_value[abs(place.quantity.value), place.quantity.unit].append(place)
    derivation = Derivation(said, evidence)
    labels = said.labels
    for ours, label in zip(said.quantities[:MAX_QUANTITIES], labels, strict=False):
        same = by_value[abs(ours.value), ours.unit][:MAX_PLACES]
        if same:
            problems = [_differs(said, ours, place) for place in same]
            problem = next(filter(None, problems), None) if all(problems) else None
            if problem := _of_another(said, ours, label, same, there) or problem:
                yield ours, problem
        elif is_so_in_other_figures(ours, [place.quantity for place in there]):
            continue
        elif figure := derivation.of(ours):
            yield ours, figure
        elif problem := _unmatched(said, ours, [(p.evidence, p.quantity) for p in there]):
            yield ours, problem
    for ours in said.quantities[MAX_QUANTITIES:]:
        message = "One sentence has too many numbers."
        yield ours, absent(Code.NUMBER_MISMATCH, said, ours.span, message)


def _differs(said: Facts, ours: Quantity, place: _Place) -> Reason | None:
    """What is wrong between two quantities of one value, if anything."""
    evidence, theirs = place.evidence, place.quantity
    if not bounds_agree(ours, theirs):
        message = f"The statement says {ours.comparator}, the source says {theirs.comparator}."
        return against(
            Code.COMPARATOR_MISMATCH, said, ours.span, evidence, theirs.span, message=message
        )
    if is_turned(ours, theirs):
        message = "Statement and source give the figure opposite signs or directions."
        return against(
            Code.NUMBER_MISMATCH, said, ours.span, evidence, theirs.span, message=message
        )
    if ours.rate != theirs.rate and (_is_dose(ours, theirs) or (ours.rate and theirs.rate)):
        each, its = (f"each {q.rate}" if q.rate else "the whole" for q in (ours, theirs))
        message = f"The statement says it of {each}, the source of {its}."
        return against(Code.UNIT_MISMATCH, said, ours.span, evidence, theirs.span, message=message)
    mine, other = period(said, ours.span), period(evidence.facts, theirs.span)
    if mine and other and mine.excludes(other):
        message = "The source gives this figure for another period."
        return against(Code.DATE_MISMATCH, said, mine.span, evidence, other.span, message=message)
    return None


def _is_dose(ours: Quantity, theirs: Quantity) -> bool:
    return ours.unit == "gram" and not MEASURES.isdisjoint({ours.rate, theirs.rate})


def _of_another(
    said: Facts,
    ours: Quantity,
    label: frozenset[str],
    same: Sequence[_Place],
    there: Sequence[_Place],
) -> Reason | None:
    """The figure for which the statement's words stand in the source, when that is not this one."""
    others = [
        place
        for place in there
        if place.quantity.unit == ours.unit and abs(place.quantity.value) != abs(ours.value)
    ][:MAX_PLACES]
    whole = _TOGETHER.search(said.text) is not None
    for other in others:
        if all(_stands_for(label, mine, other, whole=whole) for mine in same):
            message = "In the source these words belong to another figure."
            span, evidence = other.quantity.span, other.evidence
            return against(Code.NUMBER_MISMATCH, said, ours.span, evidence, span, message=message)
    return None


def _stands_for(label: frozenset[str], mine: _Place, other: _Place, *, whole: bool) -> bool:
    is_beside = mine.evidence is other.evidence and are_in_one_sentence(
        mine.evidence, mine.quantity.span, other.quantity.span
    )
    # Of two sentences, the words must have nothing to do with the first.
    if not is_beside and label & mine.label:
        return False
    return belongs_to_other(label, mine.label, other.label, whole=whole)


def belongs_to_other(
    label: frozenset[str], mine: frozenset[str], other: frozenset[str], *, whole: bool = False
) -> bool:
    """Whether what a statement says of a figure is what the source says of another.

    Args:
        label: The words of the statement's figure.
        mine: Those of the source's figure of the same value.
        other: Those of another figure of the source.
        whole: The statement speaks of both together.
    """
    for_mine, for_other = label & (mine - other), label & (other - mine)
    return bool(for_other) and (not for_mine or whole)


def are_in_one_sentence(evidence: Evidence, one: Span, other: Span) -> bool:
    first, last = sorted((one, other))
    return _SENTENCE_END.search(evidence.facts.text, first.end, last.start) is None


def _unmatched(
    said: Facts, ours: Quantity, there: Sequence[tuple[Evidence, Quantity]]
) -> Reason | None:
    """Why a figure is not in the cited words: another currency, unit or value there, or none."""
    if reason := _in_another_unit(said, ours, there):
        return reason
    values = {(q.value, q.unit) for q in said.quantities}
    for evidence, theirs in there:
        if theirs.unit == ours.unit and (theirs.value, theirs.unit) not in values:
            reason = against(
                _code(ours, theirs),
                said,
                ours.span,
                evidence,
                theirs.span,
                message="The source gives another value.",
            )
            return reason if ours.unit else replace(reason, contradicts=False)
    if ours.unit == ORDINAL and ours.value < _SURELY_COUNTS:
        return None
    code = Code.DATE_MISMATCH if ours.unit == CLOCK else Code.NUMBER_MISMATCH
    return absent(code, said, ours.span, "This number is not in the cited words.")


def _in_another_unit(
    said: Facts, ours: Quantity, there: Sequence[tuple[Evidence, Quantity]]
) -> Reason | None:
    durations = {q.unit for _, q in there} & DURATIONS
    for evidence, theirs in there:
        if theirs.unit == ours.unit or ORDINAL in {theirs.unit, ours.unit}:
            continue
        # A month has no fixed number of days, and a business day is no day.
        is_other_duration = ours.unit in DURATIONS and durations and ours.unit not in durations
        if (ours.number == theirs.number or ours.value == theirs.value) or (
            is_other_duration and theirs.unit in DURATIONS
        ):
            both_money = ours.is_money and theirs.is_money
            reason = against(
                Code.CURRENCY_MISMATCH if both_money else Code.UNIT_MISMATCH,
                said,
                ours.span,
                evidence,
                theirs.span,
                message="The source gives this number in another currency or unit.",
            )
            # A bare number may be of that unit all the same, as in a table: not shown, not refuted.
            return reason if ours.unit and theirs.unit else replace(reason, contradicts=False)
    return None


def _code(ours: Quantity, theirs: Quantity) -> Code:
    """What it is to give another value of the same kind."""
    if ours.unit == CLOCK:
        return Code.DATE_MISMATCH
    if theirs.number == ours.number and ours.unit and not ours.is_money:
        return Code.UNIT_MISMATCH
    is_bound = ours.comparator not in {Comparator.EXACTLY, Comparator.ABOUT}
    if is_bound and theirs.comparator is Comparator.EXACTLY:
        return Code.COMPARATOR_MISMATCH
    return Code.NUMBER_MISMATCH
