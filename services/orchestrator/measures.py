"""The orchestrator's metrics: how long each stage takes, and what becomes of questions."""

from opentelemetry.metrics import Meter
from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding

from services.orchestrator.review import Checked


class Measures:
    """Holds no words of questions, passages or answers: names, counts and times only."""

    def __init__(self, meter: Meter) -> None:
        self._stages = meter.create_histogram(
            "verity.stage.duration", unit="s", description="Time one stage of an answer took."
        )
        self._attempts = meter.create_histogram(
            "verity.answer.attempts", unit="{draft}", description="Drafts made for one answer."
        )
        self._answers = meter.create_counter(
            "verity.answers", unit="{answer}", description="Answers given, by status."
        )
        self._abstentions = meter.create_counter(
            "verity.abstentions", unit="{answer}", description="Abstentions, by type."
        )
        self._verdicts = meter.create_counter(
            "verity.verdicts", unit="{statement}", description="Statements verified, by verdict."
        )
        self._reasons = meter.create_counter(
            "verity.reasons", unit="{reason}", description="Why statements did not pass, by code."
        )
        self._degraded = meter.create_counter(
            "verity.memory.degraded", unit="{answer}", description="Answers given without memory."
        )

        self._objections = meter.create_counter(
            "verity.objections",
            unit="{objection}",
            description="Objections, by what became of them.",
        )
        self._fallbacks = meter.create_counter(
            "verity.fallbacks",
            unit="{draft}",
            description="Drafts made without the model: it is down.",
        )
        self._contradictions = meter.create_counter(
            "verity.contradictions",
            unit="{answer}",
            description="Answers withheld: verification said otherwise the second time.",
        )

    def stage(self, name: str, seconds: float, *, failed: bool) -> None:
        self._stages.record(seconds, {"stage": name, "failed": failed})

    def checked(self, checked: Checked) -> None:
        statement = checked.verified
        self._verdicts.add(1, {"verdict": core.Verdict.Name(statement.verdict)})
        for reason in statement.reasons:
            self._reasons.add(1, {"code": _code(reason)})

    def fell_back(self) -> None:
        self._fallbacks.add(1)

    def contradicted(self) -> None:
        self._contradictions.add(1)

    def answered(self, answer: grounding.Answer) -> None:
        self._answers.add(1, {"status": grounding.Answer.Status.Name(answer.status)})
        self._attempts.record(answer.attempts)
        if answer.HasField("abstention"):
            kind = core.Abstention.Type.Name(answer.abstention.type)
            self._abstentions.add(1, {"type": kind})
        for objection in answer.objections:
            outcome = core.Objection.Outcome.Name(objection.outcome)
            self._objections.add(1, {"outcome": outcome})
        if answer.memory_degraded:
            self._degraded.add(1)


def _code(reason: core.Reason) -> str:
    """A newer verifier may give reasons that this build has no name for."""
    known = reason.code in core.Reason.Code.values()
    return core.Reason.Code.Name(reason.code) if known else str(reason.code)
