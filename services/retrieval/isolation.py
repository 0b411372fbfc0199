"""Runs functions in another process, which may hang, crash or be killed without harm here."""

import asyncio
import math
import os
import pickle
import resource
import signal
import socket
import struct
import subprocess
import sys
import traceback
from asyncio import IncompleteReadError, StreamReader, StreamWriter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from io import BufferedRWPair
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

_LENGTH = struct.Struct(">Q")
_MEMORY_BYTES = 2**30
# So many times as long as its CPU time a call may take by the clock: on a busy machine a process
# that gives way waits for the CPU more than it uses it.
_PATIENCE = 4


class WorkerDied(Exception):
    """The process ended before it answered."""


class WorkerTimeout(Exception):
    """The process did not answer in time, by the clock or in CPU time, and was killed."""


class WorkerOutOfMemory(Exception):
    """The process needed more memory than it may have, and was killed."""


@dataclass(frozen=True, slots=True)
class _Process:
    popen: subprocess.Popen[bytes]
    reader: StreamReader
    writer: StreamWriter


class Worker:
    """A process that runs one call after the other; started when needed, and again after it died.

    Not multiprocessing: a process that was spawned by it imports this program's main module, and so
    the model and the servers, before it does anything. Not asyncio's subprocesses either: those of
    uvloop fork, which gRPC's threads do not bear, while subprocess.Popen does without a fork.

    Args:
        memory_bytes: The most memory the process may write to.
        niceness: What is added to that of this process: how far its work gives way.
        waits_seconds: How long by the clock a call may wait, beside its own time, for programs that
            it starts.
    """

    def __init__(
        self,
        *,
        memory_bytes: int = _MEMORY_BYTES,
        niceness: int = 0,
        waits_seconds: float = 0.0,
    ) -> None:
        self._memory_bytes = memory_bytes
        self._niceness = niceness
        self._waits = waits_seconds
        self._process: _Process | None = None
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Worker"]:
        """The process ends with the block."""
        try:
            yield self
        finally:
            await self._kill()

    async def call(
        self, seconds: float, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What a module's function returns or raises there.

        Raises WorkerTimeout after `seconds` of CPU time or four times as many by the clock
        and what it may wait, WorkerOutOfMemory, and WorkerDied when the process ends, which native
        code that is refused memory brings about too. When this call is cancelled the process is
        killed: nobody waits for what it does.
        """
        return cast(T, await self._call(seconds, function, args, kwargs, None))

    async def call_telling(
        self,
        tell: Callable[..., None],
        seconds: float,
        function: Callable[..., T],
        *args: Any,
        **kwargs: Any,
    ) -> T:
        """As `call`; what the function tells through its argument `tell` is told here meanwhile."""
        return cast(T, await self._call(seconds, function, args, kwargs, tell))

    async def _call(
        self,
        seconds: float,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        tell: Callable[..., None] | None,
    ) -> Any:
        call = (seconds, function, args, kwargs, tell is not None)
        async with self._turn:
            try:
                if self._process is None:
                    self._process = await _start(self._memory_bytes, self._niceness)
                async with asyncio.timeout(_PATIENCE * seconds + self._waits):
                    failed, value = await _ask(self._process, call, tell)
            except TimeoutError as error:
                await self._kill()
                raise WorkerTimeout from error
            except (IncompleteReadError, ConnectionError) as error:
                ended_by = await self._kill()
                raise WorkerTimeout if ended_by == signal.SIGXCPU else WorkerDied from error
            except BaseException:
                await self._kill()
                raise
        if failed:
            raise value
        return value

    async def _kill(self) -> int:
        """The number of the signal that ended the process; 0 for none."""
        process, self._process = self._process, None
        if process is None:
            return 0
        # What it started, such as text recognition, is in its group and ends with it.
        with suppress(ProcessLookupError):
            os.killpg(process.popen.pid, signal.SIGKILL)
        process.writer.close()
        return max(0, -await asyncio.to_thread(process.popen.wait))


async def _start(memory_bytes: int, niceness: int) -> _Process:
    ours, theirs = socket.socketpair()
    with theirs:
        popen = subprocess.Popen(  # noqa: S603, ASYNC220 - our own module; returns within milliseconds
            [
                *(sys.executable, "-m", "services.retrieval.isolation"),
                *(str(theirs.fileno()), str(memory_bytes), str(niceness)),
            ],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            # A terminal's Ctrl-C is for the parent, which decides when the process ends. No session
            # of its own: Linux may share the CPU out by sessions; niceness counts within one.
            process_group=0,
        )
    reader, writer = await asyncio.open_unix_connection(sock=ours)
    return _Process(popen, reader, writer)


async def _ask(process: _Process, call: Any, tell: Callable[..., None] | None) -> tuple[bool, Any]:
    message = await asyncio.to_thread(pickle.dumps, call)
    process.writer.write(_LENGTH.pack(len(message)))
    process.writer.write(message)
    await process.writer.drain()
    while True:
        (length,) = _LENGTH.unpack(await process.reader.readexactly(_LENGTH.size))
        answer = await process.reader.readexactly(length)
        failed, value = await asyncio.to_thread(pickle.loads, answer)
        if failed is not None:
            break
        if tell is not None:
            tell(*value)
    if failed and isinstance(value, MemoryError):
        raise WorkerOutOfMemory
    return failed, value


def _serve(channel: BufferedRWPair, memory_bytes: int) -> None:
    """The other process: answers calls until its parent is gone."""
    # Not RLIMIT_AS, which counts the address space that threads reserve and never touch.
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    # Running out of CPU time would leave the document's text in a core file.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while header := channel.read(_LENGTH.size):
        (length,) = _LENGTH.unpack(header)
        try:
            answer = pickle.dumps(_answer(channel.read(length), partial(_tell, channel)))
        except MemoryError:
            answer = pickle.dumps((True, MemoryError()))
        _send(channel, answer)


def _tell(channel: BufferedRWPair, *told: Any) -> None:
    """Sends what is neither a failure nor a result."""
    _send(channel, pickle.dumps((None, told)))


def _send(channel: BufferedRWPair, message: bytes) -> None:
    channel.write(_LENGTH.pack(len(message)))
    channel.write(message)
    channel.flush()


def _answer(message: bytes, tell: Callable[..., None]) -> tuple[bool, Any]:
    try:
        seconds, function, args, kwargs, tells = pickle.loads(message)  # noqa: S301 - from our parent alone
        _limit_cpu(seconds)
        if tells:
            kwargs["tell"] = tell
        return False, function(*args, **kwargs)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - raised again in the parent
        if type(error).__module__ == "services.chassis.errors":
            return True, error
        # Where, but not what: the text of an exception may hold the document's.
        where = "".join(traceback.format_tb(error.__traceback__))
        return True, RuntimeError(f"{type(error).__name__} in a worker process, at\n{where}")


def _limit_cpu(seconds: float) -> None:
    """Ends this process by SIGXCPU when the call goes on after its parent is gone or stuck."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    allowed = math.ceil(used.ru_utime + used.ru_stime + seconds)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (allowed, most))


if __name__ == "__main__":
    descriptor, most_memory, nicer = map(int, sys.argv[1:])
    os.nice(nicer)
    with socket.socket(fileno=descriptor) as parent:
        _serve(parent.makefile("rwb"), most_memory)
