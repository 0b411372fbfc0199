"""The whole system as a user starts it, with the sample corpus in it."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


@asynccontextmanager
async def running(data_dir: Path) -> AsyncIterator[dict[str, Any]]:
    """What `verity up --json` says of it; it has ended when it is left."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "cli", "up", "--json", "--samples", "--port", "0"),
        *("--data-dir", str(data_dir)),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        limit=2**24,
    )
    try:
        assert process.stdout
        yield json.loads(await process.stdout.readline())
    finally:
        process.terminate()
        await process.wait()
