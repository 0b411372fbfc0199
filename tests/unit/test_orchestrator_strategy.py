"""What is learned from the answers before, and what is kept of them."""

from pathlib import Path

import pytest
from fakes import draft, passage
from hypothesis import given, settings
from hypothesis import strategies as st
from test_orchestrator_graph import BAD, GOOD, World
from verity.v1 import core_pb2 as core
from verity.v1 import generation_service_pb2 as generation
from verity.v1 import grounding_service_pb2 as grounding

from benchmarks.learning import CONVERSATIONS, QUESTIONS, simulated
from services.orchestrator import strategy
from services.orchestrator.grounding_log import (
    Entry,
    Failing,
    Log,
    decoded,
    encoded,
    entry,
    failing_documents,
)

DOCUMENT = Path(__file__).parents[2] / "docs" / "learning.md"
Code = core.Reason
GOOD_ONE = Entry(confidence=1.0, depth=1)
SILENT = Entry(confidence=0.0, abstention=core.Abstention.TYPE_NO_EVIDENCE)


def chosen(*entries, tenant=()):
    return strategy.choose(Log(entries, tenant), passages=8)


def choices(made):
    return [why.choice for why in made.why]


def having(code, confidence=0.9):
    return Entry(confidence=confidence, depth=1, codes={code: 1})


def test_good_answers_and_few_answers_change_nothing():
    assert chosen(*[GOOD_ONE] * 20) == grounding.Strategy(passages=8, learned_from=20)
    assert chosen(*[SILENT] * 4) == grounding.Strategy(passages=8)


def test_a_young_conversation_learns_from_its_tenants_others():
    made = chosen(GOOD_ONE, tenant=[SILENT] * 10)
    assert made.passages == 16
    assert made.learned_from == 10


def test_silence_makes_a_search_wider_and_its_words_others():
    made = chosen(*[GOOD_ONE] * 3, *[SILENT] * 2)
    assert (made.passages, made.neighbours, made.rewrite_query) == (16, True, True)
    assert choices(made) == ["passages", "rewrite_query"]
    assert "2 of the last 5 answers" in made.why[0].reason


def test_low_quality_makes_a_search_wider_and_says_how_low():
    made = chosen(*[Entry(confidence=0.41, depth=1)] * 5)
    assert made.passages == 16
    assert "0.41" in made.why[0].reason
    assert not made.rewrite_query


def test_what_only_a_wider_search_found_keeps_it_wide():
    assert chosen(*[GOOD_ONE] * 3, *[Entry(confidence=1.0, depth=9)] * 2).passages == 16


def test_a_search_is_never_wider_than_one_may_be():
    assert strategy.choose(Log([SILENT] * 5), passages=40).passages == 50


@pytest.mark.parametrize("code", [Code.CODE_QUOTE_NOT_FOUND, Code.CODE_MISATTRIBUTED])
def test_citations_that_are_not_there_ask_for_a_better_order(code):
    made = chosen(*[GOOD_ONE] * 3, *[having(code)] * 2)
    assert made.rerank
    assert choices(made) == ["rerank"]


@pytest.mark.parametrize("code", [Code.CODE_NUMBER_MISMATCH, Code.CODE_NO_ENTAILMENT])
def test_statements_that_say_otherwise_make_the_measure_stricter(code):
    made = chosen(*[GOOD_ONE] * 9, having(code))
    assert made.min_coverage == strategy.STRICT_COVERAGE
    assert choices(made) == ["min_coverage"]


def test_a_choice_is_kept_longer_than_it_takes_to_be_made():
    code = Code.CODE_QUOTE_NOT_FOUND
    now = [having(code)] * 2 + [GOOD_ONE] * 17
    assert not chosen(*now, GOOD_ONE).rerank
    assert chosen(*now, Entry(confidence=1.0, depth=1, choices=("rerank",))).rerank


def drafts(mode, count, unusable):
    made = [Entry(confidence=0.9, depth=1, drafts={mode: 1}) for _ in range(count - unusable)]
    failed = Entry(confidence=0.9, depth=1, drafts={mode: 1}, unusable={mode: 1})
    return [*[failed] * unusable, *made]


def test_a_mode_that_fails_gives_way_to_one_that_was_not_tried_or_failed_less():
    assert chosen(*drafts("json_schema", 10, 2)).structured_mode == ""
    assert chosen(*drafts("json_schema", 10, 3)).structured_mode == "function_calling"
    worse = [*drafts("json_schema", 10, 3), *drafts("function_calling", 10, 5)]
    assert chosen(*worse).structured_mode == "json_object"
    all_worse = [*worse, *drafts("json_object", 10, 6), *drafts("prompt", 10, 6)]
    assert chosen(*all_worse).structured_mode == ""


entries = st.builds(
    Entry,
    confidence=st.floats(0, 1),
    abstention=st.integers(0, 4),
    depth=st.integers(0, 50),
    codes=st.dictionaries(st.integers(0, 20), st.integers(1, 9), max_size=3),
    drafts=st.dictionaries(st.sampled_from(["json_schema", "other"]), st.integers(1, 9)),
    unusable=st.just({}),
    documents=st.dictionaries(
        st.text(max_size=5), st.builds(Failing, st.text(max_size=5), st.integers(1, 9), st.just({}))
    ),
    choices=st.lists(st.sampled_from(["passages", "rerank", "?"]), max_size=2).map(tuple),
)


