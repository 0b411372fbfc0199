"""What is searched for next, and what is drafted from afterwards."""

import pytest
from fakes import citation, draft, passage, statement
from hypothesis import given
from hypothesis import strategies as st
from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import retrieval_service_pb2 as retrieval

from services.orchestrator import searching
from services.orchestrator.queries import rewritten
from services.orchestrator.release import Release
from services.orchestrator.review import Checked
from services.orchestrator.state import Asked

FACTS, RULES = searching.CORPORA


def said(source):
    found = citation(source, "a notarized proof of funds")
    verified = core.VerifiedStatement(
        text=source.id, verdict=core.VERDICT_SUPPORTED, citations=[found]
    )
    return Checked(statement(source.id, source=source.id), verified, 1)


def state(filters=1, **known):
    corpora = [retrieval.DocumentFilter()] * filters
    return {
        "asked": Asked("t", "c", "What is asked of a UBO?", corpora, 3, None, 0.0, 9.0),
        "standalone": "",
        "strategy": grounding.Strategy(passages=8),
        "limit": 8,
        "searches": 0,
        "passages": [],
        "corpora": {},
        "said": [],
        **known,
    }


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What is the threshold for a UBO?", "threshold UBO"),
        ("How did revenue change in Q3-2024 vs. 18.5%?", "revenue change Q3-2024 vs 18.5%"),
        ("May a client not be onboarded without proof?", "client not onboarded without proof"),
        ("What is it?", "What is it?"),
        ("UBO, UBO, UBO", "UBO"),
        ("¿Cuál es el umbral?", "Cuál es el umbral"),
        ("???", "???"),
    ],
)
def test_a_question_is_rewritten_to_its_content_words(question, words):
    assert rewritten(question) == words


@given(st.text(min_size=1, max_size=100))
def test_a_rewritten_question_is_never_empty_or_longer(question):
    assert 0 < len(rewritten(question)) <= len(question)


def test_each_search_is_twice_as_wide_up_to_what_one_may_bring():
    assert searching.limit(state()) == 8
    assert [searching.limit(state(searches=1, limit=n)) for n in (8, 16, 32, 50)] == [
        *(16, 32, 50, 50)
    ]


def test_two_corpora_share_the_passages():
    assert [r.limit for r in searching.requests(state(filters=2, limit=9))] == [5, 5]


def test_a_drafters_other_words_are_cut_to_what_a_search_takes():
    made = draft(insufficient=True, suggested_query="x" * 5000)
    assert len(searching.query(state(searches=1, draft=made))) == 4000
    blank = draft(insufficient=True, suggested_query="  ")
    assert searching.query(state(searches=1, draft=blank)) == "asked UBO"


def test_what_is_found_comes_in_turn_from_each_corpus():
    found = [[passage("f1"), passage("f2")], [passage("r1"), passage("f1")]]
    merged = searching.merged(state(filters=2), found)
    assert [one.id for one in merged] == ["f1", "r1", "f2"]
    corpora = searching.corpora({}, found)
    assert corpora == {
        "f1": frozenset({FACTS, RULES}),
        "f2": frozenset({FACTS}),
        "r1": frozenset({RULES}),
    }


def test_what_the_answer_cites_is_never_pushed_out():
    old = [passage(f"old{n}") for n in range(50)]
    new = [passage(f"new{n}") for n in range(50)]
    merged = searching.merged(state(passages=old, said=[said(old[49])]), [new])
    assert len(merged) == 50
    assert [one.id for one in merged][:49] == [f"new{n}" for n in range(49)]
    assert merged[49] == old[49]


def test_reports_of_two_searches_are_one():
    one, other = (
        core.SearchReport(
            document_count=n,
            passage_count=10 * n,
            query="q",
            nearest_misses=[core.Passage(id=f"{n}{m}", score=n / 10 + m) for m in range(4)],
        )
        for n in (1, 2)
    )
    whole = searching.report([one, other])
    assert (whole.document_count, whole.passage_count, whole.query) == (3, 30, "q")
    assert [p.id for p in whole.nearest_misses] == ["23", "13", "22", "12", "21"]


def conflict(*names):
    sources = [citation(passage(name), "a notarized proof of funds") for name in names]
    return core.Reason(code=core.Reason.CODE_CONFLICTING_SOURCES, citations=sources)


def telling(*names):
    cited = [citation(passage(name), "a notarized proof of funds") for name in names]
    text = f"Both {names}."
    verified = core.VerifiedStatement(text=text, verdict=core.VERDICT_SUPPORTED, citations=cited)
    return Checked(statement(text), verified, 2)


def test_a_draft_that_is_silent_about_a_known_conflict_says_nothing():
    release = Release([], [conflict("a", "b")])
    assert release.offer(said(passage("c"))) == []
    assert release.said == []
    assert release.passed == 1


def test_what_waits_is_said_in_order_when_every_conflict_is_told():
    release = Release([], [conflict("a", "b"), conflict("c", "d")])
    first, second = said(passage("e")), said(passage("f"))
    assert release.offer(first) == release.offer(telling("a", "b")) == []
    assert [one.verified.text for one in release.offer(telling("d", "c"))] == [
        *("e", "Both ('a', 'b').", "Both ('d', 'c').")
    ]
    assert release.offer(second) == [second]


def test_a_conflict_that_was_told_before_holds_nothing_up():
    release = Release([telling("a", "b")], [conflict("a", "b")])
    later = said(passage("c"))
    assert release.offer(later) == [later]


def test_what_does_not_apply_on_the_day_is_not_drafted_from():
    dated = {
        "always": {},
        "now": {"effective_from": "2026-01-01", "effective_to": "2027-01-01"},
        "since today": {"effective_from": "2026-06-01"},
        "until today": {"effective_to": "2026-06-01"},
        "to come": {"effective_from": "2026-06-02"},
    }
    passages = [core.Passage(id=name, text="t", **dates) for name, dates in dated.items()]
    found = searching.in_force(passages, "2026-06-01")
    assert [one.id for one in found] == ["always", "now", "since today"]
