"""The orchestrator as a process: wired by its settings, silent to the world, ended by a signal."""

import asyncio
import json
import os
import signal
import sys
from contextlib import asynccontextmanager

import grpc
import pytest
from fakes import FakeGeneration, FakeRetrieval, FakeVerification, draft, passage, statement
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1.generation_service_pb2_grpc import add_GenerationServiceServicer_to_server
from verity.v1.grounding_service_pb2_grpc import GroundingServiceStub
from verity.v1.retrieval_service_pb2_grpc import add_RetrievalServiceServicer_to_server
from verity.v1.verification_service_pb2_grpc import add_VerificationServiceServicer_to_server

from services.orchestrator.__main__ import Settings

SECONDS = 20


@asynccontextmanager
async def agents():
    """One server with all three fakes."""
    server = grpc.aio.server()
    add_RetrievalServiceServicer_to_server(FakeRetrieval(passage()), server)
    add_GenerationServiceServicer_to_server(FakeGeneration(draft(statement("Yes."))), server)
    add_VerificationServiceServicer_to_server(FakeVerification(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield f"127.0.0.1:{port}"
    await server.stop(None)


@asynccontextmanager
async def orchestrator(**environment):
    """The process, and where it listens."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "services.orchestrator"),
        env={**os.environ, **environment},
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(SECONDS):
            line = {}
            while line.get("event") != "listening":
                line = json.loads(await process.stderr.readline())
        yield process, line["address"]
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_it_answers_sends_nothing_to_a_tracing_service_and_ends_on_a_signal(tmp_path):
    strangers = []

    async def stranger(reader, writer):
        strangers.append(await reader.readline())
        writer.close()

    async with await asyncio.start_server(stranger, "127.0.0.1", 0) as sink, agents() as target:
        endpoint = f"http://127.0.0.1:{sink.sockets[0].getsockname()[1]}"
        async with (
            orchestrator(
                LANGSMITH_TRACING="true",
                LANGCHAIN_TRACING_V2="true",
                LANGSMITH_API_KEY="key",
                LANGSMITH_ENDPOINT=endpoint,
                VERITY_RETRIEVAL_TARGET=target,
                VERITY_GENERATION_TARGET=target,
                VERITY_VERIFICATION_TARGET=target,
                VERITY_REDIS_URL=f"unix://{tmp_path}/nobody",
            ) as (process, address),
            grpc.aio.insecure_channel(address) as channel,
        ):
            client = GroundingServiceStub(channel)
            asked = grounding.AskRequest(question="Must a UBO submit proof?")
            answer = (await client.Ask(asked, timeout=SECONDS, wait_for_ready=True)).answer
            assert answer.text == "Yes. [1]"
            assert answer.memory_degraded
            assert answer.trace_id
            process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(SECONDS):
                assert await process.wait() == 0
    assert strangers == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("VERITY_MAX_ATTEMPTS", "11"),
        ("VERITY_ANSWER_LOG_LENGTH", "101"),
        ("VERITY_TENANT", "a}b"),
        ("VERITY_VERIFY_SECONDS", "0"),
    ],
)
def test_a_setting_that_makes_no_sense_ends_it_at_start(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=name.removeprefix("VERITY_").lower()):
        Settings()


def test_the_settings_print_without_the_stores_password():
    printed = str(Settings(redis_url="redis://user:hunter2@memory:6379/0").printable())
    assert "memory:6379" in printed
    assert "hunter2" not in printed
