"""However JSON is cut, what is read of it is what it says, or nothing."""

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.generation.drafter import Failure, NoDraft
from services.generation.strict_json import MAX_CHARS, Elements, loads

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
OBJECT = st.dictionaries(
    TEXT, st.one_of(TEXT, st.integers(), st.none(), st.lists(TEXT, max_size=2))
)
DOCUMENT = st.fixed_dictionaries(
    {
        "before": st.lists(OBJECT, max_size=2),
        "statements": st.lists(OBJECT, max_size=4),
        "x": OBJECT,
    }
)


@settings(max_examples=60, deadline=None)
@given(DOCUMENT, st.integers(1, 9), st.booleans(), st.sampled_from([None, 1]))
def test_the_objects_of_the_array_are_found_whole_and_in_order(value, size, ascii_only, indent):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    elements = Elements("statements")
    found = []
    for at in range(0, len(text), size):
        found += map(json.loads, elements.feed(text[at : at + size]))
    assert found == value["statements"]
    assert elements.text == text
    assert loads(text) == value


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_an_object_or_no_draft(text):
    with contextlib.suppress(NoDraft):
        assert isinstance(loads(text), dict)


@pytest.mark.parametrize(
    "text", ['{"a": 1}}', '{"a": 1]', '{"a": [1}', '{"a": 1} x', "x {", "", "7"]
)
def test_brackets_that_do_not_match_and_words_around_are_no_json(text):
    with pytest.raises(NoDraft) as none:
        loads(text)
    assert none.value.failure is Failure.NOT_JSON


def test_too_much_is_said_before_it_is_all_there():
    elements = Elements("statements")
    list(elements.feed('{"x": "' + "a" * (MAX_CHARS - 100)))
    with pytest.raises(NoDraft) as none:
        list(elements.feed("a" * 200))
    assert none.value.failure is Failure.TOO_LARGE
