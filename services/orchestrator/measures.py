"""The orchestrator's metrics: how long each stage takes, and what becomes of questions."""

from opentelemetry.metrics import Meter
from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding

from services.orchestrator.review import Review


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

    def stage(self, name: str, seconds: float, *, failed: bool) -> None:
        self._stages.record(seconds, {"stage": name, "failed": failed})

    def reviewed(self, review: Review) -> None:
        for statement in review.statements:
            self._verdicts.add(1, {"verdict": core.Verdict.Name(statement.verdict)})
            for reason in statement.reasons:
                self._reasons.add(1, {"code": _code(reason)})

    def answered(self, answer: grounding.Answer) -> None:
        self._answers.add(1, {"status": grounding.Answer.Status.Name(answer.status)})
        self._attempts.record(answer.attempts)
        if answer.HasField("abstention"):
            kind = core.Abstention.Type.Name(answer.abstention.type)
            self._abstentions.add(1, {"type": kind})
        if answer.memory_degraded:
            self._degraded.add(1)


def _code(reason: core.Reason) -> str:
    """A newer verifier may give reasons that this build has no name for."""
    known = reason.code in core.Reason.Code.values()
    return core.Reason.Code.Name(reason.code) if known else str(reason.code)
