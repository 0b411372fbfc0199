"""What verification said of a draft, believed only as far as it fits what was sent."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from verity.v1 import core_pb2 as core
from verity.v1 import generation_service_pb2 as generation
from verity.v1 import verification_service_pb2 as verification

_FAILURES = (
    core.VERDICT_CONTRADICTED,
    core.VERDICT_UNSUPPORTED,
    core.VERDICT_UNCITED,
    core.VERDICT_UNCHECKED,
)
_CHECK_FAILED = "The reply of the verification does not fit what was to be verified."


@dataclass(frozen=True, slots=True)
class Review:
    """A draft and its verdicts: one statement for each that was drafted, in the same order."""

    draft: generation.GenerateResponse
    statements: tuple[core.VerifiedStatement, ...]
    citations_total: int
    citations_verified: int
    verifier: str


def review(
    draft: generation.GenerateResponse,
    passages: Sequence[core.Passage],
    reply: verification.VerifyResponse,
) -> Review:
    """Holds a reply against its request: what does not fit becomes UNCHECKED, never a pass."""
    sources = {passage.id: passage for passage in passages}
    if len(reply.statements) == len(draft.statements):
        statements = tuple(
            verified if _fits(drafted, verified, sources) else _unchecked(drafted)
            for drafted, verified in zip(draft.statements, reply.statements, strict=True)
        )
    else:
        statements = tuple(_unchecked(drafted) for drafted in draft.statements)
    return Review(
        draft,
        statements,
        reply.citations_total,
        min(reply.citations_verified, reply.citations_total),
        reply.verifier,
    )


def released(verified: Review) -> list[core.VerifiedStatement]:
    """What may be said: nothing else ever gets into an answer or a stream."""
    return [s for s in verified.statements if s.verdict == core.VERDICT_SUPPORTED and s.citations]


def objections(verified: Review, attempt: int) -> list[core.Objection]:
    """What is sent back to the drafter: each statement that did not pass, and why."""
    return [
        core.Objection(
            attempt=attempt, statement=drafted, verdict=found.verdict, reasons=found.reasons
        )
        for drafted, found in zip(verified.draft.statements, verified.statements, strict=True)
        if found.verdict != core.VERDICT_SUPPORTED
    ]


def conflicts(objections: Iterable[core.Objection]) -> list[core.Reason]:
    """Where sources in force were found to contradict each other, each with its citations."""
    return [
        reason
        for objection in objections
        for reason in objection.reasons
        if reason.code == core.Reason.CODE_CONFLICTING_SOURCES and reason.citations
    ]


def tells_of(verified: Review, conflict: core.Reason) -> bool:
    """Whether what may be said has a statement that rests on all the sources in conflict."""
    sources = {citation.passage_id for citation in conflict.citations}
    return any(sources <= {c.passage_id for c in s.citations} for s in released(verified))


def _fits(
    drafted: core.DraftStatement,
    verified: core.VerifiedStatement,
    sources: Mapping[str, core.Passage],
) -> bool:
    if verified.text != drafted.text:
        return False
    if verified.verdict != core.VERDICT_SUPPORTED:
        shown = (citation for reason in verified.reasons for citation in reason.citations)
        return verified.verdict in _FAILURES and all(_located(c, sources) for c in shown)
    return (
        not verified.reasons
        and len(verified.citations) > 0
        and all(_located(citation, sources) for citation in verified.citations)
    )


def _located(citation: core.Citation, sources: Mapping[str, core.Passage]) -> bool:
    """The quote stands in a passage that the draft was made from, exactly where it says."""
    source = sources.get(citation.passage_id)
    if source is None or not citation.quote.strip():
        return False
    return (
        source.text[citation.span.start : citation.span.end] == citation.quote
        and source.document_sha256 == citation.document_sha256
        and source.document_id == citation.document_id
    )


def _unchecked(drafted: core.DraftStatement) -> core.VerifiedStatement:
    return core.VerifiedStatement(
        text=drafted.text,
        verdict=core.VERDICT_UNCHECKED,
        reasons=[core.Reason(code=core.Reason.CODE_CHECK_FAILED, message=_CHECK_FAILED)],
    )
