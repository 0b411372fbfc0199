"""The gateway as a process: how it starts, how it stops, what it still sends on its way out."""

import asyncio
import json
import os
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import otlp_receiver
import pytest

from tests.gateway_parts import Behaviour, parsed, services
from tests.observed import eventually

ASKED = {"query": "What must be submitted?"}


@asynccontextmanager
async def started(targets, **environment):
    told = {f"VERITY_{name}_TARGET": target for name, target in targets.items()}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "services.gateway",
        cwd=Path(__file__).parents[2],
        env={**os.environ, "VERITY_GATEWAY_BIND": "127.0.0.1:0", **told, **environment},
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def listening(process):
    """The address, once it listens."""
    async with asyncio.timeout(30):
        while raw := await process.stderr.readline():
            line = json.loads(raw)
            if line["event"] == "listening":
                return f"http://{line['address']}"
    raise AssertionError("ended before it listened")


def targets(addresses):
    names = {
        "GroundingService": "ORCHESTRATOR",
        "RetrievalService": "RETRIEVAL",
        "GenerationService": "GENERATION",
        "VerificationService": "VERIFICATION",
    }
    return {names[full.rpartition(".")[2]]: address for full, address in addresses.items()}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_first_says_not_ready_then_lets_requests_finish_and_exits_with_0(number):
    behaviour = Behaviour(held=asyncio.Event(), error_after=2)
    async with (
        services(behaviour) as addresses,
        started(targets(addresses), VERITY_DRAIN_SECONDS="3") as process,
    ):
        url = await listening(process)
        async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=20) as client:
            assert (await client.get("/readyz")).status_code == 200
            asking = asyncio.create_task(client.post("/grounded_query/stream", json=ASKED))
            await behaviour.asked.wait()
            process.send_signal(number)

            async def refused():
                return (await client.get("/readyz")).status_code == 503

            async with asyncio.timeout(10):
                while not await refused():  # noqa: ASYNC110 - what a process does is no event here
                    await asyncio.sleep(0.01)
            assert (await client.get("/healthz")).status_code == 200
            behaviour.held.set()
            reply = await asking
        assert parsed(reply.text)[-1][0] == "grounded_answer"
        async with asyncio.timeout(10):
            assert await process.wait() == 0


async def test_the_last_spans_arrive_before_the_process_ends():
    with otlp_receiver.receiving() as receiver:
        async with (
            services(Behaviour()) as addresses,
            started(targets(addresses), OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint) as process,
        ):
            url = await listening(process)
            async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=20) as client:
                reply = await client.post("/grounded_query", json=ASKED)
            process.terminate()
            await process.communicate()
        assert process.returncode == 0
        await eventually(lambda: len(receiver.spans) == 2)
        spans = receiver.spans
    trace_id = reply.headers["traceparent"].split("-")[1]
    assert {(span.service, span.name, span.trace_id) for span in spans} == {
        ("gateway", "POST /grounded_query", trace_id),
        ("gateway", "verity.v1.GroundingService/Ask", trace_id),
    }


@pytest.mark.parametrize(
    "environment",
    [
        {"VERITY_CORS_ORIGINS": "*", "VERITY_CORS_CREDENTIALS": "true"},
        {"VERITY_CORS_ORIGINS": "desk.example"},
        {"VERITY_GATEWAY_BIND": "8000"},
        {"VERITY_RATE_PER_SECOND": "-1"},
    ],
    ids=lambda environment: next(iter(environment)),
)
async def test_a_setting_that_does_not_fit_ends_it_at_once(environment):
    async with started({}, **environment) as process:
        _, errors = await process.communicate()
    assert process.returncode == 1
    assert b"setting_refused" in errors


async def test_a_taken_port_ends_it_with_the_reason():
    async with started({}) as first:
        url = await listening(first)
        taken = url.removeprefix("http://")
        async with started({}, VERITY_GATEWAY_BIND=taken) as second:
            _, errors = await second.communicate()
    assert second.returncode == 1
    assert b"Address already in use" in errors
