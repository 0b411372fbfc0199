"""Requests are held against the rules in their protos, and against nothing else."""

import datetime as dt
import math
import re
from importlib import import_module

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from hypothesis import given
from hypothesis import strategies as st
from verity.v1 import core_pb2 as core
from verity.v1 import generation_service_pb2 as generation
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import retrieval_service_pb2 as retrieval
from verity.v1 import verification_service_pb2 as verification

from services.chassis import validation
from services.chassis.errors import InvalidInput

SERVICES = ("generation", "grounding", "retrieval", "verification")


def fields(message):
    return [violation.field for violation in validation.violations(message)]


def passage(**changes):
    return core.Passage(**{"id": "p1", "text": "Proof of funds.", **changes})


def metadata(**changes):
    part = retrieval.IngestMetadata(**{"source_name": "policy.pdf", **changes})
    return retrieval.IngestDocumentRequest(metadata=part)


VALID = [
    grounding.AskRequest(question="Why?"),
    grounding.AskRequest(question="x" * 4000, conversation_id="a-B_9.", max_attempts=10),
    grounding.AskStreamRequest(ask=grounding.AskRequest(question="Why?")),
    generation.GenerateRequest(question="Why?", passages=[passage()]),
    generation.GenerateRequest(question="Why?", passages=[passage(published="2024-02-29")]),
    verification.VerifyRequest(),
    verification.CheckGroundingRequest(answer="x" * 100_000),
    metadata(),
    metadata(source_name="Résumé (final).pdf", effective_from="2026-01-01", tags=["a"] * 32),
    retrieval.IngestDocumentRequest(chunk=b"x" * 1_048_576),
    retrieval.RenderPageRequest(document_id="d", page_number=1, dpi=300),
    retrieval.RetrieveRequest(
        query="x", filter=retrieval.DocumentFilter(min_authority=core.AUTHORITY_HIGH)
    ),
]

INVALID = [
    (grounding.AskRequest(), ["question"]),
    (grounding.AskRequest(question=" \n\t\u3000"), ["question"]),
    (grounding.AskRequest(question="x" * 4001), ["question"]),
    (grounding.AskRequest(question="q", conversation_id="a b"), ["conversation_id"]),
    # Whole, not merely somewhere or up to the end of a line.
    (grounding.AskRequest(question="q", conversation_id="ab\n"), ["conversation_id"]),
    (grounding.AskRequest(question="q", max_attempts=11), ["max_attempts"]),
    (
        grounding.AskRequest(
            question="q", filter=retrieval.DocumentFilter(tags=["ok", "x" * 65, "ok"])
        ),
        ["filter.tags[1]"],
    ),
    (
        grounding.AskRequest(
            question="q", filter=retrieval.DocumentFilter(document_types=["x"] * 33)
        ),
        ["filter.document_types"],
    ),
    (grounding.AskStreamRequest(), ["ask"]),
    (grounding.AskStreamRequest(ask=grounding.AskRequest()), ["ask.question"]),
    (
        generation.GenerateRequest(
            question="q", passages=[passage(), passage(), passage(), passage(text="", id=" ")]
        ),
        ["passages[3].id", "passages[3].text"],
    ),
    (
        generation.GenerateRequest(question="q", passages=[passage(published="2023-02-29")]),
        ["passages[0].published"],
    ),
    (
        generation.GenerateRequest(question="q", passages=[passage(published="20230228")]),
        ["passages[0].published"],
    ),
    (
        generation.GenerateRequest(question="q", passages=[passage(authority=99)]),
        ["passages[0].authority"],
    ),
    (
        generation.GenerateRequest(question="q", passages=[passage(score=math.nan)]),
        ["passages[0].score"],
    ),
    (
        generation.GenerateRequest(
            question="q",
            passages=[passage(regions=[core.Region(), core.Region(box=core.Box(top=math.inf))])],
        ),
        ["passages[0].regions[1].box.top"],
    ),
    (
        verification.VerifyRequest(
            statements=[
                core.DraftStatement(
                    text="s", citations=[core.DraftCitation(passage_id="x" * 101)] * 2
                )
            ]
        ),
        ["statements[0].citations[0].passage_id", "statements[0].citations[1].passage_id"],
    ),
    # Bytes, not characters.
    (verification.CheckGroundingRequest(answer="ü" * 50_001), ["answer"]),
    (retrieval.IngestDocumentRequest(), ["part"]),
    (retrieval.IngestDocumentRequest(chunk=b"x" * 1_048_577), ["chunk"]),
    (metadata(source_name="../policy.pdf"), ["metadata.source_name"]),
    (metadata(source_name="a\x00.pdf"), ["metadata.source_name"]),
    (metadata(document_type="Policy"), ["metadata.document_type"]),
    (retrieval.RenderPageRequest(document_id="d"), ["page_number"]),
    (retrieval.RetrieveRequest(query="q", limit=51), ["limit"]),
]


