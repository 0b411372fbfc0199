"""Whether the cited words carry a statement at all: the floor under any model that judges after."""

from collections.abc import Sequence

from services.verification.quotes import locate
from services.verification.reading import overlaps, read
from services.verification.source import Cited
from services.verification.words import content_stems, words

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


def is_verbatim(statement: str, cited: Sequence[Cited]) -> bool:
    """Whether the statement itself stands in a sentence it cites, not cut from what governs it."""
    bare = statement.strip().rstrip(".!;").strip()
    for one in cited:
        found, around = locate(one.source, bare), one.around.span
        if found and not found.is_cut and around.contains(found.span):
            return True
    return False
