"""Where a question goes next."""

import pytest
from fakes import draft, honest, passage, statement
from verity.v1 import core_pb2 as core
from verity.v1 import retrieval_service_pb2 as retrieval
from verity.v1 import verification_service_pb2 as verification

from services.orchestrator import routes
from services.orchestrator.review import review
from services.orchestrator.state import Asked


def state(max_attempts=3, **known):
    return {
        "asked": Asked("t", "c", "q?", retrieval.DocumentFilter(), max_attempts, None, 0.0),
        "searches": 1,
        "limit": 8,
        "attempts": 1,
        "news": True,
        "objections": [],
        **known,
    }


def reviewed(*statements):
    made = draft(*statements)
    request = verification.VerifyRequest(statements=made.statements, passages=[passage()])
    return review(made, [passage()], honest(request))


def objection(attempt, text="Wrong.", code=core.Reason.CODE_QUOTE_NOT_FOUND, verdict=3):
    return core.Objection(
        attempt=attempt,
        statement=statement(text, "invented"),
        verdict=verdict,
        reasons=[core.Reason(code=code)],
    )


GOOD = reviewed(statement("A UBO must submit proof."))
BAD = reviewed(statement("Wrong.", "invented"))


def test_new_passages_are_drafted_from():
    assert routes.after_retrieve(state(news=True)) == "generate"


def test_nothing_found_is_searched_for_once_more_and_wider():
    assert routes.after_retrieve(state(news=False, searches=1)) == "retrieve"
    assert routes.after_retrieve(state(news=False, searches=2)) == "remember"


def test_nothing_found_is_not_searched_again_when_one_attempt_is_all_there_is():
    assert routes.after_retrieve(state(news=False, max_attempts=1)) == "remember"


def test_a_wider_search_without_news_ends_with_what_was_verified_before():
    assert routes.after_retrieve(state(news=False, searches=2, best=GOOD)) == "score"
    assert routes.after_retrieve(state(news=False, searches=2, best=BAD)) == "remember"


def test_a_draft_is_verified():
    assert routes.after_generate(state(draft=draft(statement("A.")))) == "verify"


@pytest.mark.parametrize("made", [draft(insufficient=True), draft()])
def test_a_drafter_without_an_answer_gets_more_to_read(made):
    assert routes.after_generate(state(draft=made)) == "retrieve"


def test_a_drafter_who_contradicts_himself_is_taken_to_have_no_answer():
    assert (
        routes.after_generate(state(draft=draft(statement("A."), insufficient=True))) == "retrieve"
    )


@pytest.mark.parametrize("used_up", [{"attempts": 3}, {"limit": 50}, {"searches": 3}])
def test_a_drafter_without_an_answer_ends_it_when_no_wider_search_is_left(used_up):
    made = draft(insufficient=True)
    assert routes.after_generate(state(draft=made, **used_up)) == "remember"
    assert routes.after_generate(state(draft=made, best=GOOD, **used_up)) == "score"


def test_a_verified_draft_is_scored():
    assert routes.after_verify(state(best=GOOD)) == "score"


def test_a_failed_draft_is_made_again():
    assert routes.after_verify(state(best=BAD, objections=[objection(1)])) == "generate"


def test_the_same_failure_twice_ends_it_early():
    twice = [objection(1), objection(2)]
    assert routes.after_verify(state(best=BAD, attempts=2, objections=twice)) == "remember"
    assert routes.after_verify(state(best=GOOD, attempts=2, objections=twice)) == "score"


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
    assert routes.after_verify(state(best=BAD, attempts=2, objections=different)) == "generate"


def test_a_failure_after_the_last_attempt_fails_closed():
    last = [objection(3)]
    assert routes.after_verify(state(best=BAD, attempts=3, objections=last)) == "remember"
    assert routes.after_verify(state(best=GOOD, attempts=3, objections=last)) == "score"
