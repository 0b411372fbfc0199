"""What a model sent is a draft exactly, or not at all."""

import json

import pytest

from services.generation.drafter import Failure, NoDraft
from services.generation.reply import Reading, form, read

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
    "endless nesting": ("[" * 200_000, Failure.WRONG_SHAPE),
    "deep nesting": (changed(statements=[[[[[[[[[1]]]]]]]]]), Failure.WRONG_SHAPE),
    "a key twice": (json.dumps(GOOD)[:-1] + ', "insufficient": true}', Failure.WRONG_SHAPE),
    "half a character": (json.dumps(GOOD).replace("due.", r"\ud800."), Failure.WRONG_SHAPE),
    "a number without end": (changed(insufficient=0)[:-1] + "9" * 5000 + "}", Failure.NOT_JSON),
    "not a number": (one_statement(text=float("nan")), Failure.NOT_JSON),
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
        read(text, {"src_0": "p"})
    assert raised.value.failure is failure
    assert raised.value.__cause__ is None  # Causes quote the reply.


def test_white_space_around_the_object_is_no_prose():
    assert read(f"\n {json.dumps(GOOD)} \n", {"src_0": "p"}).statements


def test_an_uncited_statement_is_read_so_that_verification_can_object():
    [statement] = read(one_statement(citations=[]), {}).statements
    assert statement.citations == ()


def test_the_form_asks_for_every_field_and_refers_to_nothing():
    schema = form().schema
    assert schema["required"] == ["statements", "insufficient", "compliance", "suggested_query"]
    assert "$ref" not in json.dumps(schema)
    assert schema["additionalProperties"] is False


def in_pieces(text, size):
    return [text[at : at + size] for at in range(0, len(text), size)]


TWO = changed(
    statements=[
        {"text": 'One "is" {here}, [so].', "citations": [{"source": "src_0", "quote": "a \\ b"}]},
        {"text": "Two.", "citations": []},
    ]
)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50, 10_000])
def test_a_statement_is_given_the_moment_it_is_whole_however_the_text_is_cut(size):
    reading, given = Reading({"src_0": "p"}), []
    for piece in in_pieces(TWO, size):
        given += reading.feed(piece)
        whole = [text for text in ("One", "Two") if f'{{"text": "{text}' in reading.text]
        assert len(given) >= len(whole) - 1  # No later than when the next one has begun.
    assert given == list(reading.draft().statements)
    assert [statement.text for statement in given] == ['One "is" {here}, [so].', "Two."]


@pytest.mark.parametrize(("text", "failure"), BAD_JSON.values(), ids=BAD_JSON)
def test_what_is_no_draft_whole_is_none_in_pieces(text, failure):
    reading = Reading({"src_0": "p"})

    def read_all():
        for piece in in_pieces(text, max(97, len(text) // 1000)):
            list(reading.feed(piece))
        reading.draft()

    with pytest.raises(NoDraft) as raised:
        read_all()
    assert raised.value.failure is failure


def test_a_bad_statement_ends_the_reading_before_the_rest_has_come():
    reading = Reading({"src_0": "p"})
    with pytest.raises(NoDraft):
        list(reading.feed('{"statements": [{"text": 7, "citations": []}'))


def test_a_list_of_another_name_holds_no_statements():
    reading = Reading({})
    assert list(reading.feed('{"sources": [{"text": "x", "citations": []}], ')) == []


def test_a_citation_given_twice_is_one():
    cited = {"source": "src_0", "quote": "a proof is due"}
    [statement] = read(one_statement(citations=[cited, cited]), {"src_0": "p"}).statements
    assert len(statement.citations) == 1


def test_another_query_is_suggested_only_where_nothing_answers():
    silent = changed(statements=[], insufficient=True, suggested_query=" proof of funds ")
    assert read(silent, {}).suggested_query == "proof of funds"
    assert read(changed(suggested_query="x"), {"src_0": "p"}).suggested_query == ""