@pytest.mark.parametrize("request_", VALID, ids=lambda m: type(m).__name__)
def test_a_valid_request_passes(request_):
    assert validation.violations(request_) == ()
    validation.check(request_)


@pytest.mark.parametrize(("request_", "at_fault"), INVALID, ids=lambda p: str(p)[:60])
def test_each_field_at_fault_is_named_by_its_path(request_, at_fault):
    assert fields(request_) == at_fault
    with pytest.raises(InvalidInput) as caught:
        validation.check(request_)
    assert str(caught.value).startswith(at_fault[0])
    assert [violation.field for violation in caught.value.violations] == at_fault


def test_a_violation_says_what_is_wrong_without_repeating_the_value():
    [violation] = validation.violations(grounding.AskRequest(question="secret" * 1000))
    assert violation.description == "has 6000 characters; at most 4000 are allowed"


def test_a_list_that_is_too_long_is_one_violation_and_not_walked():
    request = generation.GenerateRequest(question="q", passages=[core.Passage()] * 51)
    assert fields(request) == ["passages"]


def test_the_rules_of_every_message_compile():
    for service in SERVICES:
        module = import_module(f"verity.v1.{service}_service_pb2")
        for descriptor in module.DESCRIPTOR.message_types_by_name.values():
            message = message_factory.GetMessageClass(descriptor)()
            validation.violations(message)  # Unset fields are a rule's business, not an error.


def test_a_request_with_a_map_is_a_mistake_of_ours():
    file = descriptor_pb2.FileDescriptorProto(name="mapped.proto", package="t", syntax="proto3")
    message = file.message_type.add(name="Mapped")
    entry = message.nested_type.add(name="FieldsEntry")
    entry.options.map_entry = True
    string = descriptor_pb2.FieldDescriptorProto
    entry.field.add(name="key", number=1, type=string.TYPE_STRING, label=string.LABEL_OPTIONAL)
    entry.field.add(name="value", number=2, type=string.TYPE_STRING, label=string.LABEL_OPTIONAL)
    message.field.add(
        name="fields",
        number=1,
        type=string.TYPE_MESSAGE,
        label=string.LABEL_REPEATED,
        type_name=".t.Mapped.FieldsEntry",
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    mapped = message_factory.GetMessageClass(pool.FindMessageTypeByName("t.Mapped"))
    with pytest.raises(TypeError, match=r"t\.Mapped\.fields"):
        validation.violations(mapped())


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(texts)
def test_a_question_passes_exactly_when_it_is_not_blank(question):
    assert (fields(grounding.AskRequest(question=question)) == []) is bool(question.strip())


@given(texts)
def test_a_name_passes_exactly_when_all_of_it_is_of_allowed_characters(name):
    allowed = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
    request = grounding.AskRequest(question="q", conversation_id=name)
    assert (fields(request) == []) is (set(name) <= allowed)


@given(st.integers(0, 2**32 - 1))
def test_a_number_passes_exactly_when_it_is_in_its_bounds(number):
    assert (fields(grounding.AskRequest(question="q", max_attempts=number)) == []) is (number <= 10)
    page = retrieval.RenderPageRequest(document_id="d", page_number=number)
    assert (fields(page) == []) is (number >= 1)


@given(st.integers(-(2**31), 2**31 - 1))
def test_an_enum_passes_exactly_when_its_number_is_known(number):
    request = retrieval.RetrieveRequest(
        query="q", filter=retrieval.DocumentFilter(min_authority=number)
    )
    assert (fields(request) == []) is (number in core.Authority.values())


@given(st.dates())
def test_every_date_in_iso_form_passes(date):
    assert fields(metadata(published=date.isoformat())) == []


@given(texts | st.from_regex(r"[0-9]{4}-[01][0-9]-[0-3][0-9]", fullmatch=True))
def test_what_is_no_date_does_not_pass(text):
    shaped = re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text)
    right = text == "" or bool(shaped and is_date(*map(int, text.split("-"))))
    assert (fields(metadata(published=text)) == []) is right


def is_date(year, month, day):
    try:
        dt.date(year, month, day)
    except ValueError:
        return False
    return True


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_a_figure_passes_exactly_when_it_is_finite(figure):
    request = generation.GenerateRequest(question="q", passages=[passage(score=figure)])
    assert (fields(request) == []) is math.isfinite(figure)


@given(st.lists(st.booleans(), max_size=50))
def test_of_many_passages_exactly_the_broken_ones_are_named(whole):
    passages = [passage(text="whole" if ok else "") for ok in whole]
    request = generation.GenerateRequest(question="q", passages=passages)
    assert fields(request) == [f"passages[{n}].text" for n, ok in enumerate(whole) if not ok]
