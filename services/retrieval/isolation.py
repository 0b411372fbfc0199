"""Runs functions in another process, which may hang, crash or be killed without harm here."""

import asyncio
import contextlib
import os
import pickle
import struct
import sys
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import IO, Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

_LENGTH = struct.Struct(">Q")


class WorkerDied(Exception):
    """The process ended before it answered."""


class WorkerTimeout(Exception):
    """The process did not answer in time, and was killed."""


class Worker:
    """A process that runs one call after the other; started when needed, and again after it died.

    Not multiprocessing: a process that was spawned by it imports this program's main module, and so
    the model and the servers, before it does anything.
    """

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
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
            if self._process is None:
                self._process = await _start()
            try:
                async with asyncio.timeout(seconds):
                    failed, value = await _ask(self._process, (function, args, kwargs))
            except TimeoutError as error:
                await self._kill()
                raise WorkerTimeout from error
            except (asyncio.IncompleteReadError, ConnectionError) as error:
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
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _start() -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "services.retrieval.isolation",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        # Not a terminal's Ctrl-C: the parent decides when the process ends.
        start_new_session=True,
    )


async def _ask(process: asyncio.subprocess.Process, call: Any) -> tuple[bool, Any]:
    if process.stdin is None or process.stdout is None:
        raise TypeError("the process was started without pipes")
    message = await asyncio.to_thread(pickle.dumps, call)
    process.stdin.write(_LENGTH.pack(len(message)))
    process.stdin.write(message)
    await process.stdin.drain()
    (length,) = _LENGTH.unpack(await process.stdout.readexactly(_LENGTH.size))
    answer = await process.stdout.readexactly(length)
    failed, value = await asyncio.to_thread(pickle.loads, answer)
    return failed, value


def _serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """The other process: answers calls until its parent is gone."""
    while header := requests.read(_LENGTH.size):
        (length,) = _LENGTH.unpack(header)
        answer = pickle.dumps(_answer(requests.read(length)))
        answers.write(_LENGTH.pack(len(answer)))
        answers.write(answer)
        answers.flush()


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
    # What libraries print must not get between the answers.
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _serve(sys.stdin.buffer, channel)
