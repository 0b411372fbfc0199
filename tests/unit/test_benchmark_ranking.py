"""How the retrieval benchmark counts."""

import pytest

from benchmarks.ranking import PlainBM25, figures


def shown(*passages):
    return [frozenset(passage) for passage in passages]


def test_recall_is_the_share_of_what_is_to_be_found_that_the_first_passages_show():
    ranked = shown("a", "x", "b", *"yyyyyyy", "c")
    found = figures([ranked], [frozenset("abcd")])
    assert found["recall_at_1"] == 0.25
    assert found["recall_at_10"] == 0.5
    assert found["mrr_at_10"] == found["found_at_10"] == 1.0


def test_a_passage_below_the_tenth_counts_for_nothing():
    found = figures([shown(*"xxxxxxxxxx", "a"), shown("x", "a")], [frozenset("a")] * 2)
    assert found["mrr_at_10"] == 0.25
    assert found["found_at_10"] == found["recall_at_10"] == 0.5


def test_a_page_may_be_shown_by_several_passages_and_is_found_once():
    both = frozenset({("f", 1), ("f", 2)})
    assert figures([[both, both]], [both])["recall_at_10"] == 1.0


@pytest.mark.parametrize(
    ("query", "best"), [("rare word", [2, 0]), ("WORD", [0, 2]), ("none", []), ("", [])]
)
def test_plain_bm25_prefers_rare_words_and_short_texts(query, best):
    assert PlainBM25(["word one", "two three four", "a rare word"]).best(query) == best
