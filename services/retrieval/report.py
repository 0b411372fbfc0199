"""What a search looked through, what it left out, and why."""

from dataclasses import dataclass
from enum import Enum, auto

from services.retrieval.exclusions import Exclusion
from services.retrieval.passage import Passage
from services.retrieval.routing import Named

# Changed when the same store and the same query may be ranked otherwise.
RANKING = "hybrid-3"


class Outcome(Enum):
    """Whether the reranker ordered the best; the names are those of the contract."""

    NOT_ASKED = auto()
    DONE = auto()
    NOT_CONFIGURED = auto()
    FAILED = auto()


@dataclass(frozen=True, slots=True)
class Wishes:
    """How a search is done otherwise than by default.

    Attributes:
        as_of: The day it is for, YYYY-MM-DD; empty: today, UTC.
        include_out_of_force: Whether what does not apply on that day is searched as well.
        neighbours: Passages wanted on either side of each one found.
        max_per_document: The most passages of one document; 0: the setting's.
        rerank: Whether the reranker is asked; None: where there is one.
    """

    as_of: str = ""
    include_out_of_force: bool = False
    neighbours: int = 0
    max_per_document: int = 0
    rerank: bool | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What a search looked through.

    Attributes:
        as_of: The day it was for, YYYY-MM-DD.
        nearest_misses: The passages right after the last one returned, best first.
        routed: What the query names exactly, with how many of the candidates have it.
        exclusions: What was left out because of the day, those with a passage among the best first.
        collapsed: Passages left out for another of the same text.
        crowded_out: Passages left out because their document had its most.
    """

    collection: str
    document_count: int
    passage_count: int
    query: str
    as_of: str
    nearest_misses: tuple[Passage, ...] = ()
    routed: tuple[tuple[Named, int], ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    reranking: Outcome = Outcome.NOT_ASKED
    reranker: str = ""
    collapsed: int = 0
    crowded_out: int = 0
    included_out_of_force: bool = False
