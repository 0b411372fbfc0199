"""The gateway of a running system: a question, its citation on paper, a file, its end."""

import io
import json
import uuid

import httpx
import pytest
from PIL import Image

from tests.gateway_parts import parsed
from tests.otlp_receiver import Receiver

AML = "What must a UBO holding more than 25% equity submit?"
SERVER, CLIENT = 2, 3


@pytest.fixture(scope="module")
def client(system):
    base = f"http://{system.address('gateway')}"
    with httpx.Client(base_url=base, trust_env=False, timeout=60) as opened:
        yield opened


@pytest.fixture(scope="module")
def asked(client):
    body = {"query": AML, "conversation_id": f"http-{uuid.uuid4().hex}"}
    reply = client.post("/grounded_query", json=body)
    assert reply.status_code == 200, reply.text
    return body, reply


def test_a_question_is_answered_with_its_sources_and_figures(asked):
    said = asked[1].json()
    assert said["status"] == "ANSWERED"
    assert "notarized proof of funds" in said["answer"]
    assert said["sources"][0]["name"] == "Global_AML_Policy_2026.pdf"
    assert said["sources"][0]["page"] == 42
    assert said["claims_verified"] == said["total_claims"] >= 1
    assert said["grounding_confidence"] >= 0.8


def test_the_quoted_words_are_marked_on_their_page(client, asked):
    (citation, *_) = asked[1].json()["statements"][0]["citations"]
    span = citation["document_span"]
    path = f"/v1/documents/{citation['document_id']}/pages/{citation['page_number']}.png"
    plain = image(client.get(path, params={"dpi": 72}))
    marked = image(
        client.get(path, params={"dpi": 72, "highlight": f"{span['start']}-{span['end']}"})
    )
    box = citation["regions"][0]["box"]
    middle = (round(box["left"]) + 2, round((box["top"] + box["bottom"]) / 2))
    assert marked.size == plain.size
    assert marked.getpixel(middle) != plain.getpixel(middle)
    assert marked.getpixel((2, 2)) == plain.getpixel((2, 2))


def image(reply):
    assert reply.headers["content-type"] == "image/png"
    return Image.open(io.BytesIO(reply.content)).convert("RGB")


def test_the_conversation_is_listed_as_it_was_answered(client, asked):
    body, reply = asked
    said = client.get(f"/v1/conversations/{body['conversation_id']}/answers").json()
    (answer,) = said["answers"]
    assert answer["statements"] == reply.json()["statements"]
    assert answer["trace_id"] == reply.json()["trace_id"]
    quality = client.get(f"/v1/conversations/{body['conversation_id']}/quality").json()
    assert quality["answer_count"] == 1


def test_the_stream_ends_with_the_answer(client):
    reply = client.post("/grounded_query/stream", json={"query": AML})
    names = [name for name, _ in parsed(reply.text)]
    assert names[-2:] == ["answer", "grounded_answer"]
    assert names.index("statement_verified") < names.index("answer")
    assert "error" not in names


def test_a_file_that_is_uploaded_can_be_asked_about_and_deleted(client):
    word = uuid.uuid4().hex
    text = f"The custodian of vault {word} keeps its key for nine years."
    reply = client.post(
        "/v1/documents",
        data={"authority": "AUTHORITY_HIGH"},
        files={"file": (f"{word}.md", text.encode())},
        headers={"accept": "text/event-stream"},
    )
    name, data = parsed(reply.text)[-1]
    assert name == "result", reply.text
    document = json.loads(data)["document"]
    said = client.post("/grounded_query", json={"query": f"How long is vault {word}'s key kept?"})
    assert [source["id"] for source in said.json()["sources"]] == [document["id"]]
    assert client.delete(f"/v1/documents/{document['id']}").status_code == 200
    assert client.get(f"/v1/documents/{document['id']}").status_code == 404


def test_the_question_and_the_services_are_one_trace(system, asked):
    trace = asked[1].json()["trace_id"]
    assert asked[1].headers["traceparent"].split("-")[1] == trace
    receiver: Receiver = system.receiver
    ours = ("gateway", "POST /grounded_query", SERVER)
    spans = receiver.wait_for(
        lambda seen: ours in {(s.service, s.name, s.kind) for s in seen if s.trace_id == trace}
    )
    mine = [s for s in spans if s.trace_id == trace]
    (root,) = [s for s in mine if (s.service, s.name, s.kind) == ours]
    (call,) = [s for s in mine if s.service == "gateway" and s.kind == CLIENT]
    (served,) = [s for s in mine if s.service == "orchestrator" and s.kind == SERVER]
    assert call.parent_id == root.span_id
    assert served.parent_id == call.span_id
    assert {"retrieval", "generation", "verification"} <= {s.service for s in mine}
