"""Where a question goes next: pure functions of its state."""

from typing import Literal

from services.orchestrator.state import State

# The most passages one search may bring (RetrieveRequest.limit) and one draft may be made from.
WIDEST = 50


def after_recall(state: State) -> Literal["resolve", "retrieve"]:
    """A question without any before it stands alone."""
    return "resolve" if state["history"] else "retrieve"


def after_retrieve(
    state: State,
) -> Literal["generate", "retrieve", "score", "outdated", "remember"]:
    """New passages are drafted from; the same ones again would only make the same draft again."""
    if state["news"]:
        return "generate"
    if state["searches"] == 1 and _may_widen(state):
        return "retrieve"
    return _close(state)


def after_generate(
    state: State,
) -> Literal["verify", "generate", "retrieve", "score", "outdated", "remember"]:
    """Statements are verified as a whole; a drafter who finds no answer gets more to read.

    A reply that is no draft is asked for again, unless it fails as the one before did.
    """
    if state["attempt_log"][-1].drafted:
        return "verify"
    if state["draft"].failure:
        return "generate" if _worth_another(state) else _close(state)
    return "retrieve" if _worth_a_search(state) else _close(state)


def after_verify(
    state: State,
) -> Literal["generate", "retrieve", "score", "outdated", "remember"]:
    """All supported: done. Else the objections go back, unless that is used up or leads nowhere."""
    if _worth_another(state):
        return "generate"
    if state["draft"].insufficient and _worth_a_search(state):
        return "retrieve"
    return _close(state)


def recursion_limit(max_attempts: int) -> int:
    """The most steps a question can take: each draft with a search of its own, one to spare."""
    once = ("recall", "resolve", "outdated", "score", "remember", "spare")
    each = ("retrieve", "generate", "verify")
    return len(once) + len(each) * max_attempts


def _close(state: State) -> Literal["score", "outdated", "remember"]:
    """What was verified is scored; where nothing was, the answer is an abstention.

    Where nothing was even drafted, what does not apply on the day may be what answers.
    """
    if state["said"]:
        return "score"
    left_out = any(one.HasField("best") for one in state["search"].exclusions)
    return "outdated" if left_out and not state["objections"] and not state["over"] else "remember"


def _worth_another(state: State) -> bool:
    failed = _failure(state, state["attempts"])
    return (
        bool(failed) and _attempts_left(state) and failed != _failure(state, state["attempts"] - 1)
    )


def _worth_a_search(state: State) -> bool:
    """Beside what was said, "insufficient" may mean that nothing is missing unless he names it."""
    wanted = not state["said"] or bool(state["draft"].suggested_query)
    return wanted and _attempts_left(state) and _may_widen(state)


def _attempts_left(state: State) -> bool:
    return not state["over"] and state["attempts"] < state["asked"].max_attempts


def _may_widen(state: State) -> bool:
    return (
        not state["over"]
        and state["searches"] < state["asked"].max_attempts
        and state["limit"] < WIDEST
    )


def _failure(state: State, attempt: int) -> set[tuple[bytes, int, tuple[int | str, ...]]]:
    """What failed in an attempt and how, to be compared with another's; not in which words."""
    return {
        (
            objection.statement.SerializeToString(deterministic=True),
            objection.verdict,
            tuple(reason.code for reason in objection.reasons),
        )
        for objection in state["objections"]
        if objection.attempt == attempt
    } | {
        (b"", 0, (one.failure,))
        for one in state["attempt_log"]
        if one.attempt == attempt and one.failure
    }
