"""A real process: its signals, its exit, and what it still sends on its way out."""

import asyncio
import json
import os
import signal
import sys
import textwrap
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import otlp_receiver
import pytest
from probe import NAME, Client

from services.chassis.client import channel

MAIN = """
import asyncio, gc, structlog, sys
sys.path.insert(0, "tests")
from probe import service
from services.chassis import telemetry
from services.chassis.server import run, serve
from services.chassis.settings import Settings
from verity.v1 import generation_service_pb2 as pb

loaded = [[n] for n in range(1000)]

async def act(request, context):
    if request.question == "What does the collector look through?":
        looked_at = {id(one) for one in gc.get_objects()}
        return pb.GenerateResponse(generator=str(sum(id(one) in looked_at for one in loaded)))
    structlog.get_logger().info("asked")
    await asyncio.sleep(0.3)  # Still under way when the signal comes.
    return pb.GenerateResponse(generator=telemetry.trace_id())

async def warm_up():
    if "broken" in sys.argv:
        raise OSError("no model")

async def main():
    settings = Settings()
    with telemetry.configured("probe", settings):
        await serve(service(act), settings, warm_up=warm_up)
    print("closed", flush=True)

run(main)
"""


class Process:
    def __init__(self, process):
        self.process = process
        self.log = []

    async def logged(self, event):
        """The first line with this event, among those not read so far."""
        async with asyncio.timeout(20):
            while raw := await self.process.stderr.readline():
                line = json.loads(raw)
                self.log.append(line)
                if line["event"] == event:
                    return line
        raise AssertionError(f"ended without {event}: {self.log}")

    async def exit(self, *, seconds=20):
        async with asyncio.timeout(seconds):
            out, _ = await self.process.communicate()
        return self.process.returncode, out.decode()


@asynccontextmanager
async def started(*arguments, **environment):
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        textwrap.dedent(MAIN),
        *arguments,
        cwd=Path(__file__).parents[2],
        env={**os.environ, **environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield Process(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_lets_twenty_calls_finish_and_exits_with_0(number):
    async with started() as process:
        address = (await process.logged("listening"))["address"]
        async with channel(address, service=NAME, idempotent=[]) as opened:
            call = Client(opened)
            await call("Unary")
            calls = [asyncio.create_task(call("Unary")) for _ in range(20)]
            for _ in range(1 + len(calls)):
                await process.logged("asked")
            process.process.send_signal(number)
            await asyncio.gather(*calls)
        assert await process.exit() == (0, "closed\n")


async def test_the_last_spans_arrive_before_the_process_ends():
    with otlp_receiver.receiving() as receiver:
        async with started(OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint) as process:
            address = (await process.logged("listening"))["address"]
            async with channel(address, service=NAME, idempotent=[]) as opened:
                [reply] = await Client(opened)("Unary")
                process.process.terminate()
                code, _ = await process.exit()
        assert code == 0
        [span] = receiver.spans
    assert (span.service, span.name, span.trace_id) == ("probe", f"{NAME}/Unary", reply.generator)


async def test_a_dead_collector_costs_no_call_and_the_exit_is_clean():
    async with started(OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1") as process:
        address = (await process.logged("listening"))["address"]
        async with channel(address, service=NAME, idempotent=[]) as opened:
            await asyncio.gather(*[Client(opened)("Unary") for _ in range(20)])
        process.process.terminate()
        code, _ = await process.exit()
    assert code == 0


async def test_what_is_loaded_when_a_process_is_ready_is_left_alone_by_the_garbage_collector():
    async with started() as process:
        address = (await process.logged("listening"))["address"]
        await process.logged("ready")
        async with channel(address, service=NAME, idempotent=[]) as opened:
            [reply] = await Client(opened)("Unary", "What does the collector look through?")
    assert reply.generator == "0"


async def test_a_failed_warm_up_ends_the_process_with_an_error():
    async with started("broken") as process:
        code, out = await process.exit()
    assert code == 1
    assert "closed" not in out


async def test_a_setting_that_does_not_fit_ends_the_process_at_once():
    async with started(VERITY_MAX_IN_FLIGHT="none") as process:
        _, errors = await process.process.communicate()
    assert process.process.returncode == 1
    assert b"VERITY_MAX_IN_FLIGHT" in errors


async def test_every_line_on_standard_error_is_json_with_service_and_time():
    async with started() as process:
        address = (await process.logged("listening"))["address"]
        async with channel(address, service=NAME, idempotent=[]) as opened:
            with pytest.raises(grpc.aio.AioRpcError):
                await Client(opened)("Unary", "")
        process.process.terminate()
        await process.logged("stopped")
    assert {line["service"] for line in process.log} == {"probe"}
    assert all(line["timestamp"].endswith("Z") for line in process.log)
    [rpc] = [line for line in process.log if line["event"] == "rpc"]
    assert (rpc["code"], rpc["method"]) == ("INVALID_ARGUMENT", f"{NAME}/Unary")
    assert len(rpc["trace_id"]) == 32
    assert len(rpc["span_id"]) == 16
