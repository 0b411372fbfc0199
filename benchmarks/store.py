"""A Redis of a benchmark's own."""

import asyncio
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from cli import redis_server


@asynccontextmanager
async def running(directory: Path) -> AsyncIterator[str]:
    """Its address; it is gone, with what it kept, when it is left."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        *redis_server.command(redis_server.binary(), port, directory), stdout=subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(10):
            await redis_server.ready(port)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        await process.wait()
