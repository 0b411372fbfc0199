"""A system that is up says where it is, and drains when it is told to stop."""

import asyncio
import io
import json
import os
import signal

import pytest
from rich.console import Console

from cli import system
from cli.plan import Part
from cli.up import LocalSystem, _table
from tests.cli_service import SERVICE, STUBBORN, gone, spec, until


@pytest.fixture
async def started(tmp_path):
    """Starts a system of two fake processes; whatever was not stopped is killed."""
    with system.claim(tmp_path) as claimed:
        tasks = []

        async def start(script: str, *, as_json: bool = False) -> asyncio.Task[bool]:
            parts = [
                Part(spec(tmp_path, "orchestrator", script), "127.0.0.1:1", "127.0.0.1:2"),
                Part(spec(tmp_path, "redis", stop_order=1), "127.0.0.1:3"),
            ]
            local = LocalSystem(
                parts=parts,
                data_dir=tmp_path,
                claimed=claimed,
                start_seconds=10,
                console=Console(file=io.StringIO()),
                as_json=as_json,
            )
            tasks.append(asyncio.create_task(local.run(with_samples=False, stay=True)))
            await until(lambda: tasks[0].done() or system.addresses(tmp_path))
            return tasks[0]

        yield start
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.remove_signal_handler(number)


def pid(folder, name: str) -> int:
    return int((folder / f"{name}.pid").read_text())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_drains_in_order_and_is_a_good_end(tmp_path, started, number):
    task = await started(SERVICE)
    assert system.addresses(tmp_path) == {"orchestrator": "127.0.0.1:1", "redis": "127.0.0.1:3"}
    os.kill(os.getpid(), number)
    assert await task is True
    assert (tmp_path / "stopped").read_text().split() == ["orchestrator", "redis"]
    assert gone(pid(tmp_path, "orchestrator"))
    assert gone(pid(tmp_path, "redis"))


async def test_a_second_signal_does_not_wait(tmp_path, started):
    task = await started(STUBBORN)
    os.kill(os.getpid(), signal.SIGINT)
    await until(task.cancelling)
    assert not task.done()
    os.kill(os.getpid(), signal.SIGINT)
    async with asyncio.timeout(10):
        assert await task is False
    assert gone(pid(tmp_path, "orchestrator"))
    assert gone(pid(tmp_path, "redis"))


async def test_json_says_once_what_runs_where(tmp_path, started, capsys):
    task = await started(SERVICE, as_json=True)
    os.kill(os.getpid(), signal.SIGTERM)
    assert await task
    view = json.loads(capsys.readouterr().out)
    assert set(view) == {"services", "seconds_to_serving", "data_dir"}
    assert view["data_dir"] == str(tmp_path)
    assert view["seconds_to_serving"] > 0
    one = view["services"]["orchestrator"]
    assert set(one) == {"pid", "address", "metrics", "rss_bytes", "start_seconds"}
    assert one["pid"] == pid(tmp_path, "orchestrator")
    assert one["address"] == "127.0.0.1:1"
    assert one["metrics"] == "127.0.0.1:2"
    assert one["rss_bytes"] > 1_000_000
    assert one["start_seconds"] > 0


@pytest.mark.parametrize("built", [True, False])
def test_the_page_is_offered_only_where_it_has_been_built(tmp_path, monkeypatch, built):
    monkeypatch.setenv("VERITY_PAGE_DIR", str(tmp_path))
    if built:
        (tmp_path / "index.html").touch()
    one = {"pid": 1, "address": "h:1", "metrics": "", "rss_bytes": 0, "start_seconds": 0.0}
    console = Console(file=io.StringIO())
    view = {"services": {"gateway": one}, "seconds_to_serving": 1.0, "data_dir": "var"}
    console.print(_table(view))
    assert ("Open http://h:1" in console.file.getvalue()) == built
