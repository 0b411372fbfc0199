"""Which passages are copies of each other, and which of them stands for all."""

# ruff: noqa: RUF001 - look-alikes are what is told apart here

import dataclasses

import pytest
from test_retrieval_routing import passage

from services.retrieval.copies import collapse
from services.retrieval.passage import Metadata
from services.retrieval.preference import Preference
from services.retrieval.thinning import spread

TEXT = "A corporate entity must state who owns more than 25% of it, and file form 8832."


def of(document, text, *, authority=1, published="", effective_from="", score=0.5):
    return dataclasses.replace(
        passage(text),
        id=f"{document}-{hash(text)}",
        document_id=document,
        metadata=Metadata(
            document, "document", authority, published=published, effective_from=effective_from
        ),
        score=score,
    )


def test_of_copies_the_one_of_most_authority_then_the_latest_stands_for_all_at_the_best_place():
    ranked = [
        of("old", TEXT, published="2020-01-01", score=0.9),
        of("other", "Something else is said here in quite other words, at length.", score=0.8),
        of("law", TEXT.upper(), authority=3, published="2021-01-01", score=0.7),
        of("new law", TEXT.replace(" ", "\n"), authority=3, effective_from="2024-01-01"),
    ]
    (first, second), fallen = collapse(ranked)
    assert (first.document_id, first.score) == ("new law", 0.9)
    assert [copy.source_name for copy in first.copies] == ["old", "law"]
    assert (second.document_id, second.copies, fallen) == ("other", (), 2)


def are_copies(one, other):
    return collapse([of("a", one), of("b", other)])[1] == 1


@pytest.mark.parametrize(
    "changed",
    [
        TEXT.replace("25%", "10%"),
        TEXT.replace("25%", "-25%"),
        TEXT.replace("25%", "(25%)"),
        TEXT.replace("25%", "≥ 25%"),
        TEXT.replace("25%", "25‰"),
        TEXT.replace("25%", "2.5%"),
        TEXT.replace("25%", "2²5%"),
        TEXT.replace("must", "must not"),
        TEXT.replace("must", "may"),
        TEXT + " This is not so before 2027.",
        TEXT + " unless it is listed.",
        TEXT[:-1] + ", excluding banks.",
        TEXT[:-1] + " in Austria.",
        "It is false that " + TEXT.lower(),
        # A heading may say of whom it is said.
        "Listed companies. " + TEXT,
    ],
)
def test_what_differs_in_a_figure_or_a_sign_or_has_a_word_more_is_no_copy(changed):
    assert not are_copies(TEXT, changed)


FEE = "The fee of {} is due at once from each holder of an account abroad."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("€500", "$500"),
        ("≥ 500", "≤ 500"),
        ("10²", "102"),
        ("½", "1/2"),
        ("2/3", "2-3"),
        ("1.5", "1,5"),
        ("1 2", "12"),
        ("5 mW", "5 MW"),
        ("a re-signed", "a resigned"),
        ("no table", "notable"),
    ],
)
def test_what_looks_alike_and_means_another_thing_is_no_copy(one, other):
    assert not are_copies(FEE.format(one), FEE.format(other))


def test_a_text_in_capitals_is_no_other_but_for_its_units():
    assert are_copies(FEE.format("5%").upper(), FEE.format("5%"))
    assert not are_copies(FEE.format("5 mW").upper(), FEE.format("5 mW"))
    assert not are_copies(FEE.format("5% in May"), FEE.format("5% in may"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "5% — what the “bank’s” heir — who it is — has",
            '5% — what the "bank\'s" heir—\nwho it is - has',
        ),
        ("5% in a first‑class ofﬁce", "5% in a first-\nclass  office"),
        ("5% in the pro-\nvisions", "5% in the pro\u00advisions"),
        ("500\u00a0euros", "500\neuros"),
        ("５％", "5%"),
        ("5% in a café", "5% in a cafe\u0301"),
    ],
)
def test_how_a_text_is_set_makes_no_other_text(one, other):
    assert are_copies(FEE.format(one), FEE.format(other))


def test_a_hyphen_at_a_line_end_may_be_read_both_ways_but_not_both_at_once():
    texts = [FEE.format(f"a {word} note") for word in ("re-\nsigned", "resigned", "re-signed")]
    collapsed, fallen = collapse([of(str(n), text) for n, text in enumerate(texts)])
    assert ([one.document_id for one in collapsed], fallen) == (["0", "2"], 1)


CLAUSE = "持有本行百分之二十五以上股份的公司客户，应当向本行提交经过公证的资金来源证明文件。"


def test_texts_without_spaces_between_words_are_counted_by_their_characters():
    assert are_copies(CLAUSE, CLAUSE)
    assert are_copies(CLAUSE, CLAUSE.replace("以上", "以上\n").replace("应当", " 应当"))
    assert not are_copies(CLAUSE, CLAUSE.replace("二十五", "二十"))
    assert not are_copies(CLAUSE, CLAUSE[:-1] + "，但外国公司不适用本条。")
    assert not are_copies("公司治理", "公司治理")


def test_short_texts_and_those_of_one_document_are_left_as_they_are():
    assert collapse([of("a", "Not applicable."), of("b", "Not applicable.")])[1] == 0
    assert collapse([of("a", TEXT), of("a", TEXT)])[1] == 0


def test_a_document_has_at_most_its_places_and_what_that_cost_is_counted():
    ranked = [of("a", str(n)) for n in range(4)] + [of("b", "x"), of("c", "y")]
    kept, crowded_out = spread(ranked, 3, 1)
    assert [one.document_id for one in kept] == ["a", "b", "c"]
    assert crowded_out == 3
    assert spread(ranked, 3, 0) == (ranked, 0)


def test_authority_and_recency_decide_by_no_more_than_their_weights():
    preference = Preference(authority=0.1, recency=0.05)
    day = "2026-01-01"
    bonus = {
        "low": preference.bonus(Metadata("a", "d", 1), day),
        "high": preference.bonus(Metadata("a", "d", 3), day),
        "high and new": preference.bonus(Metadata("a", "d", 3, published=day), day),
        "five years old": preference.bonus(Metadata("a", "d", 1, published="2021-01-01"), day),
        "of tomorrow": preference.bonus(Metadata("a", "d", 1, published="2026-01-02"), day),
    }
    assert bonus == pytest.approx(
        {"low": 0, "high": 0.1, "high and new": 0.15, "five years old": 0.025, "of tomorrow": 0},
        abs=1e-4,
    )
