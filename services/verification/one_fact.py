"""Whether two figures are of one fact, and whether one value can be both.

Conservative on purpose: two figures are of one fact only when all that is said of them but the
value is the same. What differs in period, name, segment or point of view is left alone, and so are
values that rounding explains.
"""

import re
from collections.abc import Sequence
from datetime import date as calendar_day
from decimal import Decimal

from services.verification.bounds import Comparator
from services.verification.dates import Date, dates
from services.verification.evidence import Passage
from services.verification.measures import Figure, Value, names_of, unit_of
from services.verification.quantities import Quantity
from services.verification.reading import read
from services.verification.source import Cited
from services.verification.words import content_stems, stem

# "Nearly" and "about" reach this far, as a share of the value.
ABOUT = Decimal("0.15")
# Within one document only sentences that say this much in the same words are of one fact.
LONG = 4
# A figure without a period is as of its document's date; beyond this many days it may have moved.
SAME_TIME_DAYS = 100

_LOWER = frozenset({Comparator.MORE_THAN, Comparator.AT_LEAST})
_UPPER = frozenset({Comparator.LESS_THAN, Comparator.AT_MOST})
_LIMITS = frozenset(map(stem, ("threshold", "minimum", "maximum", "rate", "percentage")))
_LABEL = re.compile(r"\W*section\s+([\d.]*\d)", re.IGNORECASE)


def are_of_one_fact(ours: Figure, theirs: Figure) -> bool:
    """Whether all that is said of both but the value is the same."""
    if unit_of(ours.value) != unit_of(theirs.value) or _rate(ours) != _rate(theirs):
        return False
    if _changes_limit(ours, theirs):
        return True
    alike = ((ours.about, ours.view, ours.beside, ours.places, ours.is_rule, ours.is_yearly)) == (
        theirs.about,
        theirs.view,
        theirs.beside,
        theirs.places,
        theirs.is_rule,
        theirs.is_yearly,
    )
    return (
        alike
        and (_documents_differ(ours, theirs) or len(ours.about) >= LONG)
        and _same_names(ours, theirs)
        and _same_period(ours, theirs)
        and not _mentions(theirs, ours.value)
        and not _mentions(ours, theirs.value)
    )


def _changes_limit(ours: Figure, theirs: Figure) -> bool:
    """Whether one speaks of the limit in the other's section: "The threshold in section 4.2 is"."""
    if not isinstance(ours.value, Quantity) or not _documents_differ(ours, theirs):
        return False
    for limit, change in ((ours, theirs), (theirs, ours)):
        if (
            ("section", section(limit)) in change.places
            and change.about & _LIMITS
            and isinstance(limit.value, Quantity)
            and limit.value.comparator in _LOWER | _UPPER
            and change.names <= _known(limit.cited)
        ):
            return True
    return False


def differ(ours: Figure, theirs: Figure) -> bool:
    """Whether no one value is both."""
    one, other = ours.value, theirs.value
    if isinstance(one, Date) or isinstance(other, Date):
        return (
            isinstance(one, Date)
            and isinstance(other, Date)
            and one.is_like(other)
            and one.parts != other.parts
        )
    sides = {one.comparator, other.comparator} - {Comparator.EXACTLY, Comparator.ABOUT}
    if len(sides) == 2 or (sides and one.comparator is other.comparator):  # noqa: PLR2004 - both
        same_side = sides <= _LOWER or sides <= _UPPER
        return same_side and (one.value, one.comparator) != (other.value, other.comparator)
    if sides:  # A bound and a value: only one that names a limit is of the same.
        return _changes_limit(ours, theirs) and one.value != other.value
    if one.direction * other.direction < 0:
        return True
    gap = abs(one.value - other.value)
    if Comparator.ABOUT in (one.comparator, other.comparator):
        return gap > ABOUT * max(abs(one.value), abs(other.value))
    exact = ours.is_rule and theirs.is_rule
    # Rounding moves a value by half of its last place at most.
    return gap > (0 if exact else max(one.step, other.step) / 2)


def _rate(figure: Figure) -> str:
    return figure.value.rate if isinstance(figure.value, Quantity) else ""


def _same_names(ours: Figure, theirs: Figure) -> bool:
    """Whether both are of the same one; a sentence that names nobody speaks of its document's."""
    if ours.names and theirs.names:
        return ours.names == theirs.names
    if ours.names or theirs.names:
        unnamed = (theirs if ours.names else ours).cited
        return (ours.names | theirs.names) <= _known(unnamed) or not _named(unnamed)
    if ours.is_rule:
        return True
    one, other = (_named(figure.cited) for figure in (ours, theirs))
    return not one or not other or bool(one & other)


def _same_period(ours: Figure, theirs: Figure) -> bool:
    around = [_periods_around(figure.cited) for figure in (ours, theirs)]
    if ours.period and theirs.period:
        one, other = (
            _completed(figure.period, known)
            for figure, known in zip((ours, theirs), around, strict=True)
            if figure.period
        )
        return one.parts == other.parts
    if ours.period or theirs.period:
        said, known = (ours, around[1]) if ours.period else (theirs, around[0])
        return any(said.period and said.period.parts == date.parts for date in known)
    if ours.is_rule:
        return True
    one_known, other_known = ({date.parts for date in known} for known in around)
    if one_known and other_known:
        return bool(one_known & other_known)
    days = [f.cited.source.passage.published for f in (ours, theirs)]
    if not all(days):
        return True
    first, last = map(calendar_day.fromisoformat, sorted(days))
    return (last - first).days <= SAME_TIME_DAYS


def _completed(date: Date, known: Sequence[Date]) -> Date:
    years = {other.year for other in known if other.year}
    return date.in_year(years.pop()) if len(years) == 1 else date


def _periods_around(cited: Cited) -> list[Date]:
    """The periods that the headings and the name of a document give."""
    return dates(_title(cited.source.passage))


def _named(cited: Cited) -> frozenset[str]:
    """Whom the passage, its headings and the name of its document name."""
    text = f"{cited.source.text}\n{_title(cited.source.passage)}"
    return names_of(text, [date.span for date in dates(text)])


def _known(cited: Cited) -> frozenset[str]:
    passage = cited.source.passage
    return content_stems(f"{passage.text}\n{_title(passage)}")


def _title(passage: Passage) -> str:
    name = passage.source_name.rpartition(".")[0] or passage.source_name
    return "\n".join((*passage.heading_path, name.replace("_", " ")))


def section(figure: Figure) -> str:
    """The number of the section that a figure stands in."""
    label = _LABEL.match(figure.cited.text)
    return label[1] if label else figure.cited.source.passage.section_id


def _documents_differ(ours: Figure, theirs: Figure) -> bool:
    one, other = (figure.cited.source.passage for figure in (ours, theirs))
    if one.document_id or other.document_id:
        return one.document_id != other.document_id
    return one.id != other.id


def _mentions(figure: Figure, value: Value) -> bool:
    facts = read(figure.cited.text)
    return told(value) in map(told, facts.quantities) or told(value) in map(told, facts.dates)


def key(value: Value) -> tuple[object, str]:
    return (value.value if isinstance(value, Quantity) else value.parts), unit_of(value)


def told(value: Value) -> tuple[object, ...]:
    """A value with what is said of it."""
    if isinstance(value, Date):
        return key(value)
    return (*key(value), value.comparator, value.direction)
