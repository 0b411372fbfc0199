"""Clients that go away, streams that are quiet, and files on their way through the gateway."""

import asyncio
import json
import tracemalloc
from contextlib import asynccontextmanager

import pytest

from services.chassis.errors import InvalidInput, Unavailable
from tests.gateway_parts import gateway, parsed
from tests.observed import eventually

ASKED = json.dumps({"query": "What must be submitted?"}).encode()
KINDS = {
    "unary": ("/grounded_query", ASKED),
    "stream": ("/grounded_query/stream", ASKED),
    "twin": ("/v1/ask-stream", b'{"ask": {"question": "Why?"}}'),
}


@pytest.fixture
async def served():
    async with gateway(heartbeat_seconds=0.02) as running:
        yield running


@asynccontextmanager
async def connection(served):
    """A plain connection, which can be dropped at any moment."""
    host, _, port = served.url.removeprefix("http://").rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        yield reader, writer
    finally:
        writer.close()


def request(path, body, length=None, kind="application/json"):
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
        f"Content-Length: {len(body) if length is None else length}\r\n\r\n"
    )
    return head.encode() + body


@pytest.mark.parametrize("kind", KINDS)
async def test_a_client_that_goes_away_cancels_the_call_behind_it(served, kind):
    served.behaviour.held = asyncio.Event()
    async with connection(served) as (_, writer):
        writer.write(request(*KINDS[kind]))
        await served.behaviour.asked.wait()
    async with asyncio.timeout(5):
        await served.behaviour.cancelled.wait()


async def test_a_client_that_goes_away_in_the_middle_of_a_stream_cancels_it(served):
    served.behaviour.held, served.behaviour.error_after = asyncio.Event(), 2
    async with connection(served) as (reader, writer):
        writer.write(request(*KINDS["stream"]))
        await reader.readuntil(b"event: stage_finished")
    async with asyncio.timeout(5):
        await served.behaviour.cancelled.wait()


async def test_a_quiet_stream_is_kept_alive_with_comments(served):
    served.behaviour.held, served.behaviour.error_after = asyncio.Event(), 1
    async with connection(served) as (reader, writer):
        writer.write(request(*KINDS["stream"]))
        async with asyncio.timeout(5):
            await reader.readuntil(b": keep-alive")
            await reader.readuntil(b": keep-alive")
            served.behaviour.held.set()
            await reader.readuntil(b"event: grounded_answer")


async def test_a_client_that_reads_nothing_is_given_up(caplog):
    async with gateway(send_seconds=0.2, max_in_flight=1, heartbeat_seconds=0.2) as served:
        served.behaviour.flood = True
        async with connection(served) as (_, writer):
            writer.write(request(*KINDS["stream"]))
            async with asyncio.timeout(10):
                await served.behaviour.cancelled.wait()

            async def free():
                return (await served.client.get("/v1/documents")).status_code == 200

            async with asyncio.timeout(5):
                while not await free():  # noqa: ASYNC110 - the gateway says it by answering
                    await asyncio.sleep(0.01)
    assert "unexpected_error" not in caplog.text


async def test_a_stream_begins_before_a_slow_first_event(served):
    served.behaviour.held, served.behaviour.error_after = asyncio.Event(), 0
    async with connection(served) as (reader, writer):
        writer.write(request(*KINDS["stream"]))
        async with asyncio.timeout(5):
            assert b" 200 " in await reader.readline()
            await reader.readuntil(b": keep-alive")
            served.behaviour.held.set()
            await reader.readuntil(b"event: answer")


async def test_a_file_as_a_body_is_ingested_with_the_metadata_of_the_query(served):
    query = "source_name=a%20b.txt&document_type=policy&authority=AUTHORITY_HIGH&tags=x&tags=y"
    reply = await served.client.post(f"/v1/documents?{query}", content=b"text" * 100_000)
    assert reply.status_code == 200
    assert reply.json()["outcome"] == "OUTCOME_CREATED"
    assert reply.json()["document"]["source_name"] == "a b.txt"
    (first,) = served.behaviour.requests
    assert (first.metadata.document_type, first.metadata.authority) == ("policy", 3)
    assert (list(first.metadata.tags), first.metadata.size_bytes) == (["x", "y"], 400_000)
    assert served.behaviour.uploaded == b"text" * 100_000


async def test_a_file_in_a_form_is_ingested_with_its_fields_and_its_name(served):
    reply = await served.client.post(
        "/v1/documents",
        data={"authority": "AUTHORITY_MEDIUM", "tags": ["x", "y"]},
        files={"file": ("Prüfung.pdf", b"%PDF" + bytes(300_000))},
    )
    assert reply.json()["document"]["source_name"] == "Prüfung.pdf"
    (first,) = served.behaviour.requests
    assert (first.metadata.authority, list(first.metadata.tags)) == (2, ["x", "y"])
    assert served.behaviour.uploaded == b"%PDF" + bytes(300_000)


