"""What stands around every request to the gateway: headers, limits, origins, traces, health."""

import asyncio
import json
import logging

import httpx
import pytest
from opentelemetry.trace import SpanKind
from pydantic import ValidationError

from services.gateway.__main__ import Settings, listed
from services.gateway.edge import CONTENT_SECURITY_POLICY
from tests.gateway_parts import gateway

ASKED = {"query": "What must be submitted?"}
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@pytest.fixture
async def served():
    async with gateway() as running:
        yield running


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/grounded_query"),
        ("POST", "/grounded_query/stream"),
        ("GET", "/v1/documents"),
        ("GET", "/v1/documents/d1/pages/1.png"),
        ("GET", "/v1/nothing"),
        ("OPTIONS", "/v1/documents"),
        ("GET", "/healthz"),
        ("GET", "/openapi.json"),
        ("GET", "/"),
    ],
)
async def test_every_answer_has_the_headers_that_are_documented(served, method, path):
    reply = await served.client.request(method, path, json=ASKED if method == "POST" else None)
    assert HEADERS.items() <= dict(reply.headers).items()
    assert "no-store" in reply.headers["cache-control"]
    assert "server" not in reply.headers


def test_the_policy_lets_no_other_site_frame_script_or_fill_the_page():
    directives = dict(d.split(" ", 1) for d in CONTENT_SECURITY_POLICY.split("; "))
    assert directives["default-src"] == "'none'"
    assert directives["frame-ancestors"] == "'none'"
    assert directives["script-src"] == directives["connect-src"] == "'self'"
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    assert "http" not in CONTENT_SECURITY_POLICY


async def test_a_client_that_asks_too_often_is_told_to_wait():
    async with gateway(rate_per_second=0.5, rate_burst=2) as served:
        replies = [await served.client.get("/v1/documents") for _ in range(3)]
        assert [reply.status_code for reply in replies] == [200, 200, 429]
        assert replies[2].headers["retry-after"] == "2"
        assert replies[2].headers["content-type"] == "application/problem+json"
        assert replies[2].json()["reason"] == "RATE_LIMITED"
        # What costs nothing is not counted.
        assert (await served.client.get("/healthz")).status_code == 200


async def test_each_client_behind_a_proxy_that_is_believed_is_counted_by_itself():
    async with gateway(rate_per_second=0.1, rate_burst=1, proxies="127.0.0.1") as served:
        codes = [
            (await served.client.get("/v1/documents", headers={"x-forwarded-for": who})).status_code
            for who in ("192.0.2.1", "192.0.2.1", "192.0.2.2")
        ]
        assert codes == [200, 429, 200]


async def test_a_forwarded_address_is_not_believed_from_anyone_else():
    async with gateway(rate_per_second=0.1, rate_burst=1) as served:
        codes = [
            (await served.client.get("/v1/documents", headers={"x-forwarded-for": who})).status_code
            for who in ("192.0.2.1", "192.0.2.2")
        ]
        assert codes == [200, 429]


async def test_requests_over_capacity_are_turned_away_at_once():
    async with gateway(max_in_flight=1) as served:
        held = served.behaviour.held = asyncio.Event()
        first = asyncio.create_task(served.client.post("/grounded_query", json=ASKED))
        await served.behaviour.asked.wait()
        second = await served.client.post("/grounded_query", json=ASKED)
        assert (second.status_code, second.json()["reason"]) == (429, "OVERLOADED")
        held.set()
        assert (await first).status_code == 200
        assert (await served.client.post("/grounded_query", json=ASKED)).status_code == 200


async def test_a_page_of_another_origin_may_neither_send_nor_read(served):
    foreign = {"origin": "https://evil.example"}
    reply = await served.client.post("/v1/documents?source_name=a", content=b"x", headers=foreign)
    assert (reply.status_code, reply.json()["reason"]) == (403, "FOREIGN_ORIGIN")
    assert served.behaviour.requests == []
    reply = await served.client.get("/v1/documents", headers=foreign)
    assert "access-control-allow-origin" not in reply.headers


@pytest.mark.parametrize("origin", ["null", "https://evil.example:80", "http://127.0.0.1:1", "x"])
async def test_what_only_looks_like_the_own_origin_is_another(served, origin):
    reply = await served.client.post("/grounded_query", json=ASKED, headers={"origin": origin})
    assert reply.status_code == 403


