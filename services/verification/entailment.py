"""Whether the cited words carry a statement: the floor, and the judges that may object after it."""

from collections.abc import Sequence
from enum import Enum
from typing import Protocol

from services.verification.quotes import Found, locate
from services.verification.reading import overlaps, read
from services.verification.source import Cited
from services.verification.words import content_stems, words


class Failure(Enum):
    """Why a judge gave no judgement."""

    TIMED_OUT = "timed_out"
    UNREACHABLE = "unreachable"
    OVERLOADED = "overloaded"
    REFUSED_BY_ENDPOINT = "refused_by_endpoint"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    MALFORMED = "malformed"
    TOO_LONG = "too_long"


class NoJudgement(Exception):
    """The judge could not judge. The statement stays unchecked: silence is no consent."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.value)
        self.failure = failure


class Judge(Protocol):
    """Gives a second opinion on what passed every other check; it may only object."""

    # Names it, its model and its version, wherever a verdict is kept.
    name: str
    # The probability below which it objects.
    threshold: float

    async def probability(self, statement: str, cited: Sequence[Cited]) -> float:
        """How likely a statement follows from the words it cites, 0 to 1.

        Raises:
            NoJudgement: There is none, and why.
        """
        ...


# Below this share of carried content words nothing is entailed, whatever the figures say.
MIN_COVERAGE = 0.6


def coverage(statement: str, cited: Sequence[Cited]) -> float:
    """The share of a statement's content words that the cited words have, 0 to 1.

    Words inside numbers, dates and references are compared by facts.py. A statement of nothing but
    those is carried as far as they are; one without a word at all is not carried.
    """
    facts = read(statement).spans
    said = {w.stem for w in words(statement) if w.is_content and not overlaps(w.span, facts)}
    if not said:
        return 1.0 if facts else 0.0
    there = frozenset[str]().union(*(content_stems(one.text) for one in cited))
    return len(said & there) / len(said)


def standing(statement: str, cited: Sequence[Cited]) -> Found | None:
    """Where the statement itself stands in a sentence it cites; cut from what governs it last."""
    bare = statement.strip().rstrip(".!;").strip()
    best: Found | None = None
    for one in cited:
        found, around = locate(one.source, bare), one.around.span
        if found and around.contains(found.span):
            if not found.cut:
                return found
            best = best or found
    return best
