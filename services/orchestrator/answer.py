"""Composes an answer from what is known: what was verified, or the reason for silence."""

from collections.abc import Iterable
from itertools import count

from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding

from services.orchestrator import readership
from services.orchestrator.compliance import by_type, judged
from services.orchestrator.objections import settled
from services.orchestrator.review import conflicts, untold
from services.orchestrator.state import State

ABSTENTION = "Insufficient information in the provided sources."

_AUTHORITIES = {
    core.AUTHORITY_HIGH: "high authority",
    core.AUTHORITY_MEDIUM: "medium authority",
    core.AUTHORITY_STANDARD: "standard authority",
}
# The citation has all of it.
_LONGEST_QUOTE = 400


def compose(state: State) -> grounding.Answer:
    """The answer without what only its surroundings know: id, time and trace."""
    asked, statements = state["asked"], [one.verified for one in state["said"]]
    whole = bool(statements) and _is_whole(state)
    answer = grounding.Answer(
        conversation_id=asked.conversation,
        question=asked.question,
        standalone_question=state["standalone"],
        as_of=asked.as_of,
        strategy=state["strategy"],
        stage_timings=state["timings"],
        attempts=state["attempts"],
        attempt_log=state["attempt_log"],
        objections=settled(state["objections"], state["said"], state["attempt_log"]),
        search=state["search"],
        readers=readership.to_message(state.get("readership", frozenset())),
        memory_degraded=state["degraded"],
        degraded=state["extractive"],
        generator=_generator(state),
        verifier=state["verifier"],
    )
    if statements:
        answer.text = text(statements)
        answer.statements.extend(statements)
        answer.status = answer.STATUS_ANSWERED if whole else answer.STATUS_PARTIAL
        answer.confidence.CopyFrom(state["confidence"])
    else:
        answer.text = ABSTENTION
        answer.status = answer.STATUS_ABSTAINED
        answer.abstention.CopyFrom(_abstention(state))
        answer.confidence.SetInParent()
    answer.compliance, gaps = _compliance(state, whole=whole)
    answer.compliance_gaps.extend(gaps)
    return answer


def text(statements: Iterable[core.VerifiedStatement]) -> str:
    """The statements in order, each followed by its citations' numbers, which count up from 1."""
    numbers = count(1)
    return " ".join(
        f"{statement.text} {''.join(f'[{next(numbers)}]' for _ in statement.citations)}"
        for statement in statements
    )


def _is_whole(state: State) -> bool:
    """Every statement of the last draft was verified, and no conflict is left untold."""
    last = state["attempt_log"][-1].outcome == grounding.Attempt.OUTCOME_VERIFIED
    return last and not untold(
        conflicts(state["objections"]), (one.verified for one in state["said"])
    )


def _generator(state: State) -> str:
    """Who drafted what is said; where nothing is, who drafted last."""
    drafting = {one.attempt for one in state["said"]}
    names = dict.fromkeys(
        one.generator for one in state["attempt_log"] if one.attempt in drafting and one.generator
    )
    last = next((one.generator for one in reversed(state["attempt_log"]) if one.generator), "")
    return ", ".join(names) or last


def _compliance(
    state: State, *, whole: bool
) -> tuple[core.Compliance, list[grounding.ComplianceGap]]:
    """The drafter's judgement, where what it rests on is cited; two corpora always ask for one."""
    judgement, asked = state["compliance"], state["asked"]
    if asked.in_two_corpora:
        judgement = judgement or core.COMPLIANCE_UNKNOWN
    elif not state["said"]:
        judgement = core.COMPLIANCE_UNSPECIFIED
    corpora = state["corpora"] if asked.in_two_corpora else by_type(state["passages"])
    statements = [one.verified for one in state["said"]]
    return judged(judgement, statements, corpora, whole=whole)


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
    if state["outdated"]:
        said = "; ".join(map(_left_out, state["outdated"]))
        return core.Abstention(
            type=core.Abstention.TYPE_SUPERSEDED,
            message=f"Only what does not apply{_on(searched.as_of)} answers: {said}.",
        )
    return core.Abstention(
        type=core.Abstention.TYPE_NO_EVIDENCE,
        message=f"Nothing answers the question in {_counted(searched.passage_count, 'passage')} "
        f"of {_counted(searched.document_count, 'document')}.",
    )


def _left_out(one: core.SearchReport.Exclusion) -> str:
    """A document that does not apply, and why."""
    why = [
        f"superseded by {one.superseded_by_name}" if one.superseded_by_name else "",
        f"in force from {one.effective_from}" if one.effective_from else "",
        f"no longer in force from {one.effective_to}" if one.effective_to else "",
    ]
    return ", ".join([one.source_name, *filter(None, why)])


def _on(day: str) -> str:
    return f" on {day}" if day else ""


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
