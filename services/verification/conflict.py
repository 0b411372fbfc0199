"""Whether another source in force gives another value for what a statement states.

Conservative on purpose: two figures are of one fact only when all that is said of them but the
value is the same. What differs in period, name, segment or point of view is left alone, and so are
values that rounding explains.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import date as calendar_day
from decimal import Decimal

from services.verification.bounds import Comparator
from services.verification.dates import Date, dates
from services.verification.evidence import Citation, Code, Match, Passage, Reason, Span
from services.verification.measures import CHANGE, Figure, alternatives, figures, names_of, unit_of
from services.verification.quantities import Quantity
from services.verification.reading import read
from services.verification.source import Cited, Source
from services.verification.words import content_stems, stem

# "Nearly" and "about" reach this far, as a share of the value.
ABOUT = Decimal("0.15")
# Within one document only sentences that say this much in the same words are of one fact.
LONG = 4
# A figure without a period is as of its document's date; beyond this many days it may have moved.
SAME_TIME_DAYS = 100
# A statement has this many conflicts at most; one is enough to stop it.
MAX_CONFLICTS = 3

_LOWER = frozenset({Comparator.MORE_THAN, Comparator.AT_LEAST})
_UPPER = frozenset({Comparator.LESS_THAN, Comparator.AT_MOST})
_LIMITS = frozenset(map(stem, ("threshold", "minimum", "maximum", "rate", "percentage")))
# A stem is its word's beginning but for its last letters.
_PREFIX = 4
_LABEL = re.compile(r"\W*section\s+([\d.]*\d)", re.IGNORECASE)


# The sentences that may hold a stem of each group, or name one of the sections.
Nearby = Callable[[Sequence[Collection[str]], Collection[str]], Iterable[Cited]]


def conflicts(
    statement: str, cited: Sequence[Cited], nearby: Nearby, today: str
) -> Iterator[Reason]:
    """A reason for each value of the statement for which another source in force has another.

    A statement that gives both values tells of the conflict itself, and is left alone.

    Args:
        statement: What is stated; it agrees with what it cites.
        cited: The words it rests on.
        nearby: Finds what may speak of the same; may give too much, not too little.
        today: The day, as YYYY-MM-DD, on which a source must be in force to count.
    """
    facts = read(statement)
    values: list[Quantity | Date] = [*facts.quantities, *facts.dates]
    said = {_key(value): value.span for value in values}
    told = set(map(_told, values))
    sentences = {sentence.key: sentence for one in cited for sentence in one.sentences}
    ours = [
        figure
        for sentence in sentences.values()
        if sentence.source.passage.is_in_force(today)
        for figure in figures(sentence)
        if _key(figure.value) in said
    ]
    found = 0
    for figure in ours:
        for theirs in _of_the_same(figure, nearby, today):
            if _told(theirs.value) in told:
                continue
            yield _reason(figure, theirs, said[_key(figure.value)])
            found += 1
            if found == MAX_CONFLICTS:
                return


def among(sources: Iterable[Source]) -> Nearby:
    """Looks for letters first, which is quick where there are few sources."""
    given = list(sources)

    def nearby(groups: Sequence[Collection[str]], sections: Collection[str]) -> Iterator[Cited]:
        beginnings = [{stem[:_PREFIX] for stem in group} for group in groups]

        def may_hold(text: str) -> bool:
            return all(any(form in text for form in forms) for forms in beginnings)

        for source in given:
            is_named = any(n in source.text or n == source.passage.section_id for n in sections)
            if is_named or may_hold(source.lowered):
                for span in source.sentences:
                    if is_named or may_hold(source.lowered[span.start : span.end]):
                        yield Cited(source, span)

    return nearby


def _of_the_same(figure: Figure, nearby: Nearby, today: str) -> Iterator[Figure]:
    """The figures in force that are of the same fact and of another value."""
    sections = {_section(figure)} | {number for kind, number in figure.places if kind == "section"}
    groups = [alternatives(one) for one in figure.about - {CHANGE}]
    for sentence in nearby(groups, sections - {""}):
        if sentence.key == figure.cited.key or not sentence.source.passage.is_in_force(today):
            continue
        for theirs in figures(sentence):
            has_begun = theirs.starts is None or not today or _iso(theirs.starts) <= today
            if has_begun and _is_of_one_fact(figure, theirs) and _differ(figure, theirs):
                yield theirs


def _is_of_one_fact(ours: Figure, theirs: Figure) -> bool:
    if unit_of(ours.value) != unit_of(theirs.value):
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
            ("section", _section(limit)) in change.places
            and change.about & _LIMITS
            and isinstance(limit.value, Quantity)
            and limit.value.comparator in _LOWER | _UPPER
            and change.names <= _known(limit.cited)
        ):
            return True
    return False


def _differ(ours: Figure, theirs: Figure) -> bool:
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
    return gap > (0 if exact else max(_half_step(one), _half_step(other)))


def _half_step(quantity: Quantity) -> Decimal:
    """How far rounding may have moved a value: half of its last digit."""
    exponent = quantity.number.as_tuple().exponent
    scale = quantity.value / quantity.number if quantity.number else Decimal(1)
    return abs(scale).scaleb(int(exponent)) / 2


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


def _section(figure: Figure) -> str:
    """The number of the section that a figure stands in."""
    label = _LABEL.match(figure.cited.text)
    return label[1] if label else figure.cited.source.passage.section_id


def _documents_differ(ours: Figure, theirs: Figure) -> bool:
    one, other = (figure.cited.source.passage for figure in (ours, theirs))
    if one.document_id or other.document_id:
        return one.document_id != other.document_id
    return one.id != other.id


def _mentions(figure: Figure, value: Quantity | Date) -> bool:
    facts = read(figure.cited.text)
    return _told(value) in map(_told, facts.quantities) or _told(value) in map(_told, facts.dates)


def _key(value: Quantity | Date) -> tuple[object, str]:
    return (value.value if isinstance(value, Quantity) else value.parts), unit_of(value)


def _told(value: Quantity | Date) -> tuple[object, ...]:
    """A value with what is said of it."""
    if isinstance(value, Date):
        return _key(value)
    return (*_key(value), value.comparator, value.direction)


def _iso(date: Date) -> str:
    return f"{date.year:04}-{date.month:02}-{date.day:02}"


def _reason(ours: Figure, theirs: Figure, span: Span) -> Reason:
    passage = theirs.cited.source.passage
    return Reason(
        Code.CONFLICTING_SOURCES,
        f'Sources in force differ: "{_words(ours)}" in {_name(ours)}, "{_words(theirs)}" in'
        f" {_name(theirs)}. Give both values with their sources in one statement, or neither.",
        contradicts=True,
        statement_span=span,
        passage_id=passage.id,
        passage_span=theirs.cited.in_source(theirs.value.span),
        citations=tuple(
            Citation(figure.cited.source.passage, figure.cited.span, Match.EXACT)
            for figure in (ours, theirs)
        ),
    )


def _words(figure: Figure) -> str:
    span = figure.value.span
    return figure.cited.text[span.start : span.end]


def _name(figure: Figure) -> str:
    passage = figure.cited.source.passage
    return passage.source_name or passage.id
