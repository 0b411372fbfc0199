"""Whether the numbers, dates, references and names of a statement are those of the words it cites.

A figure must stand in the cited words themselves. What says where or when they apply (a date, a
period, a section number, a name) may also stand in the sentence around them, the headings above
them or the source's name, because a table cell or a clause does not repeat them.
"""

import re
from collections.abc import Iterator, Sequence

from services.verification import figures, names
from services.verification.dates import dates, references
from services.verification.evidence import Code, Reason, Span
from services.verification.reading import (
    Evidence,
    Facts,
    absent,
    against,
    overlaps,
    read,
    read_cited,
)
from services.verification.source import Cited

_CODE_TOKEN = re.compile(r"[\w.,/:-]*\d[\w.,/:-]*")


def disagreements(statement: str, cited: Sequence[Cited]) -> Iterator[Reason]:
    """Every fact of the statement that the cited words do not carry, each with where it stands."""
    said = read(statement)
    evidence = [read_cited(one) for one in cited]
    yield from figures.disagreements(said, evidence)
    yield from _dates(said, evidence)
    yield from _references(said, evidence)
    yield from _codes(said, evidence)
    compared = said.spans
    for name in names.missing(statement, [text for e in evidence for text in _texts(e)]):
        if overlaps(name.span, compared):
            continue
        yield absent(Code.ENTITY_MISMATCH, said, name.span, "This is not named in the cited words.")


def _dates(said: Facts, evidence: Sequence[Evidence]) -> Iterator[Reason]:
    direct = [(e, date) for e in evidence for date in e.facts.dates]
    around = [date for e in evidence for date in dates(e.context)]
    known = [date for _, date in direct] + around
    years = {date.year for date in around if date.year}
    known += [date.in_year(year) for date in known if not date.year for year in years]
    for ours in said.dates:
        if any(date.carries(ours) for date in known):
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


def _references(said: Facts, evidence: Sequence[Evidence]) -> Iterator[Reason]:
    texts = [text for e in evidence for text in _texts(e)]
    known = {(r.kind, r.number) for text in texts for r in references(text)}
    known |= {
        ("section", label)
        for text in texts
        for label in re.findall(r"(?m)^(\d+(?:\.\d+)*)\b", text)
    }
    known |= {("page", str(page)) for e in evidence for page in e.cited.source.passage.pages}
    for ours in said.references:
        if (ours.kind, ours.number) not in known:
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
    for found in _CODE_TOKEN.finditer(text):
        yield found.group().strip(".,:-").lower(), Span(found.start(), found.end())


def _texts(evidence: Evidence) -> tuple[str, str]:
    return evidence.cited.text, evidence.context