async def test_progress_comes_as_events(served):
    reply = await served.client.post(
        "/v1/documents?source_name=a.txt",
        content=b"text",
        headers={"accept": "text/event-stream"},
    )
    found = parsed(reply.text)
    assert [name for name, _ in found] == ["progress", "progress", "result"]
    assert json.loads(found[1][1])["bytes_received"] == "4"
    assert json.loads(found[2][1])["outcome"] == "OUTCOME_CREATED"


@pytest.mark.parametrize("form", [True, False], ids=["form", "body"])
async def test_a_large_file_is_never_whole_in_memory(served, form):
    piece = bytes(256 * 1024)

    async def content():
        if form:
            yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n'
        for _ in range(128):
            yield piece
        if form:
            yield b"\r\n--b--\r\n"

    sink = _Sink()
    served.behaviour.uploaded = sink
    kind = "multipart/form-data; boundary=b" if form else "application/octet-stream"
    tracemalloc.start()
    try:
        reply = await served.client.post(
            "/v1/documents" + ("" if form else "?source_name=a.bin"),
            content=content(),
            headers={"content-type": kind},
        )
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert reply.status_code == 200, reply.text
    assert len(sink) == 32 * 2**20
    assert peak < 12 * 2**20


class _Sink:
    def __init__(self):
        self.count = 0

    def __iadd__(self, data):
        self.count += len(data)
        return self

    def __len__(self):
        return self.count


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_half_a_file_is_none(served, accept):
    async with connection(served) as (_, writer):
        head = request("/v1/documents?source_name=a.txt", b"half", length=100, kind="text/plain")
        writer.write(head.replace(b"Host:", f"Accept: {accept}\r\nHost:".encode()))
        await served.behaviour.asked.wait()
        await eventually(lambda: served.behaviour.uploaded == b"half")
    async with asyncio.timeout(5):
        await served.behaviour.cancelled.wait()


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_a_refused_file_is_a_problem_whose_client_may_still_be_sending(accept):
    async with gateway() as served:
        served.behaviour.error = InvalidInput("It is too large.", reason="TOO_LARGE")
        reply = await served.client.post(
            "/v1/documents?source_name=a.txt", content=bytes(8 * 2**20), headers={"accept": accept}
        )
    assert (reply.status_code, reply.json()["reason"]) == (400, "TOO_LARGE")
    assert served.behaviour.uploaded == b""


async def test_a_file_that_fails_later_is_an_event_for_one_who_watches(served):
    served.behaviour.error, served.behaviour.error_after = Unavailable("down"), 0
    reply = await served.client.post(
        "/v1/documents?source_name=a", content=b"x", headers={"accept": "text/event-stream"}
    )
    assert [name for name, _ in parsed(reply.text)] == ["progress", "progress", "error"]


def part(name, value, filename=None):
    more = f'; filename="{filename}"' if filename is not None else ""
    head = f'--b\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n'
    return head.encode() + value + b"\r\n"


FORMS = {
    "no file": part("authority", b"AUTHORITY_HIGH") + b"--b--\r\n",
    "empty": b"",
    "garbage": b"garbage",
    "cut short": part("file", b"text", "a.txt"),
    "two files": part("file", b"1", "a") + part("file", b"2", "b") + b"--b--\r\n",
    "a field after the file": part("file", b"1", "a") + part("tags", b"x") + b"--b--\r\n",
    "an unknown field": part("tenant", b"x") + part("file", b"1", "a") + b"--b--\r\n",
    "a field without a name": b"--b\r\n\r\nx\r\n" + part("file", b"1", "a") + b"--b--\r\n",
    "a long field": part("tags", b"x" * 5000) + part("file", b"1", "a") + b"--b--\r\n",
    "many fields": part("tags", b"x") * 100 + part("file", b"1", "a") + b"--b--\r\n",
    "a field not UTF-8": part("tags", b"\xff") + part("file", b"1", "a") + b"--b--\r\n",
    "an unknown authority": part("authority", b"GOD") + part("file", b"1", "a") + b"--b--\r\n",
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_a_form_that_is_none_is_refused_and_ingests_nothing(served, form, accept):
    reply = await served.client.post(
        "/v1/documents",
        content=form,
        headers={"content-type": "multipart/form-data; boundary=b", "accept": accept},
    )
    if reply.status_code == 200:  # It had begun, and its client watches.
        assert parsed(reply.text)[-1][0] == "error"
        assert '"code":"INVALID_ARGUMENT"' in parsed(reply.text)[-1][1]
    else:
        assert reply.status_code == 400
        assert reply.json()["code"] == "INVALID_ARGUMENT"
    if served.behaviour.requests:
        await eventually(served.behaviour.cancelled.is_set)
        assert served.behaviour.cancelled.is_set()


async def test_a_form_without_a_boundary_is_refused(served):
    headers = {"content-type": "multipart/form-data"}
    reply = await served.client.post("/v1/documents", content=b"x", headers=headers)
    assert reply.status_code == 400
