"""The probability that a statement follows from the words it cites.

A logistic regression over what can be counted: each count has one weight, so that a score can be
taken apart. It may lower a verdict, and never makes up for a check that failed.
"""

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass

from services.verification.evidence import Reason
from services.verification.source import Cited
from services.verification.support_features import SUPPORTING, Features, measure


@dataclass(frozen=True, slots=True)
class Scorer:
    """A fitted model.

    Attributes:
        bias: The log odds of a statement of which nothing can be counted.
        weights: What one of each count adds to the log odds, in the order of Features.
        threshold: The probability below which a statement is objected to.
        version: Names the fit in whatever is kept of a verdict.
    """

    bias: float
    weights: Features
    threshold: float
    version: str

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, (self.bias, *self.weights))) or not 0 < self.threshold < 1:
            raise ValueError("a coefficient of the support scorer is not finite or out of range")
        for name, weight in self.weights._asdict().items():
            # A count that speaks against a statement must never raise its score, nor the reverse.
            if weight * (1 if name in SUPPORTING else -1) < 0:
                raise ValueError(f"the support scorer's weight of {name} has the wrong sign")

    @classmethod
    def read(cls, coefficients: str) -> "Scorer":
        """The model of a coefficients file, given its text; ValueError unless it is whole."""
        table = tomllib.loads(coefficients)
        try:
            weights = Features(**{k: float(v) for k, v in table["weights"].items()})
            if len(table["weights"]) != len(weights):
                raise ValueError("the support scorer's coefficients do not name every count")
            return cls(
                float(table["bias"]), weights, float(table["threshold"]), str(table["version"])
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("the support scorer's coefficients are not of this version") from error

    def probability(
        self, statement: str, cited: Sequence[Cited], reasons: Sequence[Reason]
    ) -> float:
        """How likely the statement follows from what it cites; arguments are those of measure()."""
        return self.of(measure(statement, cited, reasons))

    def of(self, counted: Features) -> float:
        """The probability, given the counts; 0 where nothing of the statement is cited."""
        if not counted.coverage:
            return 0.0
        terms = (w * x for w, x in zip(self.weights, counted, strict=True))
        odds = self.bias + math.fsum(terms)
        # The exponent is kept negative: a large one would overflow.
        power = math.exp(-abs(odds))
        return 1 / (1 + power) if odds >= 0 else power / (1 + power)
