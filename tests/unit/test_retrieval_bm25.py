"""Which terms a text has."""

import pytest

from services.retrieval import bm25


def test_a_vector_is_the_same_in_every_process():
    # Python's own hash() is not: it is salted per process, and vectors are stored.
    assert bm25.query_vector("8832").indices[0] == 937580044


def test_a_query_counts_each_word_once():
    vector = bm25.query_vector("funds and proof of funds")
    # Two words that are not little, four times two in a row, and eight that may name a document.
    assert len(vector.indices) == 14
    assert set(vector.values) == {1.0}


def test_a_word_weighs_more_the_more_often_it_comes_but_never_past_a_bound():
    once, twice, often = (
        bm25.passage_vector(" ".join(["funds"] * n + ["other"] * (bm25.MEAN_TERMS - n))).values[0]
        for n in (1, 2, 90)
    )
    assert once == pytest.approx(1.0)
    assert once < twice < often < bm25.K1 + 1


def test_a_word_weighs_less_in_a_longer_passage():
    short, long = (bm25.passage_vector("funds" + " x y" * n).values[0] for n in (10, 200))
    assert long < short


def test_a_passage_has_the_words_beside_it_too_but_no_two_in_a_row_of_them():
    alone, together = (
        bm25.passage_vector("funds"),
        bm25.passage_vector("funds", "", ["wealth held"]),
    )
    words = [bm25.query_vector(word).indices[0] for word in ("funds", "wealth", "held")]
    assert alone.indices == (words[0],)
    assert together.indices == tuple(words)
    # It is longer by them.
    assert together.values[0] == together.values[1] < alone.values[0]


def test_a_single_character_finds_the_passage_whose_pairs_have_it_and_weighs_less_than_they():
    (asked,) = bm25.query_vector("税").indices
    (pair, *_) = bm25.query_vector("税率").indices
    passage = bm25.passage_vector("企业所得税率")
    weights = dict(zip(passage.indices, passage.values, strict=True))
    assert 0 < weights[asked] < weights[pair]


def test_a_text_without_words_has_no_terms():
    assert not bm25.passage_vector("---")
    assert not bm25.query_vector("?")


def test_a_query_looks_for_its_little_words_only_beside_others():
    terms = set(bm25.query_vector("What is the term of the contract?").indices)
    assert terms >= {*_terms("term"), *_terms("contract"), *_terms("term of") - _terms("of")}
    assert not terms & {*_terms("what"), *_terms("is"), *_terms("the"), *_terms("of")}


def test_a_query_of_little_words_alone_looks_for_them():
    assert set(bm25.query_vector("to be").indices) >= _terms("to be")


def test_a_little_word_of_another_language_is_looked_for():
    assert set(bm25.query_vector("When is the die cast?").indices) >= _terms("die")


def _terms(text: str) -> set[int]:
    return set(bm25.passage_vector(text).indices)
