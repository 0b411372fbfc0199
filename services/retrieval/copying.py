"""A consistent copy of the embedded index and the originals, made while the service goes on.

Who may write to the data directory may ask for one, on a socket in it: each connection is answered
with a line of JSON that names the copy, which is there for as long as the connection is open.
"""

import asyncio
import json
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import structlog

from services.retrieval.qdrant_edge import EdgeIndex

SOCKET = "copy.sock"
_PREFIX = "copy-"
# What a socket's path may have on every system.
_MOST_PATH_BYTES = 100


@asynccontextmanager
async def offered(index: EdgeIndex, data_dir: Path, originals: Path | None) -> AsyncIterator[None]:
    """Answers on the socket while the block runs.

    Args:
        index: Copied whole, with all that is written by then.
        data_dir: Where the socket and the copies lie.
        originals: Copied too, as they were at the same moment; None when they lie elsewhere.
    """
    data_dir = data_dir.absolute()  # noqa: ASYNC240 - it asks the process, not the disk
    log, path = structlog.get_logger(__name__), data_dir / SOCKET
    await asyncio.to_thread(_clean, data_dir)
    if len(os.fsencode(path)) > _MOST_PATH_BYTES:
        log.warning("no_copies_while_serving", reason="the data directory's path is too long")
        yield
        return
    copying = asyncio.Lock()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        place = None
        try:
            async with copying:
                place = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=data_dir))
                await _copy(index, originals, place)
            writer.write(json.dumps({"copy": str(place)}).encode() + b"\n")
            await writer.drain()
            await reader.read()  # Until the other end has what it wants.
        except OSError as error:
            log.warning("copy_not_made", error=type(error).__name__)
            writer.write(json.dumps({"error": error.strerror or "failed"}).encode() + b"\n")
        finally:
            writer.close()
            if place:
                await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)

    old = os.umask(0o177)  # Nobody but this user may connect.
    try:
        server = await asyncio.start_unix_server(answer, path)
    finally:
        os.umask(old)
    try:
        yield
    finally:
        server.close()
        path.unlink(missing_ok=True)


async def _copy(index: EdgeIndex, originals: Path | None, place: Path) -> None:
    def also() -> None:
        # While nothing is written: the records in the index name exactly these files.
        if originals and originals.exists():
            shutil.copytree(
                originals,
                place / "originals",
                copy_function=_link,
                ignore=shutil.ignore_patterns(".*"),
            )

    await index.copy(place / "index", also)


def _link(source: str, target: str) -> None:
    """They are written once and replaced whole, so a second name is as good as a copy."""
    try:
        os.link(source, target)
    except FileNotFoundError:
        return  # Of a version that was just replaced, which the index no longer names.
    except OSError:
        shutil.copy2(source, target)


def _clean(data_dir: Path) -> None:
    data_dir.mkdir(parents=True, exist_ok=True)
    for left in data_dir.glob(f"{_PREFIX}*"):
        shutil.rmtree(left, ignore_errors=True)
    (data_dir / SOCKET).unlink(missing_ok=True)
