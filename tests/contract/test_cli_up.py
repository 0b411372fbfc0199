"""`verity up` where it cannot start, and the Redis it starts."""

import asyncio
import os
import signal
import socket

import redis.asyncio

from cli import plan, system
from cli.processes import Processes
from tests.cli_command import verity


async def test_a_taken_port_is_one_object_that_names_it(tmp_path):
    with socket.create_server((plan.HOST, 0)) as taken:
        port = taken.getsockname()[1]
        done = await verity("up", "--json", "--port", "0", "--redis-port", str(port), cwd=tmp_path)
    assert done.code == 1
    assert done.json["error"]["code"] == "ALREADY_EXISTS"
    assert f"Port {port} for redis" in done.json["error"]["message"]


async def test_a_second_system_on_a_data_directory_is_refused_and_starts_nothing(tmp_path):
    with system.claim(tmp_path):
        done = await verity("up", "--port", "0", "--data-dir", str(tmp_path), cwd=tmp_path)
    assert done.code == 1
    assert f"A system is already running on {tmp_path}." in done.stderr
    assert not (tmp_path / "logs").exists()


async def test_a_service_that_cannot_start_is_named_with_the_end_of_its_log(tmp_path):
    done = await verity(
        "up", "--json", "--port", "0", "--data-dir", str(tmp_path), cwd=tmp_path,
        VERITY_EXTRACTIVE_CUT="7",
    )  # fmt: skip
    assert done.code == 1
    assert "generation ended with exit code 1 before it was ready" in done.json["error"]["message"]
    assert system.addresses(tmp_path) == {}


async def test_a_setting_that_does_not_fit_is_named(tmp_path):
    done = await verity("up", "--json", cwd=tmp_path, VERITY_MAX_IN_FLIGHT="none")
    assert done.code == 1
    (violation,) = done.json["error"]["violations"]
    assert violation["field"] == "VERITY_MAX_IN_FLIGHT"


async def test_a_gateway_address_that_is_none_is_a_usage_error(tmp_path):
    done = await verity("up", "--json", "--gateway-bind", "8000", cwd=tmp_path)
    assert done.code == 2
    assert done.json["error"]["message"] == "8000 is not HOST:PORT."


async def test_a_gateway_is_ready_once_it_says_so(tmp_path):
    answers = iter([b"503 Service Unavailable", b"200 OK"])

    async def answered(reader, writer):
        assert await reader.readline() == b"GET /readyz HTTP/1.1\r\n"
        writer.write(b"HTTP/1.1 " + next(answers) + b"\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answered, plan.HOST, 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with asyncio.timeout(10):
            await plan.answering(f"0.0.0.0:{port}")
    assert next(answers, None) is None


async def test_redis_comes_back_with_what_it_held_after_it_was_killed(tmp_path):
    said: list[str] = []
    part = plan.parts(plan.ports(0, 0, 0), tmp_path, "extractive")[-1]
    async with Processes(tmp_path / "logs", said.append) as started:
        await started.start(part.spec, 10)
        async with redis.asyncio.Redis.from_url(f"redis://{part.address}") as client:
            await client.set("answer", "kept")
        os.kill(started.all["redis"].process.pid, signal.SIGKILL)
        async with asyncio.timeout(10):
            while not any("ready again" in line for line in said):  # noqa: ASYNC110
                await asyncio.sleep(0.01)  # What is said raises no event here.
        async with redis.asyncio.Redis.from_url(f"redis://{part.address}") as client:
            assert await client.get("answer") == b"kept"
            assert (await client.config_get("maxmemory-policy"))["maxmemory-policy"] == "noeviction"
    assert started.drained
