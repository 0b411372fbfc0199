"""Judges with the scorer that comes with Verity: counts and weights, no model to load."""

from collections.abc import Sequence
from concurrent.futures import Executor
from importlib import resources

from services.chassis.cpu import in_thread
from services.verification.source import Cited
from services.verification.support import Scorer


class EmbeddedJudge:
    """The support scorer, off the event loop."""

    def __init__(self, scorer: Scorer, executor: Executor, threshold: float) -> None:
        self.name = f"embedded:{scorer.version}"
        self.threshold = threshold
        self._scorer = scorer
        self._executor = executor

    async def probability(self, statement: str, cited: Sequence[Cited]) -> float:
        # Nothing else was found wrong, or nobody would ask.
        return await in_thread(self._executor, self._scorer.probability, statement, cited, ())


def load() -> Scorer:
    """The scorer with the coefficients that come with Verity."""
    file = resources.files("services.verification") / "support.toml"
    return Scorer.read(file.read_text("utf-8"))
