"""How two rankings become one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.retrieval.fusion import best_first, fuse, to_score
from services.retrieval.index import Hit


def hits(**scores):
    return [Hit(name, score, {}) for name, score in scores.items()]


def order(ranking):
    return best_first(ranking)


def test_the_weight_decides_between_meaning_and_words():
    dense, sparse = hits(a=0.9, b=0.5, c=0.1), hits(c=9.0, b=5.0, a=1.0)
    assert order(fuse(dense, sparse, depth=10, dense_weight=1.0)) == ["a", "b", "c"]
    assert order(fuse(dense, sparse, depth=10, dense_weight=0.0)) == ["c", "b", "a"]


def test_scales_play_no_part():
    dense = hits(a=0.9, b=0.5, c=0.1)
    small = fuse(dense, hits(c=3.0, a=2.0, b=1.0), depth=10, dense_weight=0.6)
    large = fuse(dense, hits(c=300.0, a=200.0, b=100.0), depth=10, dense_weight=0.6)
    assert order(small) == order(large)
    assert small == pytest.approx(large)


def test_the_one_passage_that_has_the_word_comes_first_where_meanings_are_close():
    dense = hits(**{f"p{n:02}": 0.5 - n / 100 for n in range(20)})
    ranking = order(fuse(dense, hits(p07=4.0), depth=100, dense_weight=0.65))
    assert ranking[:2] == ["p07", "p00"]


def test_what_a_full_search_did_not_return_is_taken_to_be_as_good_as_its_last():
    ranking = fuse(hits(a=0.9, b=0.8), hits(c=5.0, d=4.0), depth=2, dense_weight=0.5)
    # a and b were not among the two best by words: both count as d does there.
    assert ranking["a"] > ranking["b"]
    assert ranking["c"] > ranking["d"] == ranking["b"]


def test_ties_are_in_order_of_ids():
    assert order(fuse(hits(z=0.5, m=0.5, a=0.5), [], depth=9, dense_weight=0.65)) == ["a", "m", "z"]


def test_nothing_found_is_an_empty_ranking():
    assert fuse([], [], depth=9, dense_weight=0.65) == {}


scores = st.dictionaries(st.text("abcdefgh", min_size=1, max_size=2), st.floats(0, 50), max_size=30)


@given(scores, scores, st.floats(0, 1))
def test_every_candidate_gets_one_score_from_0_to_1_best_first(dense, sparse, weight):
    by_dense, by_sparse = hits(**dense), hits(**sparse)
    ranking = fuse(by_dense, by_sparse, depth=30, dense_weight=weight)
    assert sorted(order(ranking)) == sorted({*dense, *sparse})
    values = [to_score(ranking[id_]) for id_ in order(ranking)]
    assert all(0 <= value <= 1 for value in values)
    assert values == sorted(values, reverse=True)
