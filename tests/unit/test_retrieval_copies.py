"""Which passages are copies of each other, and which of them stands for all."""

import dataclasses

import pytest
from test_retrieval_routing import passage

from services.retrieval.copies import collapse
from services.retrieval.passage import Metadata
from services.retrieval.preference import Preference
from services.retrieval.report import spread

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


@pytest.mark.parametrize(
    "changed",
    [
        TEXT.replace("25%", "10%"),
        TEXT.replace("must", "must not"),
        TEXT.replace("must", "may"),
        TEXT + " This is not so before 2027.",
        TEXT + " unless it is listed.",
    ],
)
def test_what_differs_in_a_figure_or_in_what_it_binds_to_is_no_copy(changed):
    collapsed, fallen = collapse([of("a", TEXT), of("b", changed)])
    assert (len(collapsed), fallen) == (2, 0)


def test_a_caption_at_the_edge_makes_no_other_text():
    collapsed, fallen = collapse([of("a", TEXT), of("b", "Beneficial ownership. " + TEXT)])
    assert (len(collapsed), fallen) == (1, 1)


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
