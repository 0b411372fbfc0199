"""What a text states that can be compared: its quantities, dates and references."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice

from services.verification.dates import Date, dates
from services.verification.evidence import Code, Reason, Span
from services.verification.labels import labels
from services.verification.quantities import Quantity, find
from services.verification.references import Reference, references
from services.verification.source import Cited

_LABEL = re.compile(
    r"^[^\S\n]*(?:#{1,6}\s*)?((?:section|article|annex|chapter)\s+[\w.]+|\d+(?:\.\d+)+)",
    re.IGNORECASE | re.MULTILINE,
)
# Each check asks for the facts of the same few sentences; longer texts would fill the memory.
MAX_REMEMBERED = 2_000
# A stretch with more numbers is a table; a statement that rests on those beyond is not verified.
MAX_QUANTITIES = 2_000


@dataclass(frozen=True)
class Facts:
    """What one text states."""

    text: str
    quantities: tuple[Quantity, ...]
    dates: tuple[Date, ...]
    references: tuple[Reference, ...]

    @cached_property
    def spans(self) -> list[Span]:
        """Where all of them stand."""
        quantities = [quantity.span for quantity in self.quantities]
        dates = [date.span for date in self.dates]
        return quantities + dates + [reference.span for reference in self.references]

    @cached_property
    def labels(self) -> list[frozenset[str]]:
        """The stems of what each quantity is one of."""
        return labels(self.text, [quantity.span for quantity in self.quantities], self.spans)

    @cached_property
    def date_labels(self) -> list[frozenset[str]]:
        """The stems of what happened at each date."""
        return labels(self.text, [date.span for date in self.dates], self.spans)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a cited stretch states, and what around it says where and when that applies."""

    cited: Cited
    facts: Facts
    context: str


def read(text: str) -> Facts:
    """The facts of a text; those of a sentence are read once."""
    return _read_sentence(text) if len(text) <= MAX_REMEMBERED else _read(text)


def read_cited(cited: Cited) -> Evidence:
    return Evidence(cited, read(cited.text), _context(cited))


def _read(text: str) -> Facts:
    found_references = tuple(references(text))
    places = [reference.span for reference in found_references]
    found_dates = tuple(date for date in dates(text) if not overlaps(date.span, places))
    taken = places + [date.span for date in found_dates]
    quantities = tuple(islice(find(text, taken), MAX_QUANTITIES))
    return Facts(text, quantities, found_dates, found_references)


_read_sentence = lru_cache(maxsize=1_000)(_read)


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
    above = _LABEL.findall(cited.source.text[: cited.span.start])
    name = passage.source_name.rpartition(".")[0] or passage.source_name
    return "\n".join(
        (
            cited.around.text,
            *passage.heading_path,
            *above[-1:],
            f"section {passage.section_id}" if passage.section_id else "",
            name.replace("_", " "),
        )
    )
