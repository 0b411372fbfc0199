"""What is verified, against what, and what came of it: the nouns of verification."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of code points."""

    start: int
    end: int

    def shifted(self, by: int) -> "Span":
        return Span(self.start + by, self.end + by)

    def contains(self, other: "Span") -> bool:
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page, in points from its top left corner."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Region:
    """One line of a passage and where it stands on paper."""

    span: Span
    page_number: int
    box: Box | None = None
    # The number printed on that page; empty when none is.
    page_label: str = ""


class Authority(StrEnum):
    UNSPECIFIED = "UNSPECIFIED"
    STANDARD = "STANDARD"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"


@dataclass(frozen=True, slots=True)
class Passage:
    """A text that may be cited, with what the reader of a citation wants to know of it."""

    id: str
    text: str
    document_id: str = ""
    document_sha256: str = ""
    source_name: str = ""
    section_id: str = ""
    heading_path: tuple[str, ...] = ()
    page_number: int = 0
    document_offset: int = 0
    authority: Authority = Authority.UNSPECIFIED
    regions: tuple[Region, ...] = ()
    # Days as YYYY-MM-DD; empty when not stated.
    published: str = ""
    effective_from: str = ""
    effective_to: str = ""
    page_label: str = ""
    # Where running heads, feet and page numbers stand in the text; see furniture.py.
    furniture: tuple[Span, ...] = ()

    def is_in_force(self, day: str) -> bool:
        """Whether it applies on a day; on no day in particular, everything does.

        `effective_to` is the first day on which it no longer applies.
        """
        return not day or (
            self.effective_from <= day and (not self.effective_to or day < self.effective_to)
        )

    @property
    def pages(self) -> frozenset[int]:
        """The pages it is printed on."""
        return frozenset((self.page_number, *(region.page_number for region in self.regions))) - {0}


@dataclass(frozen=True, slots=True)
class DraftCitation:
    """What a drafter says it copied. Not yet checked."""

    passage_id: str
    quote: str


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of a draft with the citations it rests on."""

    text: str
    citations: tuple[DraftCitation, ...] = ()


class Match(StrEnum):
    """How the drafter's words were found."""

    EXACT = "EXACT"
    FOLDED = "FOLDED"


@dataclass(frozen=True, slots=True)
class Citation:
    """A quote that stands where it says. Everything shown is cut from the source."""

    passage: Passage
    span: Span
    match: Match

    @property
    def quote(self) -> str:
        return self.passage.text[self.span.start : self.span.end]

    @property
    def document_span(self) -> Span:
        return self.span.shifted(self.passage.document_offset)

    @property
    def regions(self) -> tuple[Region, ...]:
        """The lines the quote covers."""
        return tuple(
            region
            for region in self.passage.regions
            if region.span.start < self.span.end and self.span.start < region.span.end
        )

    @property
    def page_number(self) -> int:
        """The page on which the quote starts; the passage's own when its lines are not known."""
        return next((region.page_number for region in self.regions), self.passage.page_number)

    @property
    def page_label(self) -> str:
        """The number printed on that page; empty when none is."""
        return next((region.page_label for region in self.regions), self.passage.page_label)


class Verdict(StrEnum):
    """What the checks found about one statement; UNSPECIFIED where there was nothing to check."""

    UNSPECIFIED = "UNSPECIFIED"
    SUPPORTED = "SUPPORTED"
    CONTRADICTED = "CONTRADICTED"
    UNSUPPORTED = "UNSUPPORTED"
    UNCITED = "UNCITED"
    UNCHECKED = "UNCHECKED"


class Code(StrEnum):
    """Why a statement did not pass; the names are those of verity.v1.Reason.Code."""

    QUOTE_NOT_FOUND = "QUOTE_NOT_FOUND"
    MISATTRIBUTED = "MISATTRIBUTED"
    MISATTRIBUTED_BY_ELISION = "MISATTRIBUTED_BY_ELISION"
    QUOTE_TOO_SHORT = "QUOTE_TOO_SHORT"
    SCOPE_CUT = "SCOPE_CUT"
    UNKNOWN_PASSAGE = "UNKNOWN_PASSAGE"
    NUMBER_MISMATCH = "NUMBER_MISMATCH"
    DATE_MISMATCH = "DATE_MISMATCH"
    UNIT_MISMATCH = "UNIT_MISMATCH"
    CURRENCY_MISMATCH = "CURRENCY_MISMATCH"
    COMPARATOR_MISMATCH = "COMPARATOR_MISMATCH"
    NEGATION_MISMATCH = "NEGATION_MISMATCH"
    MODALITY_MISMATCH = "MODALITY_MISMATCH"
    ENTITY_MISMATCH = "ENTITY_MISMATCH"
    OMITTED_CONDITION = "OMITTED_CONDITION"
    NO_ENTAILMENT = "NO_ENTAILMENT"
    NO_CITATION = "NO_CITATION"
    CONFLICTING_SOURCES = "CONFLICTING_SOURCES"
    CHECK_FAILED = "CHECK_FAILED"


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that is wrong with a statement.

    `contradicts` says that the cited words give another value for the same fact, rather than none.
    """

    code: Code
    message: str
    contradicts: bool = False
    statement_span: Span | None = None
    passage_id: str = ""
    passage_span: Span | None = None
    citation_index: int | None = None
    closest_text: str = ""
    # Where sources conflict: the sentences that do, the cited one first.
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class DerivedFigure:
    """A figure of a statement that stands in no source and follows from those that do.

    Attributes:
        span: Where it stands in the statement.
        formula: How it was recomputed, in the words of the sources: "$40 million + $25 million".
        operands: The figures it was computed from, each as its passage's id and its place there.
    """

    span: Span
    formula: str
    operands: tuple[tuple[str, Span], ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """A statement with its verdict. `error` is for the log of the process, never for the caller."""

    text: str
    verdict: Verdict
    reasons: Sequence[Reason] = ()
    citations: Sequence[Citation] = ()
    derived: Sequence[DerivedFigure] = ()
    error: Exception | None = field(default=None, compare=False)
