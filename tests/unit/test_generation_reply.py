"""What a model sent is a draft exactly, or not at all."""

import json

import pytest

from services.generation.drafter import Usage
from services.generation.reply import Failure, NoDraft, read

GOOD = {
    "statements": [
        {"text": "A proof is due.", "citations": [{"source": "src_0", "quote": "a proof is due"}]}
    ],
    "insufficient": False,
    "compliance": "not_asked",
}


def changed(**changes) -> str:
    return json.dumps({**GOOD, **changes})


def one_statement(**changes) -> str:
    return changed(statements=[{**GOOD["statements"][0], **changes}])


BAD_JSON = {
    "prose before": ("Here you are: " + json.dumps(GOOD), Failure.NOT_JSON),
    "prose after": (json.dumps(GOOD) + " I hope this helps.", Failure.NOT_JSON),
    "a fence": (f"```json\n{json.dumps(GOOD)}\n```", Failure.NOT_JSON),
    "prose only": ("I would say a proof of funds.", Failure.NOT_JSON),
    "cut off, though it says it stopped": (json.dumps(GOOD)[:-20], Failure.NOT_JSON),
    "two objects": (json.dumps(GOOD) * 2, Failure.NOT_JSON),
    "endless nesting": ("[" * 200_000, Failure.NOT_JSON),
    "not a number": (one_statement(text=float("nan")), Failure.WRONG_SHAPE),
    "a list": (json.dumps([GOOD]), Failure.WRONG_SHAPE),
    "a missing field": (json.dumps({"statements": []}), Failure.WRONG_SHAPE),
    "an unknown field": (changed(answer="yes"), Failure.WRONG_SHAPE),
    "a number for a text": (one_statement(text=7), Failure.WRONG_SHAPE),
    "a text for a flag": (changed(insufficient="false"), Failure.WRONG_SHAPE),
    "null for a list": (changed(statements=None), Failure.WRONG_SHAPE),
    "a judgement of its own": (changed(compliance="mostly"), Failure.WRONG_SHAPE),
    "an answer that is none": (changed(insufficient=True), Failure.WRONG_SHAPE),
    "neither answer nor abstention": (changed(statements=[]), Failure.EMPTY),
    "a blank statement": (one_statement(text="  "), Failure.EMPTY),
    "500 citations": (
        one_statement(citations=[{"source": "src_0", "quote": "x"}] * 500),
        Failure.TOO_LARGE,
    ),
    "201 statements": (changed(statements=GOOD["statements"] * 201), Failure.TOO_LARGE),
    "a statement of 20 kB": (one_statement(text="word " * 5000), Failure.TOO_LARGE),
    "an endless source id": (
        one_statement(citations=[{"source": "s" * 101, "quote": "x"}]),
        Failure.TOO_LARGE,
    ),
    "10 MB": (one_statement(text="x" * 10_000_000), Failure.TOO_LARGE),
}


@pytest.mark.parametrize(("text", "failure"), BAD_JSON.values(), ids=BAD_JSON)
def test_what_is_not_exactly_the_form_is_no_draft(text, failure):
    with pytest.raises(NoDraft) as raised:
        read(text, {"src_0": "p"}, Usage())
    assert raised.value.failure is failure
    assert raised.value.__cause__ is None  # Causes quote the reply.


def test_white_space_around_the_object_is_no_prose():
    assert read(f"\n {json.dumps(GOOD)} \n", {"src_0": "p"}, Usage()).statements


def test_an_uncited_statement_is_read_so_that_verification_can_object():
    [statement] = read(one_statement(citations=[]), {}, Usage()).statements
    assert statement.citations == ()
