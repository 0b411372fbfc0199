"""How well scores tell positives from negatives, with how sure that is."""

import math
import random
from collections.abc import Callable, Sequence
from itertools import groupby

Interval = tuple[float, float]
_Z = 1.96
_RESAMPLES = 500


def auroc(positive: Sequence[bool], scores: Sequence[float]) -> float:
    """The chance that a positive scores above a negative; a tie counts half."""
    ranked = sorted(zip(scores, positive, strict=True))
    below, won = 0, 0.0
    for _, tied in groupby(ranked, key=lambda pair: pair[0]):
        labels = [label for _, label in tied]
        positives = sum(labels)
        negatives = len(labels) - positives
        won += positives * (below + negatives / 2)
        below += negatives
    return won / (below * (len(ranked) - below)) if 0 < below < len(ranked) else math.nan


def wilson(count: int, total: int) -> Interval:
    """The 95% interval of a share."""
    if not total:
        return 0.0, 1.0
    share, spread = count / total, _Z * _Z / total
    middle = (share + spread / 2) / (1 + spread)
    half = _Z / (1 + spread) * math.sqrt(share * (1 - share) / total + spread / total / 4)
    return max(0.0, middle - half), min(1.0, middle + half)


def bootstrap(figure: Callable[[Sequence[int]], float], count: int, seed: int = 1) -> Interval:
    """The 95% interval of a figure over rows, from drawing them again with replacement."""
    draw = random.Random(seed)
    drawn = sorted(
        value
        for _ in range(_RESAMPLES)
        if not math.isnan(value := figure(draw.choices(range(count), k=count)))
    )
    if not drawn:
        return math.nan, math.nan
    return drawn[int(0.025 * len(drawn))], drawn[int(0.975 * len(drawn))]


def reliability(
    positive: Sequence[bool], scores: Sequence[float], bins: int = 10
) -> list[tuple[float, float, int]]:
    """For scores in equal steps: the mean score, the share that is positive, and how many."""
    found = []
    for number in range(bins):
        inside = [
            (score, label)
            for score, label in zip(scores, positive, strict=True)
            if min(int(score * bins), bins - 1) == number
        ]
        if inside:
            mean = math.fsum(score for score, _ in inside) / len(inside)
            found.append((mean, sum(label for _, label in inside) / len(inside), len(inside)))
    return found


def risk_coverage(
    positive: Sequence[bool], scores: Sequence[float], steps: int = 10
) -> list[tuple[float, float, float]]:
    """What is wrong when only the best-scored are passed.

    Returns:
        Of each step: the share that is passed, the lowest score in it, and the share of it that is
        not positive.
    """
    ranked = sorted(zip(scores, positive, strict=True), reverse=True)
    found = []
    for step in range(1, steps + 1):
        passed = ranked[: max(1, round(step * len(ranked) / steps))]
        wrong = sum(not label for _, label in passed)
        found.append((step / steps, passed[-1][0], wrong / len(passed)))
    return found
