"""What a client of the gateway hears when something is wrong, as problem details."""

import json

import grpc
import pytest

from services.chassis.errors import (
    Aborted,
    FailedPrecondition,
    InvalidInput,
    NotFound,
    OutOfRange,
    Overloaded,
    Unavailable,
    Violation,
)
from services.gateway.problem import HTTP
from services.gateway.upstream import Deadlines
from tests.gateway_parts import gateway, parsed

ASKED = {"query": "What must be submitted?"}


@pytest.fixture
async def served():
    async with gateway() as running:
        yield running


def test_every_status_of_grpc_has_its_http_status():
    assert set(HTTP) == set(grpc.StatusCode)


@pytest.mark.parametrize(
    ("error", "http", "code"),
    [
        (
            InvalidInput("wrong", violations=(Violation("query", "is odd"),)),
            400,
            "INVALID_ARGUMENT",
        ),
        (NotFound("none"), 404, "NOT_FOUND"),
        (OutOfRange("past"), 400, "OUT_OF_RANGE"),
        (FailedPrecondition("no"), 400, "FAILED_PRECONDITION"),
        (Aborted("busy"), 409, "ABORTED"),
        (Overloaded("full", retry_after=2.5), 429, "RESOURCE_EXHAUSTED"),
        (Unavailable("down"), 503, "UNAVAILABLE"),
        (NotImplementedError(), 501, "UNIMPLEMENTED"),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("path", ["/grounded_query", "/grounded_query/stream"])
async def test_a_status_becomes_its_problem(served, path, error, http, code):
    served.behaviour.error = error
    reply = await served.client.post(path, json=ASKED)
    assert reply.status_code == http
    assert reply.headers["content-type"] == "application/problem+json"
    said = reply.json()
    assert (said["status"], said["code"]) == (http, code)
    assert said["type"] == f"urn:verity:problem:{code}"
    assert said["title"]
    assert (
        said["trace_id"] == reply.headers.get("traceparent", "-" * 40)[3:35] or not said["trace_id"]
    )
    if code == "INVALID_ARGUMENT":
        assert said["violations"] == [{"field": "query", "description": "is odd"}]
    if code == "RESOURCE_EXHAUSTED":
        assert said["retry_after_seconds"] == 2.5
        assert reply.headers["retry-after"] == "3"


async def test_a_files_reason_is_in_the_problem(served):
    served.behaviour.error = InvalidInput("locked", reason="ENCRYPTED_FILE")
    reply = await served.client.post("/v1/documents?source_name=a.pdf", content=b"%PDF")
    assert (reply.status_code, reply.json()["reason"]) == (400, "ENCRYPTED_FILE")


async def test_a_crash_leaves_as_an_id_and_no_word_of_it(served):
    served.behaviour.error = ValueError("secret dsn")
    reply = await served.client.post("/grounded_query", json=ASKED)
    assert reply.status_code == 500
    assert reply.json()["detail"] == "internal error"
    assert reply.json()["error_id"]
    assert "secret" not in reply.text


async def test_a_service_that_is_down_is_unavailable_and_names_no_address(served):
    async with gateway(targets={"verity.v1.GroundingService": "127.0.0.1:1"}) as running:
        reply = await running.client.post("/grounded_query", json=ASKED)
        assert reply.status_code == 503
        assert reply.headers["retry-after"] == "1"
        assert "127.0.0.1" not in reply.text


@pytest.mark.parametrize("path", ["/grounded_query/stream", "/v1/ask-stream"])
async def test_a_failure_in_the_middle_of_a_stream_is_its_last_event(served, path):
    served.behaviour.error, served.behaviour.error_after = Unavailable("down"), 2
    body = ASKED if "grounded" in path else {"ask": {"question": "Why?"}}
    reply = await served.client.post(path, json=body)
    assert reply.status_code == 200
    names = [name for name, _ in parsed(reply.text)]
    assert names == ["stage_started", "stage_finished", "error"]
    said = json.loads(parsed(reply.text)[-1][1])
    assert (said["code"], said["status"], said["detail"]) == ("UNAVAILABLE", 503, "down")


async def test_each_call_has_a_deadline_and_the_client_may_only_shorten_it():
    async with gateway(deadlines=Deadlines(call=5, ask=7, ingest=9)) as served:
        await served.client.post("/grounded_query", json=ASKED)
        await served.client.get("/v1/documents")
        await served.client.post("/v1/documents?source_name=a", content=b"x")
        await served.client.post("/grounded_query", json=ASKED, headers={"grpc-timeout": "2S"})
        await served.client.post("/grounded_query", json=ASKED, headers={"grpc-timeout": "1H"})
    left = served.behaviour.remaining
    assert [round(seconds + 0.49) for seconds in left] == [7, 5, 9, 2, 7]


async def test_a_deadline_that_passes_is_a_gateway_timeout():
    async with gateway(deadlines=Deadlines(ask=0.1)) as served:
        hold(served)
        reply = await served.client.post("/grounded_query", json=ASKED)
    assert (reply.status_code, reply.json()["code"]) == (504, "DEADLINE_EXCEEDED")


def hold(served):
    import asyncio  # noqa: PLC0415

    served.behaviour.held = asyncio.Event()


@pytest.mark.parametrize("given", ["soon", "5", "-1S", "5s", "123456789S"])
async def test_a_timeout_that_is_none_is_refused(served, given):
    reply = await served.client.post("/grounded_query", json=ASKED, headers={"grpc-timeout": given})
    assert reply.status_code == 400


BODIES = {
    "empty": b"",
    "no JSON": b"query=why",
    "a list": b"[]",
    "a string": b'"why"',
    "cut short": b'{"query": "why',
    "not UTF-8": b'{"query": "\xff\xfe"}',
    "UTF-16": '{"query": "why"}'.encode("utf-16"),
    "half a character": b'{"query": "\\ud800"}',
    "twice": b'{"query": "a", "query": "b"}',
    "NaN": b'{"query": NaN}',
    "a number": b'{"query": 7}',
    "an object": b'{"query": {}}',
    "nested deeply": b'{"query":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "a long number": b'{"query": ' + b"9" * 10_000 + b"}",
    "null": b"null",
    "unknown": b'{"query": "why", "tenant": "theirs"}',
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("path", ["/grounded_query", "/v1/check-grounding"])
async def test_a_body_that_is_no_request_is_refused_and_nothing_is_called(served, path, body):
    json_type = {"content-type": "application/json"}
    reply = await served.client.post(path, content=body, headers=json_type)
    assert reply.status_code == 400
    assert reply.json()["code"] == "INVALID_ARGUMENT"
    assert served.behaviour.requests == []


@pytest.mark.parametrize(
    "kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data",
             "application/json; charset=utf-16", "application/jsonp"],
)  # fmt: skip
async def test_a_body_of_another_type_is_refused(served, kind):
    headers = {"content-type": kind} if kind else {}
    reply = await served.client.post("/grounded_query", content=b'{"query": "a"}', headers=headers)
    assert reply.status_code == 415
    assert served.behaviour.requests == []


async def test_a_compressed_body_is_refused(served):
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    reply = await served.client.post("/grounded_query", content=b"\x1f\x8b", headers=headers)
    assert reply.status_code == 415


async def test_a_question_of_a_megabyte_is_refused_by_the_rule_of_its_proto(served):
    reply = await served.client.post("/grounded_query", json={"query": "why " * 2**18})
    assert reply.status_code == 400
    assert reply.json()["violations"][0]["field"] == "question"
    assert len(reply.content) < 4096


async def test_a_body_over_the_limit_is_refused_and_the_client_hears_why():
    async with gateway(max_body_bytes=1024) as served:
        reply = await served.client.post("/grounded_query", json={"query": "x" * 2**20})
        assert (reply.status_code, reply.json()["reason"]) == (413, "TOO_LARGE")


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/v1/documents?page_size=many", ""),
        ("/v1/documents?page_size=1&page_size=2", "page_size"),
        ("/v1/documents?nothing=1", "nothing"),
        ("/v1/documents/d1?document_id=d2", "document_id"),
        ("/v1/documents?page_size=-1", ""),
        ("/v1/documents?page_size=4294967296", ""),
        ("/v1/documents/d1/pages/one.png", ""),
        ("/v1/documents/d1/pages/1.png?highlight=1", "highlights"),
        ("/v1/documents/d1/pages/1.png?highlight=-1-2", "highlights"),
        ("/v1/documents/d1/pages/1.png?highlight=1-99999999999", "highlights"),
    ],
)
async def test_a_query_that_fits_no_field_is_refused(served, path, field):
    reply = await served.client.get(path)
    assert reply.status_code == 400, reply.text
    assert [v["field"] for v in reply.json()["violations"]] == ([field] if field else [])
    assert served.behaviour.requests == []


async def test_a_nul_in_a_path_or_a_query_is_a_character_like_any_other(served):
    reply = await served.client.get("/v1/documents/a%00b")
    assert reply.json()["document"]["id"] == "a\0b"
    reply = await served.client.get("/v1/documents?page_token=%00")
    assert reply.status_code == 200
    assert served.behaviour.requests[-1].page_token == "\0"


@pytest.mark.parametrize("path", ["/v1/documents/%ff", "/v1/documents?page_token=%ff"])
async def test_a_path_or_a_query_that_is_not_utf_8_breaks_nothing(served, path):
    assert (await served.client.get(path)).status_code in (200, 400, 404)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/nothing", 404),
        ("GET", "/nothing", 404),
        ("POST", "/v1/documents/d1", 405),
        ("GET", "/grounded_query", 405),
        ("PUT", "/v1/ask", 405),
        ("POST", "/", 405),
        ("TRACE", "/healthz", 405),
    ],
)
async def test_an_unknown_route_or_method_is_a_problem(served, method, path, status):
    reply = await served.client.request(method, path)
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["status"] == status
    assert ("allow" in reply.headers) == (status == 405)


async def test_head_is_get_without_its_body_and_options_says_what_there_is(served):
    head = await served.client.head("/v1/documents/d1")
    assert head.status_code == 200
    assert head.content == b""
    options = await served.client.options("/v1/documents/d1")
    assert (options.status_code, options.headers["allow"]) == (204, "DELETE, GET, HEAD, OPTIONS")
    assert len(served.behaviour.requests) == 1
