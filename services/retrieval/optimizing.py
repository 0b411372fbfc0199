"""Optimizes a copy of the embedded index in a process of its own, and keeps what is current.

The engine holds Python's lock while it builds its graphs: in the service's process that would stop
every call, for minutes. So a copy is optimized elsewhere, and then takes the place of the original.
"""

import asyncio
import ctypes
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import qdrant_edge as qdrant

from services.retrieval import sparse_files

_POINTER = "CURRENT"
_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG


class Shards:
    """The directories of one index, of which a file names the current one."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def current(self) -> Path | None:
        """The directory that counts; all others are what a process that died has left."""
        pointer = self._path / _POINTER
        return self._path / pointer.read_text() if pointer.exists() else None

    def next(self) -> Path:
        """A new place, where there is nothing yet."""
        self._path.mkdir(parents=True, exist_ok=True)
        numbers = [int(path.name) for path in self._path.iterdir() if path.name.isdecimal()]
        return self._path / str(max(numbers, default=0) + 1)

    def copy(self, to: Path) -> None:
        """Copies the current directory, which nobody writes to meanwhile."""
        name = (self._path / _POINTER).read_text()
        shutil.copytree(self._path / name, to, copy_function=sparse_files.copy)

    def copy_whole(self, to: Path) -> None:
        """Copies the current directory and its name to another place, as `copy` does."""
        name = (self._path / _POINTER).read_text()
        self.copy(to / name)
        (to / _POINTER).write_text(name)

    def switch(self, to: Path) -> None:
        """Makes another directory the current one, at one moment and for good."""
        new = self._path / f"{_POINTER}.new"
        with new.open("w") as file:
            file.write(to.name)
            file.flush()
            os.fsync(file.fileno())
        # Opened before: nothing but the disk may fail once the other is current.
        directory = os.open(self._path, os.O_RDONLY)
        try:
            new.replace(self._path / _POINTER)
            os.fsync(directory)
        finally:
            os.close(directory)

    def clean(self) -> None:
        """Removes every directory but the current one."""
        current = self.current()
        for path in self._path.iterdir():
            if path.is_dir() and path != current:
                shutil.rmtree(path, ignore_errors=True)


async def optimize(path: Path) -> bool:
    """Whether another process has optimized the index there; it is killed if this is cancelled."""
    process = subprocess.Popen(  # noqa: S603, ASYNC220 - our own module; returns within milliseconds
        [sys.executable, "-m", "services.retrieval.optimizing", str(path), str(os.getpid())],
        stdin=subprocess.DEVNULL,
        # A terminal's Ctrl-C is for the parent, which decides when the process ends. No session
        # of its own: Linux may share the CPU out by sessions; niceness counts within one.
        process_group=0,
    )
    try:
        return await asyncio.to_thread(process.wait) == 0
    except BaseException:
        with suppress(ProcessLookupError):
            process.kill()
        process.wait()
        raise


def _main(path: str, parent: int) -> None:
    """The other process."""
    os.nice(10)
    if sys.platform == "linux":
        # While the engine works no thread of ours could watch for the parent's end.
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != parent:
            return
    shard = qdrant.EdgeShard.load(path)
    shard.optimize()
    shard.flush()
    shard.close()
    # Closing took it from the system's memory. The service is to open it from there: meanwhile all
    # of it waits.
    for file in Path(path).rglob("*"):
        if file.is_file():
            _read(file)


def _read(path: Path) -> None:
    with path.open("rb", 0) as file:
        for _ in sparse_files.pieces(file):
            pass


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]))
