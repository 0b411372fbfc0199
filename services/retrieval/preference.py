"""What decides between passages that are about equally near: authority, then recency."""

from dataclasses import dataclass
from datetime import date

from services.retrieval.passage import Metadata

_HIGHEST = 3
_HALF_LIFE_DAYS = 5 * 365.25


@dataclass(frozen=True, slots=True)
class Preference:
    """How much each may add to the sum of a passage's standardised scores, in deviations.

    Bounded so that a passage which is clearly nearer stays before one of more authority.
    """

    authority: float = 0.05
    recency: float = 0.05

    def bonus(self, metadata: Metadata, day: str) -> float:
        """At most the sum of both weights, and never negative."""
        authority = (metadata.authority - 1) / (_HIGHEST - 1)
        return self.authority * authority + self.recency * _recency(metadata, day)


def _recency(metadata: Metadata, day: str) -> float:
    """1 on its day, half of it five years later; 0 for what has no date, or one after the day."""
    dated = metadata.effective_from or metadata.published
    if not dated or dated > day:
        return 0.0
    age = (date.fromisoformat(day) - date.fromisoformat(dated)).days
    return float(0.5 ** (age / _HALF_LIFE_DAYS))
