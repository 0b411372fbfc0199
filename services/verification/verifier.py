"""Runs the checks off the event loop, stops those nobody waits for, and counts what they find."""

import asyncio
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

import structlog

from services.chassis import deadline, telemetry
from services.chassis.cpu import in_thread
from services.chassis.errors import DeadlineExceeded
from services.verification import grounding, verdict
from services.verification.evidence import Finding, Passage, Statement
from services.verification.judging import Bench
from services.verification.verdict import Examined

VERIFIER = "verity/1"

T = TypeVar("T")


class Verifier:
    """The checks as a service needs them.

    Args:
        executor: Where they run; its size bounds how many run at once.
        min_coverage: Share of a statement's content words that its cited words must carry.
        bench: Who judges what passes; None: nobody.
        score: How likely facts carry a sentence, for CheckGrounding; see grounding.check.
        drafts_are_close: Whether what is verified is held to the words it cites; see closeness.py.
    """

    def __init__(
        self,
        executor: Executor,
        min_coverage: float,
        bench: Bench | None = None,
        score: grounding.Score | None = None,
        *,
        drafts_are_close: bool = False,
    ) -> None:
        self.name = f"{VERIFIER}+{bench.name}" if bench else VERIFIER
        self._executor = executor
        self._min_coverage = min_coverage
        self._bench = bench
        self._score = score
        self._drafts_are_close = drafts_are_close
        self._verdicts = telemetry.meter().create_counter(
            "verity.verification.verdicts", unit="{statement}", description="Statements by verdict."
        )
        self._reasons = telemetry.meter().create_counter(
            "verity.verification.reasons", unit="{reason}", description="Why statements failed."
        )

    async def verify(
        self,
        statements: Sequence[Statement],
        passages: Sequence[Passage],
        as_of: str = "",
        *,
        min_coverage: float = 0.0,
        without_judge: bool = False,
    ) -> list[Finding]:
        """The finding on each statement, in order; none depends on the others.

        Args:
            statements: What is to be verified.
            passages: What it was drafted from.
            as_of: The day, YYYY-MM-DD, on which sources must be in force to conflict; empty: today.
            min_coverage: Asked for by the caller; counts where it is stricter than our own.
            without_judge: Leaves out the check that may say otherwise each time.
        """
        today = as_of or _today()
        least = max(self._min_coverage, min_coverage)

        def work(proceed: Callable[[], None]) -> list[Examined]:
            sources = verdict.sources_of(passages)
            conflicts = verdict.conflicts_among(sources, today)
            examined = []
            for statement in statements:
                proceed()
                found = verdict.examine(
                    statement, sources, conflicts, least, is_draft=self._drafts_are_close
                )
                examined.append(found)
            return examined

        with telemetry.span("verify statements"):
            examined = await self._run(work)
            if without_judge:
                findings = [one.finding for one in examined]
            else:
                findings = await self._judged(examined)
        self._record(findings)
        return findings

    async def check(
        self, answer: str, facts: Sequence[Passage], as_of: str = ""
    ) -> list[grounding.Claim]:
        """The claims of an answer, in order; `as_of` is as for verify."""
        today = as_of or _today()

        def work(proceed: Callable[[], None]) -> list[grounding.Claim]:
            return grounding.check(
                answer,
                facts,
                proceed,
                min_coverage=self._min_coverage,
                today=today,
                score=self._score,
            )

        with telemetry.span("check grounding"):
            claims = await self._run(work)
            findings = await self._judged([claim.examined for claim in claims])
        claims = [
            replace(claim, examined=Examined(finding))
            for claim, finding in zip(claims, findings, strict=True)
        ]
        self._record(claim.finding for claim in claims if claim.needs_check)
        return claims

    async def _judged(self, examined: Sequence[Examined]) -> list[Finding]:
        if self._bench is None:
            return [one.finding for one in examined]
        return await self._bench.judged(examined)

    async def _run(self, work: Callable[[Callable[[], None]], T]) -> T:
        abandoned = threading.Event()

        def proceed() -> None:
            left = deadline.remaining()
            if abandoned.is_set() or (left is not None and left <= 0):
                raise DeadlineExceeded("The call's deadline has passed.")

        try:
            return await in_thread(self._executor, work, proceed)
        except asyncio.CancelledError:
            abandoned.set()
            raise

    def _record(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            self._verdicts.add(1, {"verity.verdict": finding.verdict.value})
            for reason in finding.reasons:
                self._reasons.add(1, {"verity.reason": reason.code.value})
            if finding.error is not None:
                # The type and where it arose; a message could hold the text that was checked.
                structlog.get_logger().error("check_failed", **_place(finding.error))


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _place(error: Exception) -> dict[str, str | int]:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return {
        "error": type(error).__name__,
        "function": trace.tb_frame.f_code.co_qualname if trace else "",
        "line": trace.tb_lineno if trace else 0,
    }
