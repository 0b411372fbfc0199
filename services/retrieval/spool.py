"""What has come of files that are not ingested yet, so that nothing is sent or embedded twice.

A draft lies under `<directory>/<tenant>/<SHA-256 of the file>/`: the bytes that arrived and the
vectors that were made. No reader ever sees one. It goes when the file is in or is refused, when it
is old, and when its tenant has no room for a newer one.
"""

import asyncio
import fcntl
import hashlib
import os
import re
import shutil
import time
from array import array
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

_BYTES = "bytes"
_LOCK = "lock"
_KEY_BYTES = 16
# What a draft counts for at least, so that their number has a bound as well.
_LEAST_BYTES = 64 * 1024
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Spool:
    """Drafts by tenant and hash.

    Args:
        directory: A local one, for this process or shared by several.
        model: Marks vectors, which are of use to the model that made them only.
        dimensions: Length of every vector.
        max_bytes: Room for the drafts of one tenant.
        max_age_seconds: How long a draft is kept that nobody comes back to.
        clock: Seconds since the epoch, as file systems count them.
    """

    def __init__(
        self,
        directory: Path,
        *,
        model: str,
        dimensions: int,
        max_bytes: int,
        max_age_seconds: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._directory = directory
        self._vectors = f"vectors-{quote(model, safe='')}-{dimensions}"
        self._dimensions = dimensions
        self._max_bytes = max_bytes
        self._max_age_seconds = max_age_seconds
        self._clock = clock

    @asynccontextmanager
    async def draft(self, tenant: str, sha256: str, size_bytes: int) -> AsyncIterator["Draft"]:
        """Holds a draft, of a file of at most `size_bytes`.

        One that another call holds, or for which there is no room, keeps nothing.
        """
        folder = self._folder(tenant, sha256)
        lock = await asyncio.to_thread(self._open, folder, size_bytes)
        draft = Draft(folder if lock is not None else None, self._vectors, self._dimensions)
        try:
            yield draft
        finally:
            if lock is not None:
                os.close(lock)

    async def discard(self, tenant: str, sha256: str) -> None:
        """Removes a draft, whoever holds it."""
        await asyncio.to_thread(shutil.rmtree, self._folder(tenant, sha256), ignore_errors=True)

    async def sweep(self) -> None:
        """Removes what is too old, of all tenants."""
        await asyncio.to_thread(self._sweep)

    def _folder(self, tenant: str, sha256: str) -> Path:
        if not _SHA256.fullmatch(sha256):
            raise ValueError("a draft is named by a SHA-256")
        # The prefix keeps "." and ".." from being what they say.
        return self._directory / f"tenant-{quote(tenant, safe='')}" / sha256

    def _open(self, folder: Path, size_bytes: int) -> int | None:
        self._make_room(folder, size_bytes)
        if size_bytes > self._max_bytes:
            return None
        return _lock(folder)

    def _make_room(self, wanted: Path, size_bytes: int) -> None:
        """Removes the oldest drafts of a tenant until a new one fits, but none that is held."""
        if not wanted.parent.is_dir():
            return
        others = [f for f in wanted.parent.iterdir() if f != wanted]
        left = self._max_bytes - max(size_bytes, _LEAST_BYTES) - sum(map(_size, others))
        oldest = self._clock() - self._max_age_seconds
        for folder in sorted(others, key=_changed):
            if left >= 0 and _changed(folder) > oldest:
                return
            size = _size(folder)
            if _remove_if_free(folder):
                left += size

    def _sweep(self) -> None:
        oldest = self._clock() - self._max_age_seconds
        for folder in self._directory.glob("*/*"):
            if _changed(folder) <= oldest:
                _remove_if_free(folder)


class Draft:
    """One file on its way in. With no folder it takes everything and keeps nothing."""

    def __init__(self, folder: Path | None, vectors: str, dimensions: int) -> None:
        self._folder = folder
        self._vectors = vectors
        self._dimensions = dimensions

    async def data(self) -> bytes:
        """The bytes that arrived, from the first on."""
        return await self._read(_BYTES)

    async def append(self, piece: bytes) -> None:
        """Keeps the bytes that follow."""
        await self._append(_BYTES, piece)

    async def restart(self) -> None:
        """Forgets the bytes that arrived."""
        if self._folder:
            await asyncio.to_thread((self._folder / _BYTES).unlink, missing_ok=True)

    async def vectors(self) -> dict[bytes, Sequence[float]]:
        """The vectors that were made, by the key of their text."""
        data = await self._read(self._vectors)
        size = _KEY_BYTES + 4 * self._dimensions
        found: dict[bytes, Sequence[float]] = {}
        if len(data) % size and self._folder:  # The last was cut off.
            await asyncio.to_thread(
                os.truncate, self._folder / self._vectors, len(data) - len(data) % size
            )
        for start in range(0, len(data) - size + 1, size):
            vector = array("f", data[start + _KEY_BYTES : start + size])
            found[data[start : start + _KEY_BYTES]] = vector.tolist()
        return found

    async def add_vectors(self, texts: Sequence[str], vectors: Sequence[Sequence[float]]) -> None:
        """Keeps the vectors of these texts."""
        rows = (key(text) + array("f", v).tobytes() for text, v in zip(texts, vectors, strict=True))
        await self._append(self._vectors, b"".join(rows))

    async def discard(self) -> None:
        """Removes all of it."""
        if self._folder:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
            self._folder = None

    async def _read(self, name: str) -> bytes:
        return await asyncio.to_thread(_read, self._folder / name) if self._folder else b""

    async def _append(self, name: str, data: bytes) -> None:
        if self._folder and not await asyncio.to_thread(_append, self._folder / name, data):
            # No room on the disk: what is there is still the file's beginning.
            self._folder = None


def key(text: str) -> bytes:
    """What a text's vector is found by."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:_KEY_BYTES]


def _lock(folder: Path) -> int | None:
    """An open file that holds the folder until it is closed; None where another holds it."""
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            if folder.is_file():
                raise
            continue  # It was there, and was removed before it was seen to be a folder.
        try:
            descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:  # Removed since.
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if (folder / _LOCK).stat().st_ino == os.fstat(descriptor).st_ino:
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            return None
        except FileNotFoundError:
            pass
        os.close(descriptor)


def _remove_if_free(folder: Path) -> bool:
    lock = _lock(folder)
    if lock is None:
        return False
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)
    return True


def _size(folder: Path) -> int:
    return max(_LEAST_BYTES, sum(_stat(file)[0] for file in _files(folder)))


def _changed(folder: Path) -> float:
    return max((_stat(file)[1] for file in _files(folder)), default=_stat(folder)[1])


def _files(folder: Path) -> list[Path]:
    """What is in a folder; in one that has gone meanwhile, nothing."""
    try:
        return list(folder.iterdir())
    except FileNotFoundError:
        return []


def _stat(path: Path) -> tuple[int, float]:
    """Size and time of change; of what is gone, none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, 0.0
    return found.st_size, found.st_mtime


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _append(path: Path, data: bytes) -> bool:
    try:
        with path.open("ab") as file:
            file.write(data)
    except OSError:
        return False
    return True
