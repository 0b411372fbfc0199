"""Counts how drafts come out, whatever drafts them."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from services.chassis import telemetry
from services.generation.drafter import Draft, Drafter, Resolution, Statement, Task, Turn


class Measured:
    """A drafter whose outcomes are counted: answered, insufficient, why it was no draft, failed."""

    def __init__(self, drafter: Drafter) -> None:
        self._drafter = drafter
        self._drafts = telemetry.meter().create_counter(
            "verity.generation.drafts", unit="{draft}", description="Drafts by outcome."
        )

    @property
    def generator(self) -> str:
        return self._drafter.generator

    async def draft(self, task: Task) -> Draft:
        outcome = "failed"
        try:
            draft = await self._drafter.draft(task)
            outcome = _outcome(draft)
        finally:
            self._count(outcome)
        return draft

    async def stream(self, task: Task) -> AsyncGenerator[Statement | Draft]:
        outcome = "failed"
        try:
            async with aclosing(self._drafter.stream(task)) as events:
                async for event in events:
                    if isinstance(event, Draft):
                        outcome = _outcome(event)
                    yield event
        finally:
            self._count(outcome)

    async def resolve(self, question: str, history: Sequence[Turn]) -> Resolution:
        return await self._drafter.resolve(question, history)

    def _count(self, outcome: str) -> None:
        self._drafts.add(1, {"verity.generator": self.generator, "verity.outcome": outcome})


def _outcome(draft: Draft) -> str:
    if draft.failure:
        return draft.failure.value
    return "insufficient" if draft.insufficient else "answered"
