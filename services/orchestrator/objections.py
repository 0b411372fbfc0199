"""What becomes of objections: corrected, dropped or abandoned."""

import re
from collections.abc import Sequence

from verity.v1 import core_pb2 as core
from verity.v1 import generation_service_pb2 as generation
from verity.v1 import grounding_service_pb2 as grounding

from services.orchestrator.review import Checked

# Two wordings of one statement have this share of the shorter one's words in common, or more.
_ALIKE = 0.5
_USABLE = (
    grounding.Attempt.OUTCOME_VERIFIED,
    grounding.Attempt.OUTCOME_OBJECTED,
    grounding.Attempt.OUTCOME_INSUFFICIENT,
)

Outcome = core.Objection.Outcome


def unusable(attempt: int, failure: generation.GenerateResponse.Failure) -> core.Objection:
    """The objection to a reply that is no draft."""
    known = failure in generation.GenerateResponse.Failure.values()
    name = generation.GenerateResponse.Failure.Name(failure) if known else str(failure)
    words = name.removeprefix("FAILURE_").replace("_", " ").lower()
    reason = core.Reason(
        code=core.Reason.CODE_UNUSABLE_DRAFT, message=f"The drafter's reply was no draft: {words}."
    )
    return core.Objection(attempt=attempt, verdict=core.VERDICT_UNCHECKED, reasons=[reason])


def settled(
    objections: Sequence[core.Objection],
    said: Sequence[Checked],
    log: Sequence[grounding.Attempt],
) -> list[core.Objection]:
    """The objections, each with its outcome as things stand."""
    last_usable = max((one.attempt for one in log if one.outcome in _USABLE), default=0)

    def outcome(objection: core.Objection) -> Outcome:
        if not objection.HasField("statement"):
            came = last_usable > objection.attempt
            return core.Objection.OUTCOME_CORRECTED if came else core.Objection.OUTCOME_ABANDONED
        text = objection.statement.text
        later = [one for one in objections if one.attempt > objection.attempt]
        for again in later:
            if again.statement.text == text:
                return outcome(again)
        if any(o.attempt > objection.attempt and _alike(o.verified.text, text) for o in said):
            return core.Objection.OUTCOME_CORRECTED
        for again in later:
            if _alike(again.statement.text, text):
                return outcome(again)
        if last_usable > objection.attempt:
            return core.Objection.OUTCOME_DROPPED
        return core.Objection.OUTCOME_ABANDONED

    found = []
    for objection in objections:
        one = core.Objection()
        one.CopyFrom(objection)
        one.outcome = outcome(objection)
        found.append(one)
    return found


def still_open(objections: Sequence[core.Objection]) -> list[core.Objection]:
    """What the next draft is asked for: all that nothing was said in the stead of."""
    return [one for one in objections if one.outcome != core.Objection.OUTCOME_CORRECTED]


def _alike(one: str, other: str) -> bool:
    ours, theirs = _words(one), _words(other)
    return len(ours & theirs) >= _ALIKE * max(1, min(len(ours), len(theirs)))


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))
