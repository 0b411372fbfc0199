"""Where a question goes next."""

import pytest
from fakes import citation, draft, passage, statement
from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import retrieval_service_pb2 as retrieval

from services.orchestrator import routes
from services.orchestrator.review import Checked
from services.orchestrator.state import Asked


def state(max_attempts=3, attempts=1, drafted=1, **known):
    filters = [retrieval.DocumentFilter()]
    return {
        "asked": Asked("t", "c", "q?", filters, max_attempts, None, 0.0, 9.0),
        "searches": 1,
        "limit": 8,
        "attempts": attempts,
        "attempt_log": [
            grounding.Attempt(attempt=n + 1, drafted=drafted, failure=known.get("failure", 0))
            for n in range(attempts)
        ],
        "news": True,
        "over": False,
        "history": [],
        "draft": draft(failure=known.pop("failure", 0)),
        "said": [],
        "search": core.SearchReport(),
        "objections": [],
        **known,
    }


def objection(attempt, text="Wrong.", code=core.Reason.CODE_QUOTE_NOT_FOUND, verdict=3):
    return core.Objection(
        attempt=attempt,
        statement=statement(text, "invented"),
        verdict=verdict,
        reasons=[core.Reason(code=code)],
    )


SAID = [
    Checked(
        statement("A UBO must submit proof."),
        core.VerifiedStatement(
            text="A UBO must submit proof.",
            verdict=core.VERDICT_SUPPORTED,
            citations=[citation(passage(), "a notarized proof of funds")],
        ),
        1,
    )
]


def test_a_question_with_others_before_it_is_resolved_first():
    assert routes.after_recall(state()) == "retrieve"
    assert routes.after_recall(state(history=["a turn"])) == "resolve"


def test_new_passages_are_drafted_from():
    assert routes.after_retrieve(state(news=True)) == "generate"


def test_nothing_found_is_searched_for_once_more_and_wider():
    assert routes.after_retrieve(state(news=False, searches=1)) == "retrieve"
    assert routes.after_retrieve(state(news=False, searches=2)) == "remember"


def test_nothing_found_is_not_searched_again_when_one_attempt_is_all_there_is():
    assert routes.after_retrieve(state(news=False, max_attempts=1)) == "remember"


def test_a_wider_search_without_news_ends_with_what_was_verified_before():
    assert routes.after_retrieve(state(news=False, searches=2, said=SAID)) == "score"
    assert routes.after_retrieve(state(news=False, searches=2)) == "remember"


def test_what_does_not_apply_is_asked_only_when_nothing_else_was_said_or_drafted():
    left_out = core.SearchReport(exclusions=[core.SearchReport.Exclusion(best=passage("old"))])
    nothing = {"news": False, "searches": 2, "search": left_out}
    assert routes.after_retrieve(state(**nothing)) == "outdated"
    assert routes.after_retrieve(state(**nothing, said=SAID)) == "score"
    assert routes.after_retrieve(state(**nothing, objections=[objection(1)])) == "remember"
    assert routes.after_retrieve(state(**nothing, over=True)) == "remember"
    nothing["search"] = core.SearchReport(exclusions=[core.SearchReport.Exclusion()])
    assert routes.after_retrieve(state(**nothing)) == "remember"


def test_a_draft_is_verified():
    assert routes.after_generate(state()) == "verify"


@pytest.mark.parametrize("made", [draft(insufficient=True), draft()])
def test_a_drafter_without_an_answer_gets_more_to_read(made):
    assert routes.after_generate(state(drafted=0, draft=made)) == "retrieve"


def test_a_drafter_who_wants_more_after_what_was_verified_gets_it():
    wanting = draft(insufficient=True, suggested_query="the threshold")
    assert routes.after_verify(state(draft=wanting, said=SAID)) == "retrieve"
    assert routes.after_generate(state(drafted=0, draft=wanting, said=SAID)) == "retrieve"


def test_a_drafter_who_misses_nothing_beside_what_was_said_gets_no_more():
    content = draft(insufficient=True)
    assert routes.after_verify(state(draft=content, said=SAID)) == "score"
    assert routes.after_generate(state(drafted=0, draft=content, said=SAID)) == "score"


def test_a_reply_that_is_no_draft_is_asked_for_again():
    assert routes.after_generate(state(drafted=0, failure=1)) == "generate"


def test_a_reply_that_fails_twice_in_the_same_way_is_not_asked_for_again():
    assert routes.after_generate(state(drafted=0, attempts=2, failure=1)) == "remember"
    assert routes.after_generate(state(drafted=0, attempts=2, failure=1, said=SAID)) == "score"


def test_when_the_time_is_used_up_nothing_more_is_begun():
    assert routes.after_verify(state(objections=[objection(1)], over=True)) == "remember"
    assert routes.after_verify(state(objections=[objection(1)], over=True, said=SAID)) == "score"
    assert routes.after_generate(state(drafted=0, over=True)) == "remember"


@pytest.mark.parametrize("used_up", [{"attempts": 3}, {"limit": 50}, {"searches": 3}])
def test_a_drafter_without_an_answer_ends_it_when_no_wider_search_is_left(used_up):
    none = {"drafted": 0, "draft": draft(insufficient=True)}
    assert routes.after_generate(state(**none, **used_up)) == "remember"
    assert routes.after_generate(state(**none, said=SAID, **used_up)) == "score"


def test_a_verified_draft_is_scored():
    assert routes.after_verify(state(said=SAID)) == "score"


def test_a_failed_draft_is_made_again():
    assert routes.after_verify(state(objections=[objection(1)])) == "generate"


def test_the_same_failure_twice_ends_it_early():
    twice = [objection(1), objection(2)]
    assert routes.after_verify(state(attempts=2, objections=twice)) == "remember"
    assert routes.after_verify(state(said=SAID, attempts=2, objections=twice)) == "score"


@pytest.mark.parametrize(
    "other",
    [
        objection(2, text="Also wrong."),
        objection(2, code=core.Reason.CODE_NUMBER_MISMATCH),
        objection(2, verdict=core.VERDICT_CONTRADICTED),
    ],
)
def test_another_failure_is_worth_another_attempt(other):
    different = [objection(1), other]
    assert routes.after_verify(state(attempts=2, objections=different)) == "generate"


def test_a_failure_after_the_last_attempt_fails_closed():
    last = [objection(3)]
    assert routes.after_verify(state(attempts=3, objections=last)) == "remember"
    assert routes.after_verify(state(said=SAID, attempts=3, objections=last)) == "score"
