"""Whether one figure makes another true: it is the same, lies within its bound, or is rounded."""

from collections.abc import Sequence
from decimal import Decimal

from services.verification.bounds import Comparator
from services.verification.quantities import Quantity

# "about 500" for 497: the rounding that "about" admits, and how far it may go at most.
_MOST_OFF = Decimal("0.05")


def is_turned(ours: Quantity, theirs: Quantity) -> bool:
    """Whether one is a rise, a gain or positive, and the other is not."""
    if (ours.value < 0) == (theirs.value < 0):
        return ours.direction * theirs.direction < 0 or ours.side * theirs.side < 0
    positive = theirs if ours.value < 0 else ours
    return positive.value > 0 and min(positive.side, positive.direction) >= 0


def bounds_agree(ours: Quantity, theirs: Quantity) -> bool:
    """Whether what the source says of a bound makes what the statement says of it true.

    Two bounds must be the same: "more than 25%" and "at least 25%" are different rules.
    """
    if ours.comparator is theirs.comparator:
        return True
    if theirs.comparator is Comparator.EXACTLY:
        return theirs.is_threshold or _lies_within(theirs, ours)
    return ours.comparator is Comparator.EXACTLY and ours.is_threshold


def _is_instance(theirs: Quantity, ours: Quantity) -> bool:
    """Whether the source's exact figure lies within the statement's bound, as 30% is "over 25%"."""
    return (
        theirs.unit == ours.unit
        and theirs.comparator is Comparator.EXACTLY
        and ours.comparator not in {Comparator.EXACTLY, Comparator.ABOUT}
        and _lies_within(theirs, ours)
    )


def is_so_in_other_figures(ours: Quantity, there: Sequence[Quantity]) -> bool:
    """Whether a figure that is nowhere there is true all the same."""
    if any(_is_level(theirs, ours) for theirs in there):
        return True
    # "within 20 weeks" is no bound on the three results that stand beside "20 days".
    if any(theirs.number == ours.number for theirs in there):
        return False
    return any(is_near(theirs, ours) for theirs in there)


def is_near(theirs: Quantity, ours: Quantity) -> bool:
    """Whether another value of the source makes ours true: within a bound, or rounded."""
    if _is_instance(theirs, ours):
        return True
    if theirs.unit != ours.unit or theirs.comparator is not Comparator.EXACTLY:
        return False
    difference = abs(theirs.value - ours.value)
    if ours.comparator is Comparator.ABOUT:
        return difference <= _MOST_OFF * abs(ours.value) and difference * 2 <= _rounding(ours)
    # A third is 33%.
    return ours.unit == "%" and _is_endless(theirs) != _is_endless(ours) and difference < 1


def _is_level(theirs: Quantity, ours: Quantity) -> bool:
    """Whether both give one level, not a change, in percent and in basis points."""
    units = {theirs.unit: theirs, ours.unit: ours}
    return (
        units.keys() == {"%", "pp"}
        and units["pp"].number != units["pp"].value
        and theirs.value == ours.value
        and theirs.direction == ours.direction == 0
    )


def _rounding(quantity: Quantity) -> Decimal:
    """The last place that is not a nought."""
    bare = quantity.value.normalize()
    return Decimal(1).scaleb(int(bare.as_tuple().exponent))


def _is_endless(quantity: Quantity) -> bool:
    return len(quantity.value.as_tuple().digits) > 12  # noqa: PLR2004 - no figure is written so


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
