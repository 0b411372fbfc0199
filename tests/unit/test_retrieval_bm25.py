"""Which terms a text has."""

import pytest

from services.retrieval import bm25


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Section 4.2: a UBO", ["section", "4.2", "a", "ubo"]),
        (
            "form 8832, form 8,832 and 1,234,567.89",
            ["form", "8832", "form", "8832", "and", "1234567.89"],
        ),
        ("a 4,2 that is no thousand", ["a", "4,2", "that", "is", "no", "thousand"]),
        ("SEC_4.2 and 14.2.3.Guidance.10", ["sec", "4.2", "and", "14.2.3", "guidanc", "10"]),
        ("$2.45 billion, up 18% in Q3 2024.", ["2.45", "billion", "up", "18", "in", "q3", "2024"]),
        ("NOTARIZED, notarizing; notarizes", ["notar", "notar", "notar"]),
        ("the corporation\u2019s / the corporation's", ["the", "corpor", "the", "corpor"]),
        ("\ufb01nancial \uff11\uff12 STRASSE straße", ["financi", "12", "strass", "strass"]),
        ("прибыль 7 利益", ["прибыль", "7", "利益"]),
        ("", []),
        ("— ?! …", []),
    ],
)
def test_words_are_stems_and_numbers_stay_whole(text, expected):
    assert list(bm25.terms(text)) == expected


def test_a_vector_is_the_same_in_every_process():
    # Python's own hash() is not: it is salted per process, and vectors are stored.
    assert bm25.query_vector("8832").indices == (937580044,)


def test_a_query_counts_each_word_once():
    vector = bm25.query_vector("funds and proof of funds")
    assert len(vector.indices) == 4
    assert set(vector.values) == {1.0}


def test_a_word_weighs_more_the_more_often_it_comes_but_never_past_a_bound():
    once, twice, often = (
        bm25.passage_vector(" ".join(["funds"] * n + ["other"] * (150 - n))).values[0]
        for n in (1, 2, 100)
    )
    assert once == pytest.approx(1.0)
    assert once < twice < often < bm25.K1 + 1


def test_a_word_weighs_less_in_a_longer_passage():
    short, long = (bm25.passage_vector("funds" + " x y" * n).values[0] for n in (10, 200))
    assert long < short


def test_a_text_without_words_has_no_terms():
    assert not bm25.passage_vector("---")
    assert not bm25.query_vector("?")
