"""The figures behind an answer: citation accuracy, source authority, coverage, confidence."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from services.chassis.errors import InvalidInput, Violation
from services.verification.evidence import Authority, Verdict
from services.verification.sentences import states_something

AUTHORITY_WEIGHTS = {
    Authority.HIGH: 1.0,
    Authority.MEDIUM: 0.7,
    Authority.STANDARD: 0.4,
    Authority.UNSPECIFIED: 0.4,
}


@dataclass(frozen=True, slots=True)
class Weights:
    """What each figure counts in the grounding confidence; together they make 1."""

    citation_accuracy: float = 0.6
    source_authority: float = 0.3
    coverage: float = 0.1

    def __post_init__(self) -> None:
        parts = (self.citation_accuracy, self.source_authority, self.coverage)
        if not all(0 <= part <= 1 for part in parts) or not math.isclose(
            sum(parts), 1, abs_tol=1e-9
        ):
            raise ValueError(
                "the weights of the grounding confidence must lie in 0..1 and make 1 together"
            )


@dataclass(frozen=True, slots=True)
class Scored:
    """What the figures need of a verified statement: its cited documents with their authority."""

    text: str
    verdict: Verdict
    documents: Sequence[tuple[str, Authority]] = ()


@dataclass(frozen=True, slots=True)
class Confidence:
    """Each 0 to 1."""

    grounding_confidence: float
    citation_accuracy: float
    source_authority: float
    coverage: float


def score(statements: Sequence[Scored], total: int, verified: int, weights: Weights) -> Confidence:
    """The figures of an answer, from its last draft.

    An answer without one supported statement has no grounding: its confidence is 0, whatever was
    located.
    """
    if verified > total:
        raise InvalidInput(
            "More citations are verified than there are.",
            violations=(Violation("citations_verified", "must not be more than citations_total"),),
        )
    factual = [s for s in statements if states_something(s.text)]
    cited = [s for s in factual if s.documents]
    supported = any(s.verdict is Verdict.SUPPORTED for s in factual)
    documents = {id_: authority for s in statements for id_, authority in s.documents}
    accuracy = verified / total if total else 0.0
    authority = (
        math.fsum(AUTHORITY_WEIGHTS[a] for a in documents.values()) / len(documents)
        if documents
        else 0.0
    )
    covered = len(cited) / len(factual) if factual else 0.0
    parts = (
        weights.citation_accuracy * accuracy,
        weights.source_authority * authority,
        weights.coverage * covered,
    )
    grounded = math.fsum(parts) if supported else 0.0
    return Confidence(grounded, accuracy, authority, covered)
