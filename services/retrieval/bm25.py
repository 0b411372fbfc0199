"""BM25 as a sparse vector: which terms a text has, and how much each weighs.

The weight holds BM25's term frequency and length parts; the store multiplies in the inverse
document frequency. Pure.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable

from services.retrieval.index import SparseVector
from services.retrieval.terms import query_terms, terms

# Robertson and Zaragoza's constants (2009), K1 as measured (docs/adr, on fusion).
K1 = 1.0
B = 0.75
# A vector is computed before the corpus is known, so the mean length is stated, not measured:
# between that of a rulebook's paragraphs (65) and of a passage of 200 word pieces (150).
MEAN_TERMS = 100


def passage_vector(text: str) -> SparseVector:
    """A passage's terms, weighted by frequency and by the passage's length."""
    counts = Counter(terms(text))
    length = counts.total()
    norm = K1 * (1 - B + B * length / MEAN_TERMS)
    return _vector((term, n * (K1 + 1) / (n + norm)) for term, n in counts.items())


def query_vector(text: str) -> SparseVector:
    """A query's terms, each once."""
    return _vector((term, 1.0) for term in dict.fromkeys(query_terms(text)))


def _vector(weights: Iterable[tuple[str, float]]) -> SparseVector:
    by_index: dict[int, float] = {}
    for term, weight in weights:
        digest = hashlib.blake2b(term.encode(), digest_size=4).digest()
        index = int.from_bytes(digest, "big")
        # Two terms of one text that share an index (about 1 in 4 billion pairs) are taken as one.
        by_index[index] = by_index.get(index, 0.0) + weight
    return SparseVector(tuple(by_index), tuple(by_index.values()))
