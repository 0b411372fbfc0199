"""Asks a judge about what passed every other check, several at once, within the caller's time."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace

from services.chassis import deadline, telemetry
from services.verification.entailment import Failure, Judge, NoJudgement
from services.verification.evidence import Code, Finding, Reason, Verdict
from services.verification.verdict import Examined, unchecked

# What the reply to the caller still needs of its deadline.
_RESERVE_SECONDS = 0.1
_NOT_JUDGED = Reason(
    Code.CHECK_FAILED, "The entailment check could not be completed; the statement is not verified."
)


class Bench:
    """A judge and how many questions it takes at once.

    Args:
        judge: Who is asked.
        at_once: Questions at a time, over all calls; the others wait.
    """

    def __init__(self, judge: Judge, at_once: int) -> None:
        self.name = judge.name
        self._judge = judge
        self._room = asyncio.Semaphore(at_once)
        self._failures = telemetry.meter().create_counter(
            "verity.verification.judge_failures",
            unit="{statement}",
            description="Statements that the judge gave no judgement on, by cause.",
        )

    async def judged(self, examined: Sequence[Examined]) -> list[Finding]:
        """The findings after the judge was asked; it can lower a verdict and never raise one."""
        asked = sum(bool(one.rests_on) for one in examined)
        with telemetry.span("judge statements", **{"verity.statements": asked}):
            async with asyncio.TaskGroup() as tasks:
                waiting = [tasks.create_task(self._finding(one)) for one in examined]
        return [task.result() for task in waiting]

    async def _finding(self, examined: Examined) -> Finding:
        finding = examined.finding
        if not examined.rests_on:
            return finding
        try:
            probability = await self._probability(examined)
        except NoJudgement as silent:
            self._failures.add(1, {"verity.failure": silent.failure.value})
            return replace(finding, verdict=Verdict.UNCHECKED, reasons=(_NOT_JUDGED,))
        except Exception as error:  # noqa: BLE001 - whatever goes wrong in a judge, nothing passes
            return replace(unchecked(finding.text, error), citations=finding.citations)
        if probability >= self._judge.threshold:
            return finding
        message = f"The judge finds it {probability:.0%} likely that the cited words carry this."
        reasons = (Reason(Code.NO_ENTAILMENT, message),)
        return replace(finding, verdict=Verdict.UNSUPPORTED, reasons=reasons)

    async def _probability(self, examined: Examined) -> float:
        left = deadline.remaining()
        try:
            async with asyncio.timeout(None if left is None else max(0, left - _RESERVE_SECONDS)):
                async with self._room:
                    found = await self._judge.probability(examined.text, examined.rests_on)
        except TimeoutError:
            raise NoJudgement(Failure.TIMED_OUT) from None
        if not (math.isfinite(found) and 0 <= found <= 1):
            raise NoJudgement(Failure.MALFORMED)
        return found