@settings(max_examples=100)
@given(st.lists(entries, max_size=30), st.integers(1, 50))
def test_whatever_was_logged_a_choice_is_within_bounds_and_each_is_explained(some, passages):
    assert [decoded(encoded(one)) for one in some] == some
    made = strategy.choose(Log(some), passages=passages)
    assert passages <= made.passages <= 50
    assert 0 <= made.min_coverage <= 1
    others = (made.neighbours, made.rerank, made.rewrite_query, made.min_coverage)
    assert bool(made.why) >= any((*others, made.structured_mode))
    assert all(why.choice and why.reason for why in made.why)


@pytest.mark.parametrize("odd", [b"", b"[]", b"{}", b"\xff", b'{"confidence": "x"}', b"null"])
def test_what_is_no_entry_of_this_build_is_passed_over(odd):
    assert decoded(odd) is None


def test_an_entry_holds_figures_and_the_documents_at_fault_and_no_words():
    answer = grounding.Answer(
        question="A secret question?",
        text="A secret answer.",
        confidence=core.Confidence(grounding_confidence=0.7),
        attempt_log=[
            grounding.Attempt(
                structured_mode="json_object",
                failure=generation.GenerateResponse.FAILURE_EMPTY,
            ),
            grounding.Attempt(structured_mode="json_object"),
        ],
        objections=[
            core.Objection(
                statement=core.DraftStatement(
                    text="A secret statement.",
                    citations=[
                        core.DraftCitation(passage_id="p1"),
                        core.DraftCitation(passage_id="p2"),
                        core.DraftCitation(passage_id="invented"),
                    ],
                ),
                reasons=[
                    core.Reason(code=Code.CODE_QUOTE_NOT_FOUND, citation_index=1),
                    core.Reason(code=Code.CODE_QUOTE_NOT_FOUND, citation_index=2),
                ],
            )
        ],
    )
    made = entry(answer, [passage("p1"), passage("p2")])
    assert made.codes == {Code.CODE_QUOTE_NOT_FOUND: 1}
    assert made.drafts == {"json_object": 2}
    assert made.unusable == {"json_object": 1}
    assert made.documents == {
        "document-of-p2": Failing("p2.pdf", 1, {Code.CODE_QUOTE_NOT_FOUND: 1})
    }
    assert b"secret" not in encoded(made)


def test_documents_whose_citations_fail_are_ranked_with_their_reasons():
    bad = Failing("bad.pdf", 2, {Code.CODE_QUOTE_NOT_FOUND: 1, Code.CODE_NUMBER_MISMATCH: 2})
    one = Entry(confidence=0.5, documents={"d1": Failing("ok.pdf", 1, {15: 1}), "d2": bad})
    found = failing_documents([one, Entry(confidence=0.5, documents={"d2": bad})])
    assert [(d.document_id, d.source_name, d.failures, d.answers) for d in found] == [
        ("d2", "bad.pdf", 4, 2),
        ("d1", "ok.pdf", 1, 1),
    ]
    assert [(r.code, r.count) for r in found[0].reasons] == [
        (Code.CODE_NUMBER_MISMATCH, 4),
        (Code.CODE_QUOTE_NOT_FOUND, 2),
    ]


async def test_a_conversation_that_went_badly_is_answered_otherwise_and_the_answer_says_why():
    world = World(draft(BAD))
    for _ in range(5):
        await world.ask(conversation_id="c", max_attempts=1)
    world.generation.drafts = [draft(GOOD)]
    answer = await world.ask(conversation_id="c")
    assert answer.strategy.rerank
    assert answer.strategy.passages == 16
    assert {why.choice for why in answer.strategy.why} == {"passages", "rerank"}
    asked = world.retrieval.requests[-1]
    assert (asked.limit, asked.rerank, asked.neighbours) == (16, True, 1)
    assert not world.retrieval.requests[0].HasField("rerank")
    assert "5 of the last 5 answers" in str(answer.strategy.why)


async def test_the_strategy_reaches_the_drafter_and_the_verifier():
    world = World(draft(GOOD))
    failed = Entry(
        confidence=1.0,
        depth=1,
        codes={Code.CODE_NUMBER_MISMATCH: 1},
        drafts={"json_schema": 1},
        unusable={"json_schema": 1},
    )
    world.memory.entries["t", ""] = [failed] * 5
    await world.ask("What is a UBO?")
    assert world.generation.requests[0].structured_mode == "function_calling"
    assert {r.min_coverage for r in world.verification.requests} == {strategy.STRICT_COVERAGE}


async def test_a_rewritten_query_is_searched_for_first_and_the_question_next():
    world = World(draft(insufficient=True))
    world.memory.entries["t", ""] = [SILENT] * 5
    await world.ask("What is the threshold for a UBO?")
    assert [r.query for r in world.retrieval.requests] == [
        "threshold UBO",
        "What is the threshold for a UBO?",
    ]


async def test_in_a_simulated_world_learning_helps():
    figures = await simulated(CONVERSATIONS, QUESTIONS)
    learning, peer = figures["learning"], figures["peer_without"]
    assert learning["answered_right"] > 1.3 * peer["answered_right"]
    assert learning["mean_grounding_confidence"] > peer["mean_grounding_confidence"]
    assert learning["mean_attempts"] < peer["mean_attempts"]
    assert await simulated(1, 5) == await simulated(1, 5)
    told = DOCUMENT.read_text("utf-8")
    for arm in (learning, peer):
        assert f"| {arm['answered_right']:.2f} | {arm['wrong_of_said']:.3f} |" in told
        assert f"line {[round(share, 2) for share in arm['right_by_part']]}" in told
