"""The gateway over real HTTP and real channels: what is asked, what is called, what comes back."""

import base64
import json
from pathlib import Path

import pytest
from google.protobuf import descriptor_pool
from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding

from services.gateway.twins import all_twins
from tests.gateway_parts import PNG, gateway, parsed

PROTOS = Path(__file__).parents[2] / "protos" / "verity" / "v1"
KEYS = [
    "answer", "grounding_confidence", "citation_accuracy", "source_authority", "claims_verified",
    "total_claims", "verification_details", "sources", "historical_quality", "statements",
    "compliance", "status", "stage_timings", "trace_id",
]  # fmt: skip
ASKED = {"conversation_id": "talk", "query": "What must be submitted?"}


@pytest.fixture
async def served():
    async with gateway() as running:
        yield running


async def test_a_grounded_query_has_exactly_the_keys_that_are_promised(served):
    reply = await served.client.post("/grounded_query", json=ASKED)
    assert reply.status_code == 200
    said = reply.json()
    assert list(said) == KEYS
    assert said["grounding_confidence"] == 0.988
    assert said["citation_accuracy"] == 0.667
    assert said["historical_quality"] == 0.123
    assert (said["claims_verified"], said["total_claims"]) == (1, 2)
    assert [(d["claim"], d["verdict"]) for d in said["verification_details"]] == [
        ("It must submit a notarized proof of funds.", "SUPPORTED"),
        ("It must submit two.", "UNSUPPORTED"),
    ]
    assert said["verification_details"][1]["reasons"][0]["code"] == "CODE_NUMBER_MISMATCH"
    assert said["sources"] == [
        {"id": "document-of-p1", "name": "p1.pdf", "page": 42, "authority": "HIGH"}
    ]
    assert (said["compliance"], said["status"]) == ("COMPLIANT", "PARTIAL")
    assert said["stage_timings"][0]["duration"] == "0.012s"
    assert said["statements"][0]["citations"][0]["quote"] == "a notarized proof of funds"
    (request,) = served.behaviour.requests
    assert request == grounding.AskRequest(question=ASKED["query"], conversation_id="talk")


async def test_its_stream_passes_each_event_on_by_its_name_and_ends_with_the_flat_answer(served):
    reply = await served.client.post("/grounded_query/stream", json=ASKED)
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.headers["x-accel-buffering"] == "no"
    assert reply.headers["cache-control"] == "no-store, no-transform"
    found = parsed(reply.text)
    assert [name for name, _ in found] == [
        "stage_started", "stage_finished", "statement_verified", "answer", "grounded_answer",
    ]  # fmt: skip
    assert json.loads(found[3][1])["statements"][0]["verdict"] == "VERDICT_SUPPORTED"
    assert list(json.loads(found[4][1])) == KEYS


def test_every_rpc_of_every_proto_has_a_twin():
    services = {
        line.split()[1]
        for proto in PROTOS.glob("*.proto")
        for line in proto.read_text().splitlines()
        if line.startswith("service ")
    }
    assert services
    declared = {
        f"verity.v1.{name}/{method.name}"
        for name in services
        for method in descriptor_pool.Default().FindServiceByName(f"verity.v1.{name}").methods
    }
    assert {twin.name for twin in all_twins()} == declared


async def test_the_document_of_the_api_has_every_rpc(served):
    document = (await served.client.get("/openapi.json")).json()
    said = {
        operation.get("x-grpc-method")
        for path in document["paths"].values()
        for operation in path.values()
    }
    assert said - {None} == {twin.name for twin in all_twins()}
    asked = document["components"]["schemas"]["AskRequestInput"]["properties"]
    assert asked["question"]["maxLength"] == 4000
    assert "Narrows what may be cited." in asked["filter"]["description"]
    retrieve = document["paths"]["/v1/retrieve"]["post"]
    assert retrieve["description"].startswith("Finds the passages nearest to a question")


@pytest.mark.parametrize("twin", all_twins(), ids=lambda twin: twin.rpc.name)
async def test_each_twin_calls_its_rpc(served, twin):
    if twin.rpc.client_streaming:
        reply = await served.client.post(twin.path, params={"source_name": "a.txt"}, content=b"x")
    else:
        path = twin.path.format(**dict.fromkeys(twin.path_fields, "one"))
        body = None if twin.verb != "POST" else least(twin.input)
        reply = await served.client.request(twin.verb, path, json=body)
    assert reply.status_code == 200, reply.text
    assert len(served.behaviour.requests) == 1


def least(message):
    """The smallest object that the rules of a request allow."""
    from services.gateway.schemas import _rules  # noqa: PLC0415

    found = {}
    for field in message.fields:
        rules = _rules(field)
        if rules.required and field.message_type:
            found[field.name] = least(field.message_type)
        elif rules.required:
            found[field.name] = "one"
        elif rules.HasField("min"):
            found[field.name] = rules.min
    return found


async def test_messages_have_the_names_of_the_protos_and_64_bits_are_strings(served):
    reply = await served.client.get("/v1/documents/d%201")
    document = reply.json()["document"]
    assert document["id"] == "d 1"
    assert document["size_bytes"] == str(2**53 + 1)
    assert document["pages_without_text"] == []


async def test_a_query_fills_the_other_fields_of_a_request(served):
    reply = await served.client.get("/v1/conversations/talk/answers?page_size=7&page_token=t")
    assert reply.status_code == 200
    assert served.behaviour.requests == [
        grounding.ListAnswersRequest(conversation_id="talk", page_size=7, page_token="t")
    ]


async def test_a_page_is_an_image_with_the_spans_that_are_asked_for(served):
    path = "/v1/documents/d1/pages/3.png?highlight=5-9&highlight=20-30&dpi=72"
    reply = await served.client.get(path)
    assert reply.content == PNG
    assert reply.headers["content-type"] == "image/png"
    assert reply.headers["cache-control"] == "no-store"
    (request,) = served.behaviour.requests
    assert (request.document_id, request.page_number, request.dpi) == ("d1", 3, 72)
    assert list(request.highlights) == [core.Span(start=5, end=9), core.Span(start=20, end=30)]


async def test_the_twin_of_an_image_has_it_in_base64(served):
    reply = await served.client.post(
        "/v1/render-page", json={"document_id": "d1", "page_number": 1}
    )
    assert base64.b64decode(reply.json()["png"]) == PNG
