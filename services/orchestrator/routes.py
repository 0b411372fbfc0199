"""Where a question goes next: pure functions of its state."""

from typing import Literal

from services.orchestrator.review import released
from services.orchestrator.state import State

# The most passages one search may bring (RetrieveRequest.limit) and one draft may be made from.
WIDEST = 50


def after_retrieve(state: State) -> Literal["generate", "retrieve", "score", "remember"]:
    """New passages are drafted from; the same ones again would only make the same draft again."""
    if state["news"]:
        return "generate"
    if state["searches"] == 1 and _may_widen(state):
        return "retrieve"
    return _close(state)


def after_generate(state: State) -> Literal["verify", "retrieve", "score", "remember"]:
    """A draft is verified; a drafter who finds no answer gets more to read, attempts permitting."""
    if not insufficient(state):
        return "verify"
    if _attempts_left(state) and _may_widen(state):
        return "retrieve"
    return _close(state)


def after_verify(state: State) -> Literal["generate", "score", "remember"]:
    """All supported: done. Else the objections go back, unless that is used up or leads nowhere."""
    failed = _failure(state, state["attempts"])
    if failed and _attempts_left(state) and failed != _failure(state, state["attempts"] - 1):
        return "generate"
    return _close(state)


def insufficient(state: State) -> bool:
    """The drafter says so, or has nothing to say."""
    return state["draft"].insufficient or not state["draft"].statements


def recursion_limit(max_attempts: int) -> int:
    """The most steps a question can take: each draft with a search of its own, one to spare."""
    once = ("recall", "score", "remember", "spare")
    each = ("retrieve", "generate", "verify")
    return len(once) + len(each) * max_attempts


def _close(state: State) -> Literal["score", "remember"]:
    """What was verified is scored and said; where nothing was, the answer is an abstention."""
    return "score" if "best" in state and released(state["best"]) else "remember"


def _attempts_left(state: State) -> bool:
    return state["attempts"] < state["asked"].max_attempts


def _may_widen(state: State) -> bool:
    return state["searches"] < state["asked"].max_attempts and state["limit"] < WIDEST


def _failure(state: State, attempt: int) -> set[tuple[bytes, int, tuple[int, ...]]]:
    """What failed in an attempt and how, to be compared with another's; not in which words."""
    return {
        (
            objection.statement.SerializeToString(deterministic=True),
            objection.verdict,
            tuple(reason.code for reason in objection.reasons),
        )
        for objection in state["objections"]
        if objection.attempt == attempt
    }
