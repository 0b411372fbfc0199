"""One ranking out of two: dense and BM25 scores, standardised per query and added by weight."""

import math
from collections.abc import Mapping, Sequence

from services.retrieval.index import Hit

_LEAST = 1e-9


def fuse(
    dense: Sequence[Hit], sparse: Sequence[Hit], *, depth: int, dense_weight: float
) -> dict[str, float]:
    """The weighted sum of every candidate's two scores, in deviations from the candidates' mean.

    Cosines and BM25 scores have no common scale, so each list is first brought to mean 0 and
    deviation 1 over all candidates.

    Args:
        dense: Hits by cosine.
        sparse: Hits by BM25.
        depth: How many hits each search could return at most.
        dense_weight: The share of the dense score, 0 to 1; BM25 has the rest.
    """
    ids = sorted({hit.id for hit in (*dense, *sparse)})
    by_dense = _standardised(ids, dense, depth)
    by_sparse = _standardised(ids, sparse, depth)
    return {id_: dense_weight * by_dense[id_] + (1 - dense_weight) * by_sparse[id_] for id_ in ids}


def reread(sums: Mapping[str, float], scores: Mapping[str, float]) -> dict[str, float]:
    """The sums where a reranker has read some passages: in deviations of its scores' log odds.

    Scores of two scales do not compare: those that it has not read follow in their order, clearly
    below its last.

    Args:
        sums: As they were fused.
        scores: What the reranker gives, 0 to 1.
    """
    read = dict(zip(scores, _in_deviations(list(map(_log_odds, scores.values()))), strict=True))
    below = min(read.values()) - 1 - max(sums.values())
    return {id_: below + total for id_, total in sums.items()} | read


def best_first(sums: Mapping[str, float]) -> list[str]:
    """Ids by their sums, ties by id."""
    return sorted(sums, key=lambda id_: (-sums[id_], id_))


def to_score(total: float) -> float:
    """A sum as a score from 0 to 1; keeps the order."""
    return 1 / (1 + math.exp(-total))


def _standardised(ids: Sequence[str], hits: Sequence[Hit], depth: int) -> Mapping[str, float]:
    scores = {hit.id: hit.score for hit in hits}
    # A search that came back short found everything there is: the others have a true 0. After a
    # full one, all that is known of the others is that they are not above its last hit.
    missing = min(scores.values()) if len(hits) >= depth else 0.0
    values = [scores.get(id_, missing) for id_ in ids]
    return dict(zip(ids, _in_deviations(values), strict=True))


def _in_deviations(values: Sequence[float]) -> list[float]:
    # statistics.pstdev reckons in fractions, which takes seven times as long.
    mean = math.fsum(values) / max(len(values), 1)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / max(len(values), 1))
    if deviation == 0 or min(values) == max(values):
        return [0.0] * len(values)
    return [(value - mean) / deviation for value in values]


def _log_odds(score: float) -> float:
    # Rounded, a score can be 0 or 1.
    score = min(max(score, _LEAST), 1 - _LEAST)
    return math.log(score / (1 - score))
