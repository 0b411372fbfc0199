"""Processes are kept alive, drained in order, and never left behind."""

import asyncio
import os
import signal
import sys

import pytest

from cli import processes
from cli.errors import CliError
from cli.processes import Processes, Spec
from tests.cli_service import SERVICE, STUBBORN, gone, spec, until

BROKEN = "import sys; print('no model found', file=sys.stderr); sys.exit(4)"


async def test_a_process_is_started_with_its_environment_and_drained(tmp_path):
    said: list[str] = []
    script = "import os; print(os.environ['GIVEN'], flush=True)\n" + SERVICE
    async with Processes(tmp_path / "logs", said.append) as started:
        await started.start(spec(tmp_path, script=script, environment={"GIVEN": "word"}), 10)
        one = started.all["service"]
        assert int((tmp_path / "service.pid").read_text()) == one.process.pid
        assert one.ready_seconds > 0
    assert started.drained
    assert gone(one.process.pid)
    assert (tmp_path / "stopped").read_text() == "service\n"
    assert (tmp_path / "logs" / "service.jsonl").read_text() == "word\n"


async def test_processes_are_drained_in_their_order(tmp_path):
    async with Processes(tmp_path / "logs", lambda _: None) as started:
        for name, order in (("redis", 2), ("orchestrator", 0), ("agent", 1)):
            await started.start(spec(tmp_path, name, stop_order=order), 10)
    assert (tmp_path / "stopped").read_text().split() == ["orchestrator", "agent", "redis"]


async def test_a_process_that_dies_at_start_is_an_error_with_the_end_of_its_log(tmp_path):
    async with Processes(tmp_path / "logs", lambda _: None) as started:
        with pytest.raises(CliError, match="ended with exit code 4 before it was ready") as failure:
            await started.start(spec(tmp_path, script=BROKEN), 10)
    assert "no model found" in failure.value.detail


async def test_a_process_that_is_never_ready_is_an_error_and_is_ended(tmp_path):
    async def never() -> None:
        await asyncio.Event().wait()

    deaf = spec(tmp_path)
    deaf = Spec(name=deaf.name, log=deaf.log, command=deaf.command, ready=never)
    async with Processes(tmp_path / "logs", lambda _: None) as started:
        with pytest.raises(CliError, match="was not ready within") as failure:
            await started.start(deaf, 0.3)
        pid = started.all["service"].process.pid
    assert failure.value.code == "DEADLINE_EXCEEDED"
    assert gone(pid)


async def test_a_process_that_is_killed_is_started_again_and_that_is_said(tmp_path):
    said: list[str] = []
    async with Processes(tmp_path / "logs", said.append) as started:
        await started.start(spec(tmp_path), 10)
        first = started.all["service"].process.pid
        (tmp_path / "service.pid").unlink()
        os.kill(first, signal.SIGKILL)
        await until(lambda: any("ready again" in line for line in said))
        second = started.all["service"].process.pid
        assert second != first
        assert int((tmp_path / "service.pid").read_text()) == second
    assert any("signal SIGKILL; starting again in 0.2 s" in line for line in said)
    assert gone(second)


async def test_a_process_that_keeps_dying_is_started_ever_more_slowly(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "FIRST_DELAY", 0.1)
    monkeypatch.setattr(processes, "LONGEST_DELAY", 0.3)
    said: list[str] = []
    once = "import pathlib, sys\nif pathlib.Path(sys.argv[1], 'broken').exists(): sys.exit(7)\n"
    async with Processes(tmp_path / "logs", said.append) as started:
        await started.start(spec(tmp_path, script=once + SERVICE), 10)
        (tmp_path / "service.pid").unlink()
        (tmp_path / "broken").touch()
        os.kill(started.all["service"].process.pid, signal.SIGKILL)
        await until(lambda: sum("starting again" in line for line in said) >= 4)
        (tmp_path / "broken").unlink()
        await until(lambda: any("ready again" in line for line in said))
    delays = [line.split()[-2] for line in said if "starting again" in line]
    assert delays[:4] == ["0.1", "0.2", "0.3", "0.3"]


async def test_a_process_that_does_not_drain_is_killed_and_that_is_said(tmp_path):
    said: list[str] = []
    async with Processes(tmp_path / "logs", said.append) as started:
        await started.start(spec(tmp_path, script=STUBBORN, stop_seconds=0.2), 10)
        pid = started.all["service"].process.pid
    assert not started.drained
    assert any("did not drain" in line for line in said)
    assert gone(pid)


async def test_an_exception_inside_leaves_nothing_running(tmp_path):
    async def work() -> None:
        async with Processes(tmp_path / "logs", lambda _: None) as started:
            await started.start(spec(tmp_path), 10)
            raise LookupError

    with pytest.raises(LookupError):
        await work()
    assert gone(int((tmp_path / "service.pid").read_text()))


async def test_being_cancelled_while_starting_leaves_nothing_running(tmp_path):
    silent = spec(tmp_path, "silent")

    async def never() -> None:
        await asyncio.Event().wait()

    async def work():
        async with Processes(tmp_path / "logs", lambda _: None) as started:
            one = Spec(name="silent", log=silent.log, command=silent.command, ready=never)
            await started.start(one, 60)

    task = asyncio.create_task(work())
    await until((tmp_path / "silent.pid").exists)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert gone(int((tmp_path / "silent.pid").read_text()))


async def test_the_log_of_the_run_before_is_kept_beside_the_new_one(tmp_path):
    logs = tmp_path / "logs"
    for text in ("first", "second"):
        (tmp_path / "service.pid").unlink(missing_ok=True)
        async with Processes(logs, lambda _: None) as started:
            await started.start(
                spec(tmp_path, script=f"print({text!r}, flush=True)\n{SERVICE}"), 10
            )
    assert (logs / "service.jsonl").read_text() == "second\n"
    assert (logs / "service.previous.jsonl").read_text() == "first\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")
async def test_nothing_is_orphaned_when_the_supervisor_itself_is_killed(tmp_path):
    script = f"""
import asyncio, pathlib, sys
from cli.processes import Processes, Spec
from tests.cli_service import SERVICE, STUBBORN, gone, spec, until
async def main():
    async def ready(): pass
    command = (sys.executable, "-c", {SERVICE!r}, {str(tmp_path)!r}, "child")
    async with Processes(pathlib.Path({str(tmp_path / "logs")!r}), print) as started:
        await started.start(Spec(name="child", log="child.jsonl", command=command, ready=ready), 10)
        await asyncio.Event().wait()
asyncio.run(main())
"""
    supervisor = await asyncio.create_subprocess_exec(sys.executable, "-c", script)
    await until((tmp_path / "child.pid").exists)
    supervisor.kill()
    await supervisor.wait()
    child = int((tmp_path / "child.pid").read_text())
    await until(lambda: gone(child))
    assert (tmp_path / "stopped").read_text() == "child\n"
