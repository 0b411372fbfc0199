"""Processes kept alive: watched, restarted when they die, drained in order, never orphaned."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from cli import bound
from cli.errors import CliError

FIRST_DELAY, LONGEST_DELAY = 0.2, 10.0
# A process that ran this long was healthy: when it dies, counting starts again.
SETTLED = 30.0
TAIL_LINES = 12


@dataclass(frozen=True, slots=True)
class Spec:
    """What to run and how to know that it is ready.

    Attributes:
        name: What it is called in messages.
        log: The file, in the folder of logs, that takes what it prints.
        command: The program and its arguments.
        ready: Returns when the process can be used; cancelled when that takes too long.
        environment: Added to this process's own.
        stop_order: Lower is drained first; equal ones together.
        stop_seconds: How long it may take to drain before it is killed.
    """

    name: str
    log: str
    command: Sequence[str]
    ready: Callable[[], Awaitable[None]]
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_order: int = 0
    stop_seconds: float = 30.0


@dataclass(slots=True)
class Running:
    """One process that is being kept alive."""

    spec: Spec
    log: Path
    process: asyncio.subprocess.Process
    ready_seconds: float = 0.0  # 0 until it is ready.


class Processes:
    """The processes of one system; leaving the context drains them, and leaves none behind.

    Attributes:
        all: What was started, by name.
        draining: Whether they are on their way out.
        drained: Whether all ended by themselves when asked to.
    """

    def __init__(self, logs: Path, report: Callable[[str], None]) -> None:
        logs.mkdir(parents=True, exist_ok=True)
        self._logs, self._report = logs, report
        self._watchers: list[asyncio.Task[None]] = []
        self.all: dict[str, Running] = {}
        self.draining, self.drained = False, True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.draining = True
        try:
            await self._drain()
        finally:
            self.kill()

    async def start(self, spec: Spec, seconds: float) -> None:
        """Starts one, returns when it is ready; CliError with the end of its log if it never is."""
        log = self._logs / spec.log
        if log.exists():
            log.replace(log.with_stem(f"{log.stem}.previous"))
        one = self.all[spec.name] = Running(spec, log, await _spawn(spec, log))
        await self._until_ready(one, seconds)
        self._report(f"{spec.name} is ready after {one.ready_seconds:.1f} s")
        self._watchers.append(asyncio.create_task(self._watch(one, seconds)))

    async def _drain(self) -> None:
        for watcher in self._watchers:
            watcher.cancel()
        await asyncio.gather(*self._watchers, return_exceptions=True)
        for order in sorted({one.spec.stop_order for one in self.all.values()}):
            group = [one for one in self.all.values() if one.spec.stop_order == order]
            await asyncio.gather(*(self._stop(one) for one in group))

    def kill(self) -> None:
        """Ends all at once: the last resort, and nothing when all have ended."""
        for one in self.all.values():
            _signal(one.process, signal.SIGKILL)

    async def _until_ready(self, one: Running, seconds: float) -> None:
        begun = time.monotonic()
        ready, ended = (
            asyncio.ensure_future(one.spec.ready()),
            asyncio.ensure_future(one.process.wait()),
        )
        try:
            await asyncio.wait({ready, ended}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if ready.done():
                ready.result()
            elif ended.done():
                raise CliError(
                    f"{one.spec.name} ended with {_outcome(ended.result())} before it was ready. "
                    f"The end of {one.log}:",
                    code="UNAVAILABLE",
                    detail=_tail(one.log),
                )
            else:
                raise CliError(
                    f"{one.spec.name} was not ready within {seconds:.0f} s. The end of {one.log}:",
                    code="DEADLINE_EXCEEDED",
                    detail=_tail(one.log),
                )
        finally:
            ready.cancel()
            ended.cancel()
        one.ready_seconds = time.monotonic() - begun

    async def _watch(self, one: Running, seconds: float) -> None:
        delay = FIRST_DELAY
        while True:
            begun = time.monotonic()
            outcome = _outcome(await one.process.wait())
            if time.monotonic() - begun > SETTLED:
                delay = FIRST_DELAY
            self._report(f"{one.spec.name} ended with {outcome}; starting again in {delay:.1f} s")
            await asyncio.sleep(delay)
            delay = min(2 * delay, LONGEST_DELAY)
            one.ready_seconds = 0.0
            one.process = await _spawn(one.spec, one.log)
            try:
                await self._until_ready(one, seconds)
            except CliError as problem:
                self._report(problem.message)
                _signal(one.process, signal.SIGKILL)
            else:
                self._report(f"{one.spec.name} is ready again after {one.ready_seconds:.1f} s")

    async def _stop(self, one: Running) -> None:
        if one.process.returncode is not None:
            return  # It had ended before, which was said then.
        _signal(one.process, signal.SIGTERM)
        try:
            async with asyncio.timeout(one.spec.stop_seconds):
                code = await one.process.wait()
        except TimeoutError:
            self._report(f"{one.spec.name} did not drain in {one.spec.stop_seconds:.0f} s; killed")
            _signal(one.process, signal.SIGKILL)
            code = await one.process.wait()
        # Until a process is ready it may not listen for the signal, and has nothing to drain.
        if code and (one.ready_seconds or code != -signal.SIGTERM):
            self.drained = False
            self._report(f"{one.spec.name} ended with {_outcome(code)}; see {one.log}")


async def _spawn(spec: Spec, log: Path) -> asyncio.subprocess.Process:
    command = (sys.executable, "-IS", bound.__file__, str(os.getpid()), *spec.command)
    output = _append_to(log)
    try:
        return await asyncio.create_subprocess_exec(
            *command,
            env={**os.environ, **spec.environment},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            # A Ctrl-C in the terminal is for the parent, which then drains its children in order.
            start_new_session=True,
        )
    finally:
        os.close(output)


def _append_to(log: Path) -> int:
    return os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    if process.returncode is None:
        try:
            process.send_signal(number)
        except ProcessLookupError:
            return  # It ended between the look and the signal.


def _outcome(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"


def _tail(log: Path) -> str:
    """The last lines of a log, without reading a large one whole."""
    with log.open("rb") as lines:
        lines.seek(max(0, log.stat().st_size - 16384))
        return "\n".join(lines.read().decode(errors="replace").splitlines()[-TAIL_LINES:])
