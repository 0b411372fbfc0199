"""What verification said of statements, believed only as far as it fits what was sent."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from verity.v1 import core_pb2 as core
from verity.v1 import verification_service_pb2 as verification

_FAILURES = (
    core.VERDICT_CONTRADICTED,
    core.VERDICT_UNSUPPORTED,
    core.VERDICT_UNCITED,
    core.VERDICT_UNCHECKED,
)
_CHECK_FAILED = "The reply of the verification does not fit what was to be verified."


@dataclass(frozen=True, slots=True)
class Checked:
    """A statement as it was drafted, and what verification says of it."""

    drafted: core.DraftStatement
    verified: core.VerifiedStatement
    # The draft it is of; the first is 1.
    attempt: int

    @property
    def passed(self) -> bool:
        """Whether it may be said: nothing else ever gets into an answer or a stream."""
        return self.verified.verdict == core.VERDICT_SUPPORTED and len(self.verified.citations) > 0

    @property
    def citations_verified(self) -> int:
        return min(len(self.verified.citations), len(self.drafted.citations))


def review(
    drafted: Sequence[core.DraftStatement],
    passages: Sequence[core.Passage],
    reply: verification.VerifyResponse,
    attempt: int,
) -> list[Checked]:
    """Holds a reply against its request: what does not fit becomes UNCHECKED, never a pass."""
    sources = {passage.id: passage for passage in passages}
    if len(reply.statements) != len(drafted):
        return [Checked(statement, _unchecked(statement), attempt) for statement in drafted]
    return [
        Checked(
            statement,
            verified if _fits(statement, verified, sources) else _unchecked(statement),
            attempt,
        )
        for statement, verified in zip(drafted, reply.statements, strict=True)
    ]


def objection(checked: Checked) -> core.Objection:
    """What is sent back to the drafter of a statement that did not pass."""
    return core.Objection(
        attempt=checked.attempt,
        statement=checked.drafted,
        verdict=checked.verified.verdict,
        reasons=checked.verified.reasons,
    )


def conflicts(objections: Iterable[core.Objection]) -> list[core.Reason]:
    """Where sources in force were found to contradict each other, each with its citations."""
    return [
        reason
        for objection in objections
        for reason in objection.reasons
        if reason.code == core.Reason.CODE_CONFLICTING_SOURCES and reason.citations
    ]


def untold(
    conflicts: Iterable[core.Reason], said: Iterable[core.VerifiedStatement]
) -> list[core.Reason]:
    """The conflicts of which no statement tells: it would rest on all the sources in conflict."""
    cited = [{citation.passage_id for citation in statement.citations} for statement in said]
    return [
        conflict
        for conflict in conflicts
        if not any({c.passage_id for c in conflict.citations} <= sources for sources in cited)
    ]


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
