"""Whether the numbers, dates, references and names of a statement are those of the words it cites.

A figure must stand in the cited words themselves. What says where or when they apply (a date, a period, a
section number, a name) may also stand in the sentence around them, the headings above them or the source's
name, because a table cell or a clause does not repeat them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from services.verification import names
from services.verification.dates import Date, Reference, dates, references
from services.verification.evidence import Code, Reason, Span
from services.verification.quantities import Comparator, Quantity, find
from services.verification.quotes import Cited

_CODE_TOKEN = re.compile(r"[\w.,/:-]*\d[\w.,/:-]*")
_CLAUSE = re.compile(
    r"[;:()]|,(?!\d)|\b(?:and|but|while|whereas|versus|vs\.?|against|compared (?:with|to)|(?:up|down) from|from)\b",
    re.IGNORECASE,
)
_RELATIVE_PERIOD = re.compile(
    r"\b(?:(?:year|quarter|month)s? (?:earlier|ago|before)|(?:prior|previous|last|preceding)[- ](?:year|quarter|period|month)\w*"
    r"|same (?:quarter|period))\b",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"^[^\S\n]*(?:#{1,6}\s*)?((?:section|article|annex|chapter)\s+[\w.]+|\d+(?:\.\d+)+)",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class _Facts:
    """What one text says, with the text for a look at what stands around."""

    text: str
    quantities: tuple[Quantity, ...]
    dates: tuple[Date, ...]
    references: tuple[Reference, ...]


@dataclass(frozen=True, slots=True)
class _Evidence:
    cited: Cited
    facts: _Facts
    context: str


def disagreements(statement: str, cited: Sequence[Cited]) -> list[Reason]:
    """Every fact of the statement that the cited words do not carry, each with where it stands."""
    said = _read(statement)
    evidence = [_Evidence(c, _read(c.text), _context(c)) for c in cited]
    checks: tuple[Callable[[_Facts, Sequence[_Evidence]], Iterator[Reason]], ...] = (
        _check_quantities, _check_dates, _check_references, _check_codes,
    )  # fmt: skip
    reasons = [reason for check in checks for reason in check(said, evidence)]
    whole = [text for e in evidence for text in (e.cited.text, e.context)]
    reasons.extend(
        Reason(
            Code.ENTITY_MISMATCH,
            f'"{name.text}" is not named in the cited words.',
            statement_span=name.span,
        )
        for name in names.missing(statement, whole)
    )
    return reasons


def _read(text: str) -> _Facts:
    found_references = tuple(references(text))
    found_dates = tuple(
        d for d in dates(text) if not _overlaps(d.span, [r.span for r in found_references])
    )
    taken = [r.span for r in found_references] + [d.span for d in found_dates]
    return _Facts(text, tuple(find(text, taken)), found_dates, found_references)


def _context(cited: Cited) -> str:
    passage = cited.source.passage
    around = cited.sentence
    labels = _LABEL.findall(cited.source.text[: cited.span.start])
    section = f"section {passage.section_id}" if passage.section_id else ""
    page = f"page {passage.page_number}" if passage.page_number else ""
    name = passage.source_name.rpartition(".")[0] or passage.source_name
    return "\n".join(
        (
            cited.source.text[around.start : around.end],
            *passage.heading_path, *labels[-1:], section, page, name.replace("_", " "),
        )
    )  # fmt: skip


def _check_quantities(said: _Facts, evidence: Sequence[_Evidence]) -> Iterator[Reason]:
    there = [(e, q) for e in evidence for q in e.facts.quantities]
    values = {(q.value, q.unit) for q in said.quantities}
    for quantity in said.quantities:
        same = [(e, q) for e, q in there if q.value == quantity.value and q.unit == quantity.unit]
        if same:
            problems = [_differs(said, quantity, e, q) for e, q in same]
            if all(problems):
                yield next(p for p in problems if p)
            continue
        if quantity.comparator not in {Comparator.EXACTLY, Comparator.ABOUT} and any(
            q.unit == quantity.unit
            and q.comparator is Comparator.EXACTLY
            and _lies_within(q, quantity)
            for _, q in there
        ):
            continue
        yield _unmatched(said, quantity, there, values)


def _differs(said: _Facts, ours: Quantity, evidence: _Evidence, theirs: Quantity) -> Reason | None:
    """What is wrong between two quantities of one value, if anything."""
    if not _bounds_agree(ours, theirs):
        return _reason(
            Code.COMPARATOR_MISMATCH, said, ours.span, evidence, theirs.span,
            f"The statement says {ours.comparator}, the source says {theirs.comparator}.", contradicts=True,
        )  # fmt: skip
    if ours.direction * theirs.direction < 0:
        return _reason(
            Code.NUMBER_MISMATCH, said, ours.span, evidence, theirs.span,
            "The statement and the source give the change opposite directions.", contradicts=True,
        )  # fmt: skip
    mine, other = _period(said, ours.span), _period(evidence.facts, theirs.span)
    if (
        mine
        and other
        and not (other.carries(mine) or mine.carries(other))
        and mine.year
        and other.year
    ):
        return _reason(
            Code.DATE_MISMATCH, said, mine.span, evidence, other.span,
            "The source gives this figure for another period.", contradicts=True,
        )  # fmt: skip
    return None


def _bounds_agree(ours: Quantity, theirs: Quantity) -> bool:
    """Whether what the source says of a bound makes what the statement says of it true.

    Two bounds must be the same: "more than 25%" and "at least 25%" are different rules.
    """
    if ours.comparator is theirs.comparator:
        return True
    if theirs.comparator is Comparator.EXACTLY:
        return theirs.is_limit or _lies_within(theirs, ours)
    return ours.comparator is Comparator.EXACTLY and ours.is_limit


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


def _unmatched(
    said: _Facts,
    ours: Quantity,
    there: Sequence[tuple[_Evidence, Quantity]],
    values: set[tuple[Decimal, str]],
) -> Reason:
    """Why a figure is not in the cited words: with another currency or unit, with another value, or not at all."""
    for evidence, theirs in there:
        if theirs.unit != ours.unit and (
            theirs.value == ours.value or theirs.number == ours.number
        ):
            both_money = ours.is_money and theirs.is_money
            return _reason(
                Code.CURRENCY_MISMATCH if both_money else Code.UNIT_MISMATCH, said, ours.span, evidence, theirs.span,
                "The source gives this number in another currency." if both_money
                else "The source gives this number in another unit.",
                contradicts=bool(ours.unit and theirs.unit),
            )  # fmt: skip
    for evidence, theirs in there:
        if theirs.unit == ours.unit and (
            theirs.number == ours.number or (theirs.value, theirs.unit) not in values
        ):
            is_scaled = theirs.number == ours.number and bool(ours.unit) and not ours.is_money
            return _reason(
                Code.UNIT_MISMATCH if is_scaled else Code.NUMBER_MISMATCH, said, ours.span, evidence, theirs.span,
                "The source gives another value.", contradicts=bool(ours.unit),
            )  # fmt: skip
    return _reason(
        Code.NUMBER_MISMATCH, said, ours.span, None, None, "This number is not in the cited words."
    )


def _check_dates(said: _Facts, evidence: Sequence[_Evidence]) -> Iterator[Reason]:
    direct = [(e, d) for e in evidence for d in e.facts.dates]
    around = [d for e in evidence for d in dates(e.context)]
    years = {d.year for d in around if d.year}
    known = [d for _, d in direct] + around
    known += [d.in_year(year) for d in known if not d.year for year in years]
    for date in said.dates:
        if any(d.carries(date) for d in known):
            continue
        other = next(
            (
                (e, d)
                for e, d in direct
                if _says_as_much(d, date) and not any(d.carries(o) for o in said.dates)
            ),
            None,
        )
        if other:
            yield _reason(
                Code.DATE_MISMATCH, said, date.span, other[0], other[1].span, "The source gives another date.",
                contradicts=True,
            )  # fmt: skip
        else:
            yield _reason(
                Code.DATE_MISMATCH,
                said,
                date.span,
                None,
                None,
                "This date is not in the cited words.",
            )


def _says_as_much(one: Date, other: Date) -> bool:
    return all(
        bool(a) == bool(b)
        for a, b in zip(
            (one.year, one.month, one.day, one.quarter, one.half),
            (other.year, other.month, other.day, other.quarter, other.half),
            strict=True,
        )
    )


def _check_references(said: _Facts, evidence: Sequence[_Evidence]) -> Iterator[Reason]:
    known = {
        (r.kind, r.number)
        for e in evidence
        for text in (e.cited.text, e.context)
        for r in references(text)
    }
    known |= {
        ("section", label)
        for e in evidence
        for label in re.findall(r"(?m)^(\d+(?:\.\d+)*)\b", e.context)
    }
    pages = {r.page_number for e in evidence for r in e.cited.source.passage.regions}
    for reference in said.references:
        if (reference.kind, reference.number) in known:
            continue
        if (
            reference.kind == "page"
            and reference.number.isdecimal()
            and int(reference.number) in pages
        ):
            continue
        yield _reason(
            Code.NUMBER_MISMATCH,
            said,
            reference.span,
            None,
            None,
            "The cited words do not stand under this number.",
        )


def _check_codes(said: _Facts, evidence: Sequence[_Evidence]) -> Iterator[Reason]:
    """Tokens with digits that are no number, such as 10-K, must stand in the source as they are."""
    taken = [f.span for f in (*said.quantities, *said.dates, *said.references)]
    known = {
        token.group().strip(".,:-").lower()
        for e in evidence
        for text in (e.cited.text, e.context)
        for token in _CODE_TOKEN.finditer(text)
    }
    for token in _CODE_TOKEN.finditer(said.text):
        span = Span(token.start(), token.end())
        if token.group().strip(".,:-").lower() not in known and not _overlaps(span, taken):
            yield _reason(
                Code.NUMBER_MISMATCH, said, span, None, None, "This is not in the cited words."
            )


def _period(facts: _Facts, span: Span) -> Date | None:
    """The one period that a figure is for; None where that is not plain."""
    start = max((m.end() for m in _CLAUSE.finditer(facts.text, 0, span.start)), default=0)
    following = _CLAUSE.search(facts.text, span.end)
    end = following.start() if following else len(facts.text)
    own = [d for d in facts.dates if start <= d.span.start < end]
    if len(own) == 1:
        return own[0]
    if not own and len(facts.dates) == 1 and not _RELATIVE_PERIOD.search(facts.text):
        return facts.dates[0]
    return None


def _overlaps(span: Span, others: Sequence[Span]) -> bool:
    return any(span.start < other.end and other.start < span.end for other in others)


def _reason(
    code: Code, said: _Facts, span: Span, evidence: _Evidence | None, there: Span | None, message: str, *, contradicts: bool = False
) -> Reason:  # fmt: skip
    ours = said.text[span.start : span.end]
    if evidence is None or there is None:
        return Reason(code, f'"{ours}": {message}', statement_span=span)
    theirs = evidence.facts.text[there.start : there.end]
    return Reason(
        code, f'"{ours}" against "{theirs}": {message}', contradicts, span,
        evidence.cited.source.passage.id, there.shifted(evidence.cited.span.start),
    )  # fmt: skip
