"""Runs functions in another process, which may hang, crash or be killed without harm here."""

import asyncio
import pickle
import socket
import struct
import subprocess
import sys
import traceback
from asyncio import IncompleteReadError, StreamReader, StreamWriter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import BufferedRWPair
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

_LENGTH = struct.Struct(">Q")


class WorkerDied(Exception):
    """The process ended before it answered."""


class WorkerTimeout(Exception):
    """The process did not answer in time, and was killed."""


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
    """

    def __init__(self) -> None:
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

        Raises WorkerTimeout after `seconds` and WorkerDied when the process ends. When this call is
        cancelled the process is killed: nobody waits for what it does.
        """
        async with self._turn:
            try:
                if self._process is None:
                    self._process = await _start()
                async with asyncio.timeout(seconds):
                    failed, value = await _ask(self._process, (function, args, kwargs))
            except TimeoutError as error:
                await self._kill()
                raise WorkerTimeout from error
            except (IncompleteReadError, ConnectionError) as error:
                await self._kill()
                raise WorkerDied from error
            except BaseException:
                await self._kill()
                raise
        if failed:
            raise value
        return cast(T, value)

    async def _kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.popen.kill()
            process.writer.close()
            await asyncio.to_thread(process.popen.wait)


async def _start() -> _Process:
    ours, theirs = socket.socketpair()
    with theirs:
        popen = subprocess.Popen(  # noqa: S603, ASYNC220 - our own module; returns within milliseconds
            [sys.executable, "-m", "services.retrieval.isolation", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            # A terminal's Ctrl-C is for the parent, which decides when the process ends.
            start_new_session=True,
        )
    reader, writer = await asyncio.open_unix_connection(sock=ours)
    return _Process(popen, reader, writer)


async def _ask(process: _Process, call: Any) -> tuple[bool, Any]:
    message = await asyncio.to_thread(pickle.dumps, call)
    process.writer.write(_LENGTH.pack(len(message)))
    process.writer.write(message)
    await process.writer.drain()
    (length,) = _LENGTH.unpack(await process.reader.readexactly(_LENGTH.size))
    answer = await process.reader.readexactly(length)
    failed, value = await asyncio.to_thread(pickle.loads, answer)
    return failed, value


def _serve(channel: BufferedRWPair) -> None:
    """The other process: answers calls until its parent is gone."""
    while header := channel.read(_LENGTH.size):
        (length,) = _LENGTH.unpack(header)
        answer = pickle.dumps(_answer(channel.read(length)))
        channel.write(_LENGTH.pack(len(answer)))
        channel.write(answer)
        channel.flush()


def _answer(message: bytes) -> tuple[bool, Any]:
    try:
        function, args, kwargs = pickle.loads(message)  # noqa: S301 - from our parent alone
        return False, function(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - raised again in the parent
        if type(error).__module__ == "services.chassis.errors":
            return True, error
        # Where, but not what: the text of an exception may hold the document's.
        where = "".join(traceback.format_tb(error.__traceback__))
        return True, RuntimeError(f"{type(error).__name__} in a worker process, at\n{where}")


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as parent:
        _serve(parent.makefile("rwb"))