async def test_the_own_page_may_send(served):
    reply = await served.client.post("/grounded_query", json=ASKED, headers={"origin": served.url})
    assert reply.status_code == 200


async def test_an_origin_that_is_named_may_send_and_read():
    desk = {"origin": "https://desk.example"}
    async with gateway(origins=("https://desk.example",), credentials=True) as served:
        preflight = await served.client.options(
            "/grounded_query",
            headers={
                **desk,
                "access-control-request-method": "POST",
                "access-control-request-headers": "content-type",
            },
        )
        assert preflight.status_code == 200
        assert preflight.headers["access-control-allow-origin"] == "https://desk.example"
        reply = await served.client.post("/grounded_query", json=ASKED, headers=desk)
        assert reply.status_code == 200
        assert reply.headers["access-control-allow-origin"] == "https://desk.example"
        assert reply.headers["access-control-allow-credentials"] == "true"
        other = await served.client.get("/v1/documents", headers={"origin": "https://evil.example"})
        assert "access-control-allow-origin" not in other.headers


@pytest.mark.parametrize(
    ("origins", "credentials", "well"),
    [
        ("", "false", True),
        ("", "true", True),
        ("*", "false", True),
        ("*", "true", False),
        ("https://a.example, *", "true", False),
        ("https://a.example,http://localhost:5173", "true", True),
        ("a.example", "false", False),
        ("https://a.example/", "false", False),
        ("https://a.example/path", "false", False),
        ("javascript:alert(1)", "false", False),
    ],
)
def test_origins_that_are_none_or_too_many_refuse_to_start(monkeypatch, origins, credentials, well):
    monkeypatch.setenv("VERITY_CORS_ORIGINS", origins)
    monkeypatch.setenv("VERITY_CORS_CREDENTIALS", credentials)
    if well:
        assert len(listed(Settings().cors_origins)) == len([o for o in origins.split(",") if o])
    else:
        with pytest.raises(ValidationError):
            Settings()


async def test_any_origin_may_call_when_the_setting_says_so():
    async with gateway(origins=("*",)) as served:
        reply = await served.client.post(
            "/grounded_query", json=ASKED, headers={"origin": "https://a.example"}
        )
        assert reply.status_code == 200
        assert reply.headers["access-control-allow-origin"] == "*"


async def test_only_the_names_that_are_allowed_are_answered():
    async with gateway(hosts=frozenset({"127.0.0.1", "verity.example", "::1"})) as served:
        for host, status in [
            ("verity.example", 200), ("VERITY.example:8000", 200), ("[::1]:8000", 200),
            ("evil.example", 421), ("", 421), ("verity.example.evil.example", 421),
        ]:  # fmt: skip
            reply = await served.client.get("/v1/documents", headers={"host": host})
            assert reply.status_code == status, host
        # A probe of Kubernetes asks by the pod's address.
        assert (await served.client.get("/healthz", headers={"host": "10.1.2.3"})).is_success


async def test_the_trace_comes_in_goes_on_and_is_told(observed):
    parent = f"00-{'12' * 16}-{'34' * 8}-01"
    async with gateway() as served:
        reply = await served.client.get("/v1/documents/d1", headers={"traceparent": parent})
        told = served.behaviour.metadata[0]["traceparent"]
        servers = await observed.ended(2, SpanKind.SERVER)
    (ours,) = [span for span in servers if span.name == "GET /v1/documents/{document_id}"]
    assert ours.parent.span_id == int("34" * 8, 16)
    assert ours.attributes["http.response.status_code"] == 200
    assert ours.attributes["http.route"] == "/v1/documents/{document_id}"
    assert reply.headers["traceparent"].split("-")[1] == "12" * 16
    assert reply.headers["traceparent"].split("-")[2] == f"{ours.context.span_id:016x}"
    (client,) = await observed.ended(1, SpanKind.CLIENT)
    assert client.parent.span_id == ours.context.span_id
    assert told.split("-")[1:3] == ["12" * 16, f"{client.context.span_id:016x}"]


