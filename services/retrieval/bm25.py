"""BM25 as a sparse vector: which terms a text has, and how much each weighs.

The weight holds BM25's term frequency and length parts; the store multiplies in the inverse
document frequency. Pure.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from services.retrieval.index import SparseVector
from services.retrieval.names import name_terms, terms_that_may_name
from services.retrieval.terms import characters, little_terms, query_terms, terms

# Robertson and Zaragoza's constants (2009), K1 as measured (ADR 25).
K1 = 1.0
B = 0.75
# A vector is computed before the corpus is known, so the mean length is stated, not measured:
# between that of a rulebook's paragraphs (65) and of a passage of 200 word pieces (150).
MEAN_TERMS = 100
# What a word of the document's name weighs beside one of the passage, which weighs about 1.
NAME_WEIGHT = 1.5
# What two words in a row weigh beside a word. They are rare, and so their frequencies weigh more.
PAIR_WEIGHT = 0.5
# What a single character weighs where pairs of them are the words.
CHARACTER_WEIGHT = 0.5


def passage_vector(text: str, source_name: str = "", around: Iterable[str] = ()) -> SparseVector:
    """A passage's terms, weighted by frequency and by its length, and its document's name's.

    Args:
        text: The passage.
        source_name: The name of its document's file.
        around: Passages beside it in its section. Their words count as its own do.
    """
    own = list(terms(text))
    words = [*own, *(term for other in around for term in terms(other))]
    return _vector(
        [
            *_weighted(words, len(words)),
            *_weighted(_pairs(own), len(own), PAIR_WEIGHT),
            *_weighted(list(characters(text)), len(own), CHARACTER_WEIGHT),
            *((f"name:{term}", NAME_WEIGHT) for term in name_terms(source_name)),
        ]
    )


def query_vector(text: str) -> SparseVector:
    """A query's terms, each once: words, two in a row, and words that may name a document.

    Little words tell nothing by themselves, and nearly every passage has them: where there are
    others they are looked for in pairs alone.
    """
    asked = list(query_terms(text))
    little = little_terms(text)
    words = [term for term in asked if term not in little] or asked
    of_names = (f"name:{term}" for term in terms_that_may_name(text))
    return _vector((term, 1.0) for term in dict.fromkeys([*words, *_pairs(asked), *of_names]))


def _weighted(
    found: Sequence[str], length: int, weight: float = 1.0
) -> Iterator[tuple[str, float]]:
    norm = K1 * (1 - B + B * length / MEAN_TERMS)
    for term, n in Counter(found).items():
        yield term, weight * n * (K1 + 1) / (n + norm)


def _pairs(found: Sequence[str]) -> list[str]:
    return [f"{one} {other}" for one, other in pairwise(found)]


def _vector(weights: Iterable[tuple[str, float]]) -> SparseVector:
    by_index: dict[int, float] = {}
    for term, weight in weights:
        digest = hashlib.blake2b(term.encode(), digest_size=4).digest()
        index = int.from_bytes(digest, "big")
        # Two terms of one text that share an index (about 1 in 4 billion pairs) are taken as one.
        by_index[index] = by_index.get(index, 0.0) + weight
    return SparseVector(tuple(by_index), tuple(by_index.values()))
