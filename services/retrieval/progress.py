"""What an ingest says of itself: how far it is, and how it ended."""

from dataclasses import dataclass
from enum import Enum, auto

from services.retrieval.passage import StoredDocument


class Stage(Enum):
    """What an ingest is doing; the names are those of the contract."""

    RECEIVING = auto()
    PARSING = auto()
    EMBEDDING = auto()
    INDEXING = auto()


class Outcome(Enum):
    """How an ingest ended; the names are those of the contract."""

    CREATED = auto()
    REPLACED = auto()
    UNCHANGED = auto()
    METADATA_UPDATED = auto()


@dataclass(frozen=True, slots=True)
class Progress:
    """Work done so far; counts never go down, totals are 0 until they are known."""

    stage: Stage
    bytes_received: int
    pages_parsed: int = 0
    pages_total: int = 0
    passages_embedded: int = 0
    passages_total: int = 0
    passages_indexed: int = 0
    bytes_total: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """How it ended, and with which document."""

    outcome: Outcome
    document: StoredDocument
