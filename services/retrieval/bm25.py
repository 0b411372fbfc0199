"""BM25 as a sparse vector: which terms a text has, and how much each weighs.

The weight holds BM25's term frequency and length parts; the store multiplies in the inverse
document frequency. Pure.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

import snowballstemmer

from services.retrieval.index import SparseVector

# The usual constants of BM25 (Robertson and Zaragoza, 2009).
K1 = 1.2
B = 0.75
# A vector is computed before the corpus is known, so the mean length is stated, not measured:
# about what a passage of 200 word pieces has.
MEAN_TERMS = 150

# A number keeps its marks ("4.2", "14.2.3", "2,450"), a word its apostrophe.
_TERM = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['\u2019][^\W\d_]+)*\d*")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


def passage_vector(text: str) -> SparseVector:
    """A passage's terms, weighted by frequency and by the passage's length."""
    counts = Counter(terms(text))
    length = counts.total()
    norm = K1 * (1 - B + B * length / MEAN_TERMS)
    return _vector((term, n * (K1 + 1) / (n + norm)) for term, n in counts.items())


def query_vector(text: str) -> SparseVector:
    """A query's terms, each once."""
    return _vector((term, 1.0) for term in dict.fromkeys(terms(text)))


def terms(text: str) -> Iterator[str]:
    """The words as stems and the numbers whole, in order."""
    for match in _TERM.finditer(unicodedata.normalize("NFKC", text).casefold()):
        term = match[0]
        if term[0].isdigit():
            # "8,832" and "8832" are one number; "4,2" is left as it is printed.
            yield term.replace(",", "") if _THOUSANDS.fullmatch(term) else term
        else:
            yield _stem(term)


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    # The stemmer keeps state while it works: each call has its own, and the cache makes calls rare.
    return str(snowballstemmer.stemmer("english").stemWord(word.replace("\u2019", "'")))


def _vector(weights: Iterable[tuple[str, float]]) -> SparseVector:
    by_index: dict[int, float] = {}
    for term, weight in weights:
        digest = hashlib.blake2b(term.encode(), digest_size=4).digest()
        index = int.from_bytes(digest, "big")
        # Two terms of one text that share an index (about 1 in 4 billion pairs) are taken as one.
        by_index[index] = by_index.get(index, 0.0) + weight
    return SparseVector(tuple(by_index), tuple(by_index.values()))
