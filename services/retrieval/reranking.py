"""What says anew how near the best passages are by reading each together with the question."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog

from services.retrieval.passage import Passage
from services.retrieval.report import Outcome


class Reranker(Protocol):
    """A model that reads question and passage together."""

    @property
    def name(self) -> str: ...

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """One for each text, 0 to 1, higher is closer."""
        ...


@dataclass(frozen=True, slots=True)
class Reranking:
    """Asks a reranker about the best, if there is one, and never fails for it.

    Attributes:
        depth: How many of the best it reads.
        seconds: How long it may take; past them the order is that of the search.
    """

    reranker: Reranker | None = None
    depth: int = 30
    seconds: float = 2.0

    @property
    def name(self) -> str:
        """The reranker's; empty when there is none."""
        return self.reranker.name if self.reranker else ""

    @property
    def reads(self) -> int:
        """How many of the best it reads; 0 when there is none."""
        return self.depth if self.reranker else 0

    async def scores(
        self, query: str, ranked: Sequence[Passage], *, asked: bool | None
    ) -> tuple[dict[str, float], Outcome]:
        """What it gives each of the best, by id, and whether it had a say; else nothing.

        Args:
            query: The question.
            ranked: What was found, best first. Of copies one is read.
            asked: What the request says; None: it is asked where there is one.
        """
        if self.reranker is None:
            return {}, Outcome.NOT_CONFIGURED if asked else Outcome.NOT_ASKED
        if asked is False or not ranked:
            return {}, Outcome.NOT_ASKED
        texts = {passage.id: "\n".join([*passage.heading_path, passage.text]) for passage in ranked}
        best = list(dict.fromkeys(texts.values()))[: self.depth]
        try:
            async with asyncio.timeout(self.seconds):
                scores = await self.reranker.scores(query, best)
            by_text = dict(zip(best, scores, strict=True))
        except Exception as error:  # noqa: BLE001 - an order that is less good is no failed search
            structlog.get_logger().warning("rerank_failed", error=type(error).__name__)
            return {}, Outcome.FAILED
        return {id_: by_text[text] for id_, text in texts.items() if text in by_text}, Outcome.DONE
