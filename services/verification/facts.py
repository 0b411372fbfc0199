"""Whether the numbers, dates, references and names of a statement are those of the words it cites.

A figure must stand in the cited words themselves, or follow from figures that do. What says where
or when they apply (a date, a period, a section number, a name) may also stand in the sentence
around them, the headings above them or the source's name, because a table cell or a clause does not
repeat them.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from services.verification import figures, names, parties
from services.verification.bounds import Comparator
from services.verification.dates import Date, dates
from services.verification.evidence import Code, DerivedFigure, Reason, Span
from services.verification.reading import (
    Evidence,
    Facts,
    absent,
    against,
    overlaps,
    read,
    read_cited,
)
from services.verification.references import references
from services.verification.source import Cited

_TOKEN = re.compile(r"[\w.,/:-]+")
_DIGIT = re.compile(r"\d")
_FROM = re.compile(r"\b(?:from|between)\s+(?:\w+\s+){0,2}\Z", re.IGNORECASE)
_TO = re.compile(r"\s+(?:to|and|through|until)\s+(?:\w+\s+){0,2}", re.IGNORECASE)
_REACH = 30
# Words in which a statement and a source say that something happened on a day, not by it.
_STRICT = {Comparator.LESS_THAN, Comparator.MORE_THAN}


def disagreements(statement: str, cited: Sequence[Cited]) -> Iterator[Reason]:
    """Every fact of the statement that the cited words do not carry, each with where it stands."""
    said = read(statement)
    evidence = [read_cited(one) for one in cited]
    yield from figures.disagreements(said, evidence)
    yield from _dates(said, evidence)
    yield from _references(said, evidence)
    yield from _codes(said, evidence)
    yield from _names(said, evidence)
    yield from parties.disagreements(statement, cited)


def derivations(statement: str, cited: Sequence[Cited]) -> tuple[DerivedFigure, ...]:
    """The figures of the statement that stand nowhere and follow from those that are cited."""
    said = read(statement)
    if not said.quantities:
        return ()
    return tuple(figures.derivations(said, [read_cited(one) for one in cited]))


def _dates(said: Facts, evidence: Sequence[Evidence]) -> Iterator[Reason]:
    direct = [(e, date) for e in evidence for date in e.facts.dates]
    around = [date for e in evidence for date in dates(e.context)]
    known = [date for _, date in direct] + around
    years = {date.year for date in around if date.year}
    known += [date.in_year(year) for date in known if not date.year for year in years]
    ends = set(ends_of_spans(said))
    for ours, label in zip(said.dates, said.date_labels, strict=True):
        if any(date.carries(ours) for date in known):
            if ours.span not in ends:
                yield from _misplaced(said, ours, label, evidence)
            continue
        if any(_lies_within(date, ours) for _, date in direct):
            continue
        others = [
            (e, date)
            for e, date in direct
            if date.is_like(ours) and not any(date.carries(other) for other in said.dates)
        ]
        if others:
            there, theirs = others[0]
            message = "The source gives another date."
            yield against(Code.DATE_MISMATCH, said, ours.span, there, theirs.span, message=message)
        else:
            message = "This date is not in the cited words."
            yield absent(Code.DATE_MISMATCH, said, ours.span, message)


def ends_of_spans(said: Facts) -> Iterator[Span]:
    """The dates of a "from 2022 to 2023": what is said is said of both."""
    for one, other in pairwise(said.dates):
        between = said.text[one.span.end : other.span.start]
        before = said.text[max(0, one.span.start - _REACH) : one.span.start]
        if _TO.fullmatch(between) and _FROM.search(before):
            yield from (one.span, other.span)


def _misplaced(
    said: Facts, ours: Date, label: frozenset[str], evidence: Sequence[Evidence]
) -> Iterator[Reason]:
    """A date that the source has, but as another bound or for something else."""
    places = [
        (e, date, words)
        for e in evidence
        for date, words in zip(e.facts.dates, e.facts.date_labels, strict=True)
    ][: figures.MAX_PLACES]
    same = [(e, date, words) for e, date, words in places if date.carries(ours)]
    if not same:
        return
    if not any(_bounds_agree(ours, date) for _, date, _ in same):
        there, theirs, _ = same[0]
        message = "Statement and source put it on different sides of this date."
        yield against(
            Code.COMPARATOR_MISMATCH, said, ours.span, there, theirs.span, message=message
        )
        return
    for there, other, its_words in places:
        if other.carries(ours) or not other.is_like(ours):
            continue
        if all(
            e is there
            and figures.are_in_one_sentence(e, date.span, other.span)
            and figures.belongs_to_other(label, words, its_words)
            for e, date, words in same
        ):
            message = "In the source these words belong to another date."
            yield against(Code.DATE_MISMATCH, said, ours.span, there, other.span, message=message)
            return


def _bounds_agree(ours: Date, theirs: Date) -> bool:
    """Whether both put what happens on the same side of a day.

    Of "by" and "on", the source's "by" says less; a source that says neither leaves both open.
    """
    mine, other = ours.comparator, theirs.comparator
    if mine is other or mine is None or (other is None and mine not in _STRICT):
        return True
    return ours.parts != theirs.parts  # A day lies on one side of its year in its own right.


def _lies_within(theirs: Date, ours: Date) -> bool:
    """Whether the source's day satisfies the statement's bound, as 2020 is "after 2019"."""
    if theirs.comparator not in {None, Comparator.EXACTLY} or not theirs.year or not ours.year:
        return False
    shared = sum(bool(part) for part in ours.order) or 1
    mine, other = ours.order[:shared], theirs.order[:shared]
    match ours.comparator:
        case Comparator.MORE_THAN:
            return other > mine
        case Comparator.LESS_THAN:
            return other < mine
        case _:
            return False


def _references(said: Facts, evidence: Sequence[Evidence]) -> Iterator[Reason]:
    texts = [text for e in evidence for text in _texts(e)]
    known = [reference for text in texts for reference in references(text)]
    labels = {label for text in texts for label in re.findall(r"(?m)^(\d+(?:\.\d+)*)\b", text)}
    pages = {str(page) for e in evidence for page in e.cited.source.passage.pages}
    for ours in said.references:
        if any(ours.kind == theirs.kind and theirs.lies_in(ours.number) for theirs in known):
            continue
        if ours.number in {"section": labels, "page": pages}.get(ours.kind, ()):
            continue
        message = "The cited words do not stand under this number."
        yield absent(Code.NUMBER_MISMATCH, said, ours.span, message)


def _codes(said: Facts, evidence: Sequence[Evidence]) -> Iterator[Reason]:
    """Tokens with digits that are no number, such as 10-K, must stand in the source as they are."""
    taken = said.spans
    known = {code for e in evidence for text in _texts(e) for code, _ in _code_tokens(text)}
    for code, span in _code_tokens(said.text):
        if code not in known and not overlaps(span, taken):
            yield absent(Code.NUMBER_MISMATCH, said, span, "This is not in the cited words.")


def _code_tokens(text: str) -> Iterator[tuple[str, Span]]:
    for found in _TOKEN.finditer(text):
        if _DIGIT.search(found.group()):
            yield found.group().strip(".,:-").lower(), Span(found.start(), found.end())


def _names(said: Facts, evidence: Sequence[Evidence]) -> Iterator[Reason]:
    taken = said.spans
    for name in names.missing(said.text, [text for e in evidence for text in _texts(e)]):
        if not overlaps(name.span, taken):
            message = "This is not named in the cited words."
            yield absent(Code.ENTITY_MISMATCH, said, name.span, message)


def _texts(evidence: Evidence) -> tuple[str, str]:
    return evidence.cited.text, evidence.context
