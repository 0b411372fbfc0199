"""Composes an answer from what is known: what was verified, or the reason for silence."""

from collections.abc import Iterable
from itertools import count

from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding

from services.orchestrator.review import Review, conflicts, released
from services.orchestrator.state import State

ABSTENTION = "Insufficient information in the provided sources."

_AUTHORITIES = {
    core.AUTHORITY_HIGH: "high authority",
    core.AUTHORITY_MEDIUM: "medium authority",
    core.AUTHORITY_STANDARD: "standard authority",
}
# The citation has all of it.
_LONGEST_QUOTE = 400
_DECIDED = (core.COMPLIANCE_COMPLIANT, core.COMPLIANCE_NON_COMPLIANT)


def compose(state: State) -> grounding.Answer:
    """The answer without what only its surroundings know: id, time and trace."""
    answer = grounding.Answer(
        conversation_id=state["asked"].conversation,
        question=state["asked"].question,
        stage_timings=state["timings"],
        attempts=state["attempts"],
        objections=state["objections"],
        search=state["search"],
        memory_degraded=state["degraded"],
    )
    if "draft" in state:
        answer.generator = state["draft"].generator
    best = state.get("best")
    statements = released(best) if best else []
    if best:
        answer.verifier = best.verifier
    if best and statements:
        whole = len(statements) == len(best.statements)
        answer.text = text(statements)
        answer.statements.extend(statements)
        answer.status = answer.STATUS_ANSWERED if whole else answer.STATUS_PARTIAL
        answer.compliance = _compliance(best, whole=whole)
        answer.generator = best.draft.generator
        answer.confidence.CopyFrom(state["confidence"])
    else:
        answer.text = ABSTENTION
        answer.status = answer.STATUS_ABSTAINED
        answer.abstention.CopyFrom(_abstention(state))
        answer.confidence.SetInParent()
    return answer


def text(statements: Iterable[core.VerifiedStatement]) -> str:
    """The statements in order, each followed by its citations' numbers, which count up from 1."""
    numbers = count(1)
    return " ".join(
        f"{statement.text} {''.join(f'[{next(numbers)}]' for _ in statement.citations)}"
        for statement in statements
    )


def _compliance(verified: Review, *, whole: bool) -> core.Compliance:
    """The drafter's judgement rests on its whole draft: where a part fell, nothing is decided."""
    judged = verified.draft.compliance
    if judged in _DECIDED and not whole:
        return core.COMPLIANCE_UNKNOWN
    return judged


def _abstention(state: State) -> core.Abstention:
    if found := conflicts(state["objections"]):
        shown = [citation for reason in found for citation in reason.citations]
        distinct = {(c.passage_id, c.span.start, c.span.end): c for c in shown}.values()
        return core.Abstention(
            type=core.Abstention.TYPE_CONFLICTING,
            message=" ".join(["Sources in force contradict each other.", *map(_said, distinct)]),
            conflicting=distinct,
        )
    if state["objections"]:
        return core.Abstention(
            type=core.Abstention.TYPE_UNVERIFIABLE,
            message=f"{_counted(state['attempts'], 'draft')} could not be verified in any part.",
        )
    searched = state["search"]
    return core.Abstention(
        type=core.Abstention.TYPE_NO_EVIDENCE,
        message=f"Nothing answers the question in {_counted(searched.passage_count, 'passage')} "
        f"of {_counted(searched.document_count, 'document')}.",
    )


def _said(citation: core.Citation) -> str:
    """One side of a conflict, with what a reader needs to weigh it."""
    where = [
        citation.source_name,
        f"page {citation.page_number}" if citation.page_number else "",
        _AUTHORITIES.get(citation.authority, ""),
        f"published {citation.published}" if citation.published else "",
        f"in force from {citation.effective_from}" if citation.effective_from else "",
    ]
    quote = " ".join(citation.quote.split())
    shown = quote if len(quote) <= _LONGEST_QUOTE else quote[: _LONGEST_QUOTE - 1] + "…"
    return f"{', '.join(filter(None, where))}: “{shown}”"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
