"""How good a ranking is, and the plain BM25 that Verity is measured against."""

import math
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence

CUT = 10

Shown = frozenset[Hashable]

_WORD = re.compile(r"\w+")


class PlainBM25:
    """Okapi BM25 as libraries ship it: lower-cased words, no stems, no stop words left out."""

    def __init__(self, texts: Iterable[str], *, k1: float = 1.5, b: float = 0.75) -> None:
        counts = [Counter(_words(text)) for text in texts]
        mean = sum(count.total() for count in counts) / max(len(counts), 1)
        postings: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        for number, count in enumerate(counts):
            norm = k1 * (1 - b + b * count.total() / mean)
            for word, n in count.items():
                postings[word].append((number, n * (k1 + 1) / (n + norm)))
        self._postings = dict(postings)
        self._size = len(counts)

    def best(self, query: str) -> list[int]:
        """Numbers of all texts that share a word with the query, best first."""
        scores: defaultdict[int, float] = defaultdict(float)
        for word in dict.fromkeys(_words(query)):
            found = self._postings.get(word, [])
            idf = math.log(1 + (self._size - len(found) + 0.5) / (len(found) + 0.5))
            for number, weight in found:
                scores[number] += idf * weight
        return sorted(scores, key=lambda number: (-scores[number], number))


def figures(shown: Sequence[Sequence[Shown]], gold: Sequence[Shown]) -> dict[str, float]:
    """Means over the queries, to four places.

    Args:
        shown: For each query, what each ranked passage shows, best first.
        gold: For each query, what is to be found; never empty.

    Returns:
        `recall_at_1` and `recall_at_10`: which share of what is to be found the first passages
        show; `mrr_at_10`: one over the rank of the first that shows any, 0 below the tenth;
        `found_at_10`: whether there is such a one.
    """
    pairs = list(zip(shown, gold, strict=True))
    ranks = [_first(passages[:CUT], wanted) for passages, wanted in pairs]
    return {
        "recall_at_1": _mean(_recall(passages[:1], wanted) for passages, wanted in pairs),
        "recall_at_10": _mean(_recall(passages[:CUT], wanted) for passages, wanted in pairs),
        "mrr_at_10": _mean(1 / rank if rank else 0.0 for rank in ranks),
        "found_at_10": _mean(float(rank > 0) for rank in ranks),
    }


def _mean(values: Iterable[float]) -> float:
    return round(statistics.fmean(values), 4)


def _recall(passages: Sequence[Shown], wanted: Shown) -> float:
    return len(wanted & frozenset().union(*passages)) / len(wanted)


def _first(passages: Sequence[Shown], wanted: Shown) -> int:
    """The rank of the first passage that shows any of it, from 1; 0: none does."""
    ranks = (rank for rank, passage in enumerate(passages, 1) if passage & wanted)
    return next(ranks, 0)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