@pytest.mark.parametrize(
    "given", ["", "garbage", f"00-{'0' * 32}-{'34' * 8}-01", "00-" + "1" * 5000]
)
async def test_a_trace_that_is_none_starts_a_new_one(observed, given):
    async with gateway() as served:
        reply = await served.client.get("/v1/documents/d1", headers={"traceparent": given})
    assert reply.status_code == 200
    assert set(reply.headers["traceparent"].split("-")[1]) != {"0"}


async def test_a_problem_names_its_trace(observed):
    async with gateway() as served:
        reply = await served.client.get("/v1/nothing")
    assert reply.json()["trace_id"] == reply.headers["traceparent"].split("-")[1]


async def test_no_other_header_of_a_client_reaches_a_service(served):
    spoofed = {
        "x-tenant": "theirs",
        "grpc-trace-bin": "AAAA",
        "baggage": "tenant=theirs",
        "authorization": "Bearer x",
        "x-forwarded-for": "192.0.2.1",
    }
    await served.client.get("/v1/documents", headers=spoofed)
    assert not served.behaviour.metadata[0].keys() & spoofed.keys()


async def test_requests_are_measured_by_route_and_status(observed):
    async with gateway() as served:
        await served.client.get("/v1/documents/d1")
        await served.client.get("/v1/documents/d2")
        await served.client.request("BREW", "/v1/documents/d2")
        points = observed.points("http.server.request.duration")
    seen = {
        tuple(point.attributes[key] for key in sorted(point.attributes)): point.count
        for point in points
    }
    route = "/v1/documents/{document_id}"
    assert seen == {("GET", 200, route): 2, ("_OTHER", 405, route): 1}


async def test_no_word_of_a_question_or_an_answer_is_logged_at_any_level(observed, caplog):
    caplog.set_level(logging.DEBUG)
    async with gateway(heartbeat_seconds=0.01) as served:
        for path in ("/grounded_query", "/grounded_query/stream"):
            await served.client.post(path, json={"query": "Zanzibar?"})
        await served.client.post("/grounded_query", content=b'{"query": "Zanzibar')
        await served.client.post("/grounded_query", json={"Zanzibar": 1})
        await served.client.get("/v1/documents?Zanzibar=1")
        served.behaviour.error = ValueError("boom")
        await served.client.post("/grounded_query", json={"query": "Zanzibar?"})
    # httpx and httpcore are the client's.
    ours = [r for r in caplog.records if not r.name.startswith(("http", "asyncio"))]
    assert len([record for record in ours if "'http'" in record.getMessage()]) == 6
    told = " ".join(f"{r.getMessage()} {r.__dict__}" for r in ours)
    assert "Zanzibar" not in told
    assert "notarized" not in told
    attributes = json.dumps([[s.name, dict(s.attributes)] for s in observed.spans], default=str)
    assert "Zanzibar" not in attributes


async def test_it_is_ready_while_every_service_serves(served):
    assert (await served.client.get("/readyz")).json() == {"status": "ready"}


async def test_it_is_not_ready_without_one_of_them_but_alive():
    async with gateway(targets={"verity.v1.GenerationService": "127.0.0.1:1"}) as served:
        reply = await served.client.get("/readyz")
        assert reply.status_code == 503
        assert reply.json()["detail"] == "Not serving: verity.v1.GenerationService."
        assert (await served.client.get("/healthz")).json() == {"status": "ok"}


async def test_it_is_not_ready_once_it_stops(served):
    served.draining.begun = True
    assert (await served.client.get("/readyz")).status_code == 503
    assert (await served.client.get("/v1/documents")).status_code == 200


async def test_probes_leave_no_span_and_no_line(observed, caplog):
    caplog.set_level(logging.INFO)
    async with gateway() as served:
        await served.client.get("/healthz")
        await served.client.get("/readyz")
    assert observed.spans == []
    assert not [record for record in caplog.records if "'http'" in record.getMessage()]


async def test_a_header_without_end_is_refused(served):
    try:
        reply = await served.client.get("/healthz", headers={"x-long": "x" * 2_000_000})
    except httpx.TransportError:
        pass  # The connection was closed while we were still writing.
    else:
        assert reply.status_code in (400, 431)
    assert (await served.client.get("/healthz")).status_code == 200
