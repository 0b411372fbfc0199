"""The retrieval service as a process: what it keeps, whatever ends it."""

import asyncio
import json
import os
import signal
import sys
from contextlib import asynccontextmanager

import grpc
import pytest
from pydantic import ValidationError
from verity.v1 import retrieval_service_pb2 as pb
from verity.v1.retrieval_service_pb2_grpc import RetrievalServiceStub

from services.chassis.client import channel
from services.retrieval.__main__ import Settings

OLD = b"# 4 Ownership\n\nA UBO above 25% must submit a notarized proof of funds.\n"
NEW = b"".join(
    b"# %d Ownership\n\nClause %d of the new policy.\n\n" % (n, n) for n in range(1, 300)
)
SECONDS = 60


@asynccontextmanager
async def retrieval(directory):
    """The process, once it is ready, and a stub."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "services.retrieval"),
        env={**os.environ, "VERITY_DATA_DIR": str(directory)},
        stderr=asyncio.subprocess.PIPE,
    )
    lines = []
    try:
        async with asyncio.timeout(SECONDS):
            while not lines or lines[-1].get("event") != "ready":
                raw = await process.stderr.readline()
                assert raw, lines
                lines.append(json.loads(raw))
        # What is not read would fill the pipe and stop the process.
        drain = asyncio.create_task(process.stderr.read())
        (address,) = [line["address"] for line in lines if line["event"] == "listening"]
        async with channel(address, service="verity.v1.RetrievalService", idempotent=[]) as opened:
            yield process, RetrievalServiceStub(opened)
        drain.cancel()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def upload(stub, name, data):
    """Events of an ingest, as they come."""
    call = stub.IngestDocument()
    await call.write(pb.IngestDocumentRequest(metadata=pb.IngestMetadata(source_name=name)))
    for start in range(0, len(data), 1 << 20):
        await call.write(pb.IngestDocumentRequest(chunk=data[start : start + (1 << 20)]))
    await call.done_writing()
    async for event in call:
        yield event


async def texts(stub, query):
    reply = await stub.Retrieve(pb.RetrieveRequest(query=query), wait_for_ready=True)
    return [passage.text for passage in reply.passages], reply.report


async def test_a_killed_ingest_leaves_the_old_version_and_a_signal_loses_nothing(directory):
    async with retrieval(directory) as (process, stub):
        events = [event async for event in upload(stub, "policy.md", OLD)]
        assert events[-1].result.document.version == 1
        replacing = upload(stub, "policy.md", NEW)
        while not (await anext(replacing)).progress.passages_embedded:
            pass
        process.kill()
        with pytest.raises(grpc.aio.AioRpcError):
            _ = [event async for event in replacing]
        assert await process.wait() == -signal.SIGKILL

    async with retrieval(directory) as (process, stub):
        found, report = await texts(stub, "who must submit a notarized proof of funds")
        assert len(found) == 1
        assert "above 25%" in found[0]
        assert (report.document_count, report.passage_count) == (1, 1)
        stored = (directory / "originals").rglob("original")
        assert [path.read_bytes() for path in stored] == [OLD]

        events = [event async for event in upload(stub, "policy.md", NEW)]
        assert events[-1].result.outcome == pb.IngestDocumentResponse.Result.OUTCOME_REPLACED
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(SECONDS):
            assert await process.wait() == 0

    async with retrieval(directory) as (process, stub):
        found, report = await texts(stub, "what does clause 8 say")
        assert any("Clause 8 of" in text for text in found)
        assert report.document_count == 1
        assert report.passage_count == events[-1].result.document.passage_count


@pytest.mark.parametrize("profile", ["dev", "prod"])
def test_a_key_is_sent_in_the_clear_on_this_machine_only(profile):
    with pytest.raises(ValidationError, match="in the clear") as caught:
        Settings(
            profile=profile, auth="none", qdrant_url="http://qdrant:6333", qdrant_api_key="hunter2"
        )
    assert "hunter2" not in str(caught.value)
    for url in ("https://qdrant:6333", "http://127.0.0.1:6333"):
        Settings(profile=profile, auth="none", qdrant_url=url, qdrant_api_key="hunter2")
