"""Whether the figures of a statement are those of the words it cites."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from services.verification.bounds import Comparator
from services.verification.dates import Date
from services.verification.evidence import Code, Reason, Span
from services.verification.quantities import Quantity
from services.verification.reading import Evidence, Facts, absent, against

_CLAUSE = re.compile(
    r"[;:()]|,(?!\d)"
    r"|\b(?:and|but|while|whereas|versus|vs|against|compared (?:with|to)|(?:up|down) from|from)\b",
    re.IGNORECASE,
)
_RELATIVE_PERIOD = re.compile(
    r"\b(?:(?:year|quarter|month)s? (?:earlier|ago|before)"
    r"|(?:prior|previous|last|preceding)[- ](?:year|quarter|period|month)\w*"
    r"|same (?:quarter|period))\b",
    re.IGNORECASE,
)
# A sentence with more numbers than this is no sentence; those beyond are held to be unverified.
MAX_QUANTITIES = 200
# One figure is compared with this many of its value in the cited words at most.
MAX_PLACES = 64
_REACH = 400


def disagreements(said: Facts, evidence: Sequence[Evidence]) -> Iterator[Reason]:
    """The quantities of the statement that the cited words do not carry, with what they have."""
    there = [(e, q) for e in evidence for q in e.facts.quantities]
    by_value: dict[tuple[Decimal, str], list[tuple[Evidence, Quantity]]] = defaultdict(list)
    for e, q in there:
        by_value[q.value, q.unit].append((e, q))
    for ours in said.quantities[:MAX_QUANTITIES]:
        same = by_value[ours.value, ours.unit][:MAX_PLACES]
        if same:
            problems = [_differs(said, ours, e, theirs) for e, theirs in same]
            if all(problems):
                yield next(problem for problem in problems if problem)
        elif not any(is_instance(theirs, ours) for _, theirs in there):
            yield _unmatched(said, ours, there)
    for ours in said.quantities[MAX_QUANTITIES:]:
        yield absent(Code.NUMBER_MISMATCH, said, ours.span, "One sentence has too many numbers.")


def _differs(said: Facts, ours: Quantity, evidence: Evidence, theirs: Quantity) -> Reason | None:
    """What is wrong between two quantities of one value, if anything."""
    if not _bounds_agree(ours, theirs):
        message = f"The statement says {ours.comparator}, the source says {theirs.comparator}."
        return against(
            Code.COMPARATOR_MISMATCH, said, ours.span, evidence, theirs.span, message=message
        )
    if ours.direction * theirs.direction < 0:
        message = "Statement and source give the change opposite directions."
        return against(
            Code.NUMBER_MISMATCH, said, ours.span, evidence, theirs.span, message=message
        )
    mine, other = _period(said, ours.span), _period(evidence.facts, theirs.span)
    if mine and other and mine.excludes(other):
        message = "The source gives this figure for another period."
        return against(Code.DATE_MISMATCH, said, mine.span, evidence, other.span, message=message)
    return None


def _bounds_agree(ours: Quantity, theirs: Quantity) -> bool:
    """Whether what the source says of a bound makes what the statement says of it true.

    Two bounds must be the same: "more than 25%" and "at least 25%" are different rules.
    """
    if ours.comparator is theirs.comparator:
        return True
    if theirs.comparator is Comparator.EXACTLY:
        return theirs.is_threshold or _lies_within(theirs, ours)
    return ours.comparator is Comparator.EXACTLY and ours.is_threshold


def is_instance(theirs: Quantity, ours: Quantity) -> bool:
    """Whether the source's exact figure lies within the statement's bound, as 30% is "over 25%"."""
    return (
        theirs.unit == ours.unit
        and theirs.comparator is Comparator.EXACTLY
        and ours.comparator not in {Comparator.EXACTLY, Comparator.ABOUT}
        and _lies_within(theirs, ours)
    )


def _lies_within(point: Quantity, bound: Quantity) -> bool:
    match bound.comparator:
        case Comparator.MORE_THAN:
            return point.value > bound.value
        case Comparator.AT_LEAST:
            return point.value >= bound.value
        case Comparator.LESS_THAN:
            return point.value < bound.value
        case Comparator.AT_MOST:
            return point.value <= bound.value
        case _:
            return point.value == bound.value


def _unmatched(said: Facts, ours: Quantity, there: Sequence[tuple[Evidence, Quantity]]) -> Reason:
    """Why a figure is not in the cited words: another currency, unit or value there, or none."""
    for evidence, theirs in there:
        if theirs.unit != ours.unit and (
            ours.number == theirs.number or ours.value == theirs.value
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
    values = {(q.value, q.unit) for q in said.quantities}
    for evidence, theirs in there:
        if theirs.unit == ours.unit and (theirs.value, theirs.unit) not in values:
            scaled = theirs.number == ours.number and bool(ours.unit) and not ours.is_money
            reason = against(
                Code.UNIT_MISMATCH if scaled else Code.NUMBER_MISMATCH,
                said,
                ours.span,
                evidence,
                theirs.span,
                message="The source gives another value.",
            )
            return reason if ours.unit else replace(reason, contradicts=False)
    return absent(Code.NUMBER_MISMATCH, said, ours.span, "This number is not in the cited words.")


def _period(facts: Facts, span: Span) -> Date | None:
    """The one period that a figure is for; None where that is not plain."""
    left, right = max(0, span.start - _REACH), min(len(facts.text), span.end + _REACH)
    start = max((m.end() for m in _CLAUSE.finditer(facts.text, left, span.start)), default=left)
    following = _CLAUSE.search(facts.text, span.end, right)
    end = following.start() if following else right
    near = [date for date in facts.dates if left <= date.span.start < right]
    own = [date for date in near if start <= date.span.start < end]
    if len(own) == 1:
        return own[0]
    if not own and len(near) == 1 and not _RELATIVE_PERIOD.search(facts.text, left, right):
        return near[0]
    return None
