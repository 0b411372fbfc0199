"""What is known about one question while it is being answered."""

from dataclasses import dataclass
from operator import add
from typing import Annotated, TypedDict

from verity.v1 import core_pb2 as core
from verity.v1 import generation_service_pb2 as generation
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import retrieval_service_pb2 as retrieval

from services.orchestrator.memory import Lease
from services.orchestrator.review import Review


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked, and how."""

    tenant: str
    conversation: str
    question: str
    filter: retrieval.DocumentFilter
    max_attempts: int
    lease: Lease | None
    # time.monotonic() when it arrived.
    arrived: float


class State(TypedDict, total=False):
    """Each node returns what it learned; lists marked `add` grow, anything else is replaced."""

    asked: Asked

    # The memory could not be used: no history, nothing is stored.
    degraded: bool
    history: list[generation.Turn]

    # How many passages the last search asked for; before the first, how many it is to ask for.
    limit: int
    searches: int
    passages: list[core.Passage]
    # The last search brought a passage that the one before had not.
    news: bool
    search: core.SearchReport

    # Drafts made so far.
    attempts: int
    draft: generation.GenerateResponse
    # The draft of which most could be verified.
    best: Review
    objections: Annotated[list[core.Objection], add]

    confidence: core.Confidence
    timings: Annotated[list[core.StageTiming], add]
    answer: grounding.Answer
