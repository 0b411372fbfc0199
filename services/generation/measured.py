"""Counts how drafts come out, whatever drafts them."""

from services.chassis import telemetry
from services.generation.drafter import Draft, Drafter, Task
from services.generation.reply import UnusableDraft


class Measured:
    """A drafter whose outcomes are counted: answered, insufficient, or why it was no draft."""

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
            outcome = "insufficient" if draft.insufficient else "answered"
        except UnusableDraft as unusable:
            outcome = unusable.failure.value
            raise
        else:
            return draft
        finally:
            self._drafts.add(1, {"verity.generator": self.generator, "verity.outcome": outcome})
