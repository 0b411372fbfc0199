"""Whether the cited words carry a statement at all: the lexical floor under any model that may judge after it."""

from collections.abc import Sequence

from services.verification.quotes import Cited, Source, locate
from services.verification.words import content_stems

# Below this share of carried content words nothing is entailed, whatever the figures say.
MIN_COVERAGE = 0.6


def coverage(statement: str, cited: Sequence[Cited]) -> float:
    """The share of a statement's content words that the cited words have, 0 to 1; 0 when it has none."""
    said = content_stems(statement)
    if not said:
        return 0.0
    there = frozenset[str]().union(*(content_stems(c.text) for c in cited))
    return len(said & there) / len(said)


def is_verbatim(statement: str, sources: Sequence[Source]) -> bool:
    """Whether the statement itself stands in a source it cites, word for word and in its own scope."""
    bare = statement.strip().rstrip(".!;").strip()
    return any(
        (found := locate(source, bare)) is not None and not found.is_cut for source in sources
    )
