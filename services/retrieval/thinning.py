"""What falls out of a ranking: copies, and what is too much of one document."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.retrieval.copies import collapse
from services.retrieval.passage import Passage


@dataclass(frozen=True, slots=True)
class Thinned:
    """A ranking without what fell out.

    Attributes:
        kept: The passages, best first.
        collapsed: Passages left out for another of the same text.
        crowded_out: Passages that cost a place because their document had its most.
        spent: Documents of which something fell out.
    """

    kept: list[Passage]
    collapsed: int
    crowded_out: int
    spent: frozenset[str]


def thin(ranked: Sequence[Passage], limit: int, most: int) -> Thinned:
    """The passages, each text once and at most so many of one document; see `spread`."""
    alone, collapsed = collapse(ranked)
    kept, crowded_out = spread(alone, limit, most)
    ids = {passage.id for passage in kept}
    spent = frozenset(passage.document_id for passage in ranked if passage.id not in ids)
    return Thinned(kept, collapsed, crowded_out, spent)


def spread(ranked: Sequence[Passage], limit: int, most: int) -> tuple[list[Passage], int]:
    """The passages with at most so many of one document, and how many that cost a place.

    Args:
        ranked: The passages, best first.
        limit: Places there are; what falls out behind them costs none.
        most: The most of one document; 0: any number.
    """
    if not most:
        return list(ranked), 0
    kept: list[Passage] = []
    places: dict[str, int] = {}
    crowded_out = 0
    for passage in ranked:
        place = places.get(passage.document_id, 0)
        if place < most:
            places[passage.document_id] = place + 1
            kept.append(passage)
        elif len(kept) < limit:
            crowded_out += 1
    return kept, crowded_out
