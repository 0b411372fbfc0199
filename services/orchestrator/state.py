"""What is known about one question while it is being answered."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import add
from typing import Annotated, TypedDict

from verity.v1 import core_pb2 as core
from verity.v1 import generation_service_pb2 as generation
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import retrieval_service_pb2 as retrieval

from services.orchestrator.compliance import Corpora
from services.orchestrator.memory import Lease, kept_as
from services.orchestrator.readership import Readership
from services.orchestrator.review import Checked


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked, and how."""

    tenant: str
    conversation: str
    question: str
    # One for each corpus that is searched: the filter, or that of the facts and that of the rules.
    filters: Sequence[retrieval.DocumentFilter]
    max_attempts: int
    lease: Lease | None
    # time.monotonic() when it arrived, and when its answer must be on its way.
    arrived: float
    ends: float
    as_of: str = ""
    # Who asks, as what the conversation is kept.
    subject: str = ""
    groups: frozenset[str] | None = None

    @property
    def kept_as(self) -> str:
        return kept_as(self.subject, self.conversation)

    @property
    def in_two_corpora(self) -> bool:
        return len(self.filters) > 1


class State(TypedDict, total=False):
    """Each node returns what it learned; lists marked `add` grow, anything else is replaced."""

    asked: Asked

    # The memory could not be used: no history, nothing is stored.
    degraded: bool
    history: list[generation.Turn]
    strategy: grounding.Strategy
    # The question where it leans on the ones before, said so that it stands alone; else empty.
    standalone: str

    # How many passages the last search asked for; before the first, how many it is to ask for.
    limit: int
    searches: int
    query: str
    # All that was found so far and may be drafted from: the last search's first.
    passages: list[core.Passage]
    # Where the passages are from, when two corpora were asked.
    corpora: Corpora
    # The last search brought a passage that the ones before had not.
    news: bool
    search: core.SearchReport
    # Who may read all that was found and all that was recalled.
    readership: Readership

    # Drafts made so far, and what became of each.
    attempts: int
    attempt_log: list[grounding.Attempt]
    draft: generation.GenerateResponse
    # As the drafters judge it: the last one's word, UNKNOWN where only an earlier one judged.
    compliance: core.Compliance
    # What was said: verified, and final.
    said: list[Checked]
    # What failed of the last draft that had any statements.
    failed: list[Checked]
    objections: Annotated[list[core.Objection], add]
    verifier: str
    # The model is down or over its budget: the extractive backend drafts.
    extractive: bool
    # Nothing more is begun: the time is used up, or the drafter is gone.
    over: bool

    # What would have answered, did it apply on the day.
    outdated: list[core.SearchReport.Exclusion]

    confidence: core.Confidence
    timings: Annotated[list[core.StageTiming], add]
    answer: grounding.Answer
