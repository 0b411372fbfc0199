"""What is done otherwise for the next question, learned from the answers before."""

from collections import Counter
from collections.abc import Callable, Sequence

from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding

from services.orchestrator.grounding_log import Entry, Log
from services.orchestrator.routes import WIDEST

# So many answers, at least, are learned from; so many, at most.
FEWEST, MOST = 5, 20
# A choice is made when this share of the answers speaks for it, and kept until fewer than that do.
START, KEEP = 0.3, 0.1
# Strictness comes sooner: what was caught hints at what was not.
START_STRICT = 0.1
LOW_QUALITY = 0.6
STRICT_COVERAGE = 0.75
# In the order in which they are tried.
MODES = ("json_schema", "function_calling", "json_object", "prompt")

_Code = core.Reason
_MISQUOTED = frozenset(
    {
        _Code.CODE_QUOTE_NOT_FOUND,
        _Code.CODE_MISATTRIBUTED,
        _Code.CODE_MISATTRIBUTED_BY_ELISION,
        _Code.CODE_SCOPE_CUT,
        _Code.CODE_UNKNOWN_PASSAGE,
    }
)
_MISSTATED = frozenset(
    {
        _Code.CODE_NUMBER_MISMATCH,
        _Code.CODE_DATE_MISMATCH,
        _Code.CODE_UNIT_MISMATCH,
        _Code.CODE_CURRENCY_MISMATCH,
        _Code.CODE_COMPARATOR_MISMATCH,
        _Code.CODE_NEGATION_MISMATCH,
        _Code.CODE_MODALITY_MISMATCH,
        _Code.CODE_ENTITY_MISMATCH,
        _Code.CODE_OMITTED_CONDITION,
        _Code.CODE_NO_ENTAILMENT,
    }
)


def usual(passages: int) -> grounding.Strategy:
    """What is done when nothing was learned."""
    return grounding.Strategy(passages=passages)


def choose(log: Log, *, passages: int) -> grounding.Strategy:
    """What to do for the next question of a conversation.

    Args:
        log: The conversation's answers count; while they are few, all those of the tenant.
        passages: What the first search asks for by default.
    """
    entries = log.conversation if len(log.conversation) >= FEWEST else log.tenant
    recent = entries[-MOST:]
    chosen = usual(passages)
    if len(recent) < FEWEST:
        return chosen
    chosen.learned_from = len(recent)
    _search(chosen, recent, passages)
    if why := _speaks(recent, "rerank", lambda one: bool(_MISQUOTED & one.codes.keys())):
        chosen.rerank = True
        _because(chosen, "rerank", f"{why} had citations that are not where they say")
    misstated = _speaks(
        recent,
        "min_coverage",
        lambda one: bool(_MISSTATED & one.codes.keys()),
        start=START_STRICT,
    )
    if misstated:
        chosen.min_coverage = STRICT_COVERAGE
        _because(
            chosen, "min_coverage", f"{misstated} had statements that say other than they cite"
        )
    _mode(chosen, entries)
    return chosen


def _search(chosen: grounding.Strategy, recent: Sequence[Entry], passages: int) -> None:
    """More is read where that is what it took, or where answers are poor."""
    wider = min(2 * passages, WIDEST)
    quality = sum(one.confidence for one in recent) / len(recent)
    deep = _speaks(recent, "passages", lambda one: _is_silent(one) or one.depth > passages)
    if deep or quality < LOW_QUALITY:
        chosen.passages = wider
        chosen.neighbours = True
        reason = f"{deep} found nothing, or cite what only a wider search found" if deep else ""
        poor = f"the mean grounding confidence is {quality:.2f}"
        _because(chosen, "passages", reason or poor)
    if why := _speaks(recent, "rewrite_query", _is_silent):
        chosen.rewrite_query = True
        _because(chosen, "rewrite_query", f"{why} found nothing")


def _mode(chosen: grounding.Strategy, entries: Sequence[Entry]) -> None:
    """The mode that failed least, when the one in use fails; those not tried yet come first."""
    drafts, unusable = Counter[str](), Counter[str]()
    for one in entries:
        drafts.update(one.drafts)
        unusable.update(one.unusable)
    failing = {mode: unusable[mode] / drafts[mode] for mode in drafts}
    # By default the endpoint's own is used: the first that was seen.
    first = next((mode for one in entries for mode in one.drafts), "")
    if not first or drafts[first] < FEWEST or failing[first] < START:
        return
    best = min((*MODES, first), key=lambda mode: failing.get(mode, 0.0))
    if best == first:
        return
    chosen.structured_mode = best
    said = f"{unusable[first]} of {drafts[first]} drafts as {first} were no drafts"
    _because(chosen, "structured_mode", said)


def _is_silent(one: Entry) -> bool:
    return one.abstention == core.Abstention.TYPE_NO_EVIDENCE


def _speaks(
    recent: Sequence[Entry], choice: str, does: Callable[[Entry], bool], start: float = START
) -> str:
    """How many of the answers speak for a choice, where they are enough; else nothing."""
    count = sum(map(does, recent))
    needed = min(KEEP, start / 2) if choice in recent[-1].choices else start
    return f"{count} of the last {len(recent)} answers" if count >= needed * len(recent) else ""


def _because(chosen: grounding.Strategy, choice: str, reason: str) -> None:
    chosen.why.append(
        grounding.Strategy.Why(choice=choice, reason=f"{reason[:1].upper()}{reason[1:]}.")
    )
