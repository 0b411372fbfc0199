"""What orders the best passages anew by reading each together with the question."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
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

    async def ordered(
        self, query: str, ranked: Sequence[Passage], *, asked: bool | None
    ) -> tuple[list[Passage], Outcome]:
        """The passages, best first, and whether the reranker had a say.

        Args:
            query: The question.
            ranked: What was found, best first.
            asked: What the request says; None: it is asked where there is one.
        """
        if self.reranker is None:
            return list(ranked), Outcome.NOT_CONFIGURED if asked else Outcome.NOT_ASKED
        if asked is False or not ranked:
            return list(ranked), Outcome.NOT_ASKED
        best, rest = ranked[: self.depth], ranked[self.depth :]
        texts = ["\n".join([*passage.heading_path, passage.text]) for passage in best]
        try:
            async with asyncio.timeout(self.seconds):
                scores = await self.reranker.scores(query, texts)
            rescored = [
                replace(passage, score=score) for passage, score in zip(best, scores, strict=True)
            ]
        except Exception as error:  # noqa: BLE001 - an order that is less good is no failed search
            structlog.get_logger().warning("rerank_failed", error=type(error).__name__)
            return list(ranked), Outcome.FAILED
        rescored.sort(key=lambda passage: (-passage.score, passage.id))
        # Scores of two scales do not compare: those it has not read follow, below its last.
        last = rescored[-1].score
        return rescored + [replace(one, score=last * one.score) for one in rest], Outcome.DONE
