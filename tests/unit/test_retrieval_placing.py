"""Where in the order comes what a query names, and what is preferred."""

import dataclasses

import pytest
from test_retrieval_routing import passage

from services.retrieval.fusion import reread
from services.retrieval.passage import Metadata
from services.retrieval.placing import placed
from services.retrieval.preference import Preference
from services.retrieval.routing import named

MENTIONS = "which of the books must be kept for the auditors under section 7.1"
NAMES = "section 7.1"
SUMS = {"a": 5.0, "b": 2.0, "c": 1.0, "d": -3.0}


def of(id_, section_id="1.1", authority=1):
    metadata = Metadata(f"{id_}.txt", "document", authority)
    return dataclasses.replace(passage("", section_id), id=id_, metadata=metadata)


PASSAGES = [of("a"), of("b"), of("c"), of("d", "7.1")]


def order(query, sums=SUMS, passages=PASSAGES, limit=2):
    found = placed(
        passages,
        sums,
        query=query,
        named=named(query),
        preference=Preference(authority=0.05),
        day="2026-01-01",
        limit=limit,
    )
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    return "".join(one.id for one in found)


@pytest.mark.parametrize(
    ("limit", "expected"), [(1, "abcd"), (2, "adbc"), (3, "abdc"), (4, "abcd"), (9, "abcd")]
)
def test_what_is_mentioned_has_the_last_of_several_places_and_never_the_only_one(limit, expected):
    assert order(MENTIONS, limit=limit) == expected


def test_what_is_named_comes_first_however_far_it_is():
    assert order(NAMES) == "dabc"
    assert order(NAMES, {**SUMS, "a": 1000.0}) == "dabc"


@pytest.mark.parametrize(
    ("limit", "expected"), [(1, "dabc"), (2, "dabc"), (4, "dbac"), (6, "dbca")]
)
def test_a_section_that_is_named_comes_before_what_lies_in_it_however_far_it_is(limit, expected):
    passages = [of("a"), of("b", "6.1"), of("c", "6.2"), of("d", "6")]
    assert order("Art. 6", passages=passages, limit=limit) == expected


def test_what_a_reranker_says_changes_nothing_about_what_is_named():
    again = reread(SUMS, {"a": 0.2, "b": 0.9, "c": 0.999, "d": 0.0})
    assert order("which books", again) == "cbad"
    assert order(NAMES, again) == "dcba"
    assert order(MENTIONS, again) == "cdba"


def test_what_a_reranker_has_not_read_follows_and_comes_first_where_it_is_named():
    again = reread(SUMS, {"a": 0.2, "b": 0.9})
    assert order("which books", again) == "bacd"
    assert order(NAMES, again) == "dbac"


def test_authority_decides_between_those_that_a_reranker_finds_about_equal():
    passages = [of("a"), of("b", authority=3), of("c"), of("d")]
    close = {"a": 0.901, "b": 0.9, "c": 0.5, "d": 0.1}
    assert order("which books", reread(SUMS, close), passages) == "bacd"
    assert order("which books", reread(SUMS, {**close, "a": 0.99}), passages) == "abcd"
