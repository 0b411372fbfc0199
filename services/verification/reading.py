"""What a text states that can be compared: its quantities, dates and references."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.verification.dates import Date, Reference, dates, references
from services.verification.evidence import Code, Reason, Span
from services.verification.quantities import Quantity, find
from services.verification.source import Cited

_LABEL = re.compile(
    r"^[^\S\n]*(?:#{1,6}\s*)?((?:section|article|annex|chapter)\s+[\w.]+|\d+(?:\.\d+)+)",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Facts:
    """What one text states."""

    text: str
    quantities: tuple[Quantity, ...]
    dates: tuple[Date, ...]
    references: tuple[Reference, ...]

    @property
    def spans(self) -> list[Span]:
        """Where all of them stand."""
        quantities = [quantity.span for quantity in self.quantities]
        dates = [date.span for date in self.dates]
        return quantities + dates + [reference.span for reference in self.references]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a cited stretch states, and what around it says where and when that applies."""

    cited: Cited
    facts: Facts
    context: str


def read(text: str) -> Facts:
    found_references = tuple(references(text))
    places = [reference.span for reference in found_references]
    found_dates = tuple(date for date in dates(text) if not overlaps(date.span, places))
    taken = places + [date.span for date in found_dates]
    return Facts(text, tuple(find(text, taken)), found_dates, found_references)


def read_cited(cited: Cited) -> Evidence:
    return Evidence(cited, read(cited.text), _context(cited))


def overlaps(span: Span, others: Sequence[Span]) -> bool:
    return any(span.start < other.end and other.start < span.end for other in others)


def absent(code: Code, said: Facts, span: Span, message: str) -> Reason:
    """A fact of the statement that the cited words do not have."""
    return Reason(code, f'"{said.text[span.start : span.end]}": {message}', statement_span=span)


def against(
    code: Code, said: Facts, ours: Span, evidence: Evidence, theirs: Span, *, message: str
) -> Reason:
    """A fact of the statement for which the cited words have another."""
    quoted = evidence.facts.text[theirs.start : theirs.end]
    return Reason(
        code,
        f'"{said.text[ours.start : ours.end]}" against "{quoted}": {message}',
        contradicts=True,
        statement_span=ours,
        passage_id=evidence.cited.source.passage.id,
        passage_span=evidence.cited.in_source(theirs),
    )


def _context(cited: Cited) -> str:
    passage = cited.source.passage
    labels = _LABEL.findall(cited.source.text[: cited.span.start])
    name = passage.source_name.rpartition(".")[0] or passage.source_name
    return "\n".join(
        (
            cited.around.text,
            *passage.heading_path,
            *labels[-1:],
            f"section {passage.section_id}" if passage.section_id else "",
            name.replace("_", " "),
        )
    )
