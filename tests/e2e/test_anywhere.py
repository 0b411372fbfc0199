"""What any installation does, here or in a cluster: `make e2e TARGET=host:port` asks one that runs.

It brings its own document, asks about it, and takes it away again.
"""

import json
import uuid

import httpx
import pytest

from tests.gateway_parts import parsed

pytestmark = pytest.mark.anywhere


@pytest.fixture(scope="module")
def word():
    return f"vault {uuid.uuid4().hex[:12]}"


@pytest.fixture(scope="module")
def document(gateway, word):
    text = f"# Keys\n\nThe custodian of {word} keeps its key for nine years.\n"
    reply = gateway.post(
        "/v1/documents",
        files={"file": (f"{word.replace(' ', '-')}.md", text.encode())},
        headers={"accept": "text/event-stream"},
    )
    name, data = parsed(reply.text)[-1]
    assert name == "result", reply.text
    found = json.loads(data)["document"]
    yield found
    gateway.delete(f"/v1/documents/{found['id']}")


@pytest.fixture(scope="module")
def asked(gateway, document, word):
    body = {
        "query": f"How long does the custodian of {word} keep its key?",
        "conversation_id": f"anywhere-{uuid.uuid4().hex}",
    }
    reply = gateway.post("/grounded_query", json=body)
    assert reply.status_code == 200, reply.text
    return body, reply.json()


def test_it_is_ready(gateway):
    assert gateway.get("/readyz").status_code == 200


def test_it_answers_from_what_it_was_given_and_names_the_source(asked, document):
    said = asked[1]
    assert said["status"] == "ANSWERED"
    assert "nine years" in said["answer"]
    assert document["id"] in [source["id"] for source in said["sources"]]
    assert said["claims_verified"] >= 1


def test_it_says_that_it_does_not_know(gateway):
    nonsense = f"What is the penalty for late filing of form {uuid.uuid4().hex}?"
    said = gateway.post("/grounded_query", json={"query": nonsense}).json()
    assert said["status"] == "ABSTAINED"
    assert said["statements"] == []


def test_it_streams_and_ends_with_the_answer(gateway, asked):
    reply = gateway.post("/grounded_query/stream", json={"query": asked[0]["query"]})
    names = [name for name, _ in parsed(reply.text)]
    assert names[-2:] == ["answer", "grounded_answer"]


def test_it_remembers_the_conversation(gateway, asked):
    body, said = asked
    path = f"/v1/conversations/{body['conversation_id']}/answers"
    (answer,) = gateway.get(path).json()["answers"]
    assert answer["trace_id"] == said["trace_id"]


def test_a_bad_question_is_named(gateway):
    reply = gateway.post("/grounded_query", json={"query": ""})
    assert reply.status_code == 400


def test_what_is_deleted_is_gone(gateway, word):
    text = f"The keeper of the second {word} sleeps."
    reply = gateway.post(
        "/v1/documents",
        files={"file": ("second.md", text.encode())},
        headers={"accept": "text/event-stream"},
    )
    second = json.loads(parsed(reply.text)[-1][1])["document"]
    assert gateway.delete(f"/v1/documents/{second['id']}").status_code == 200
    assert gateway.get(f"/v1/documents/{second['id']}").status_code == 404


def test_nobody_is_let_in_without_a_token_where_one_is_needed(gateway):
    if "authorization" not in gateway.headers:
        pytest.skip("no token was given: everybody is let in")
    bare = httpx.Client(base_url=gateway.base_url, trust_env=False)
    with bare:
        assert bare.get("/v1/documents").status_code == 401
