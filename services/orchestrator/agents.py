"""Whom the stages call, and how long each may take."""

import time
from dataclasses import dataclass

from google.protobuf.duration_pb2 import Duration
from verity.v1.generation_service_pb2_grpc import GenerationServiceStub
from verity.v1.retrieval_service_pb2_grpc import RetrievalServiceStub
from verity.v1.verification_service_pb2_grpc import VerificationServiceStub

from services.orchestrator.measures import Measures
from services.orchestrator.memory import Memory
from services.orchestrator.state import Asked


@dataclass(frozen=True, slots=True)
class Budgets:
    """The most seconds one call of a stage may take; less where the caller's deadline is nearer."""

    retrieve: float
    generate: float
    verify: float
    score: float
    resolve: float = 10.0
    # All stages together; when they are over, what was verified is the answer.
    answer: float = 120.0


@dataclass(frozen=True, slots=True)
class Agents:
    """Whom the nodes call."""

    retrieval: RetrievalServiceStub
    generation: GenerationServiceStub
    verification: VerificationServiceStub
    memory: Memory
    budgets: Budgets
    measures: Measures
    # The extractive backend drafts where the model is down or over its budget.
    fallback: bool = False


def within(asked: Asked, seconds: float) -> float:
    """A stage's time, or what is left of the answer's."""
    return max(0.0, min(seconds, asked.ends - time.monotonic()))


def duration(seconds: float) -> Duration:
    told = Duration()
    told.FromNanoseconds(round(seconds * 1e9))
    return told
