"""A service small enough to read, for those who start and stop processes."""

import asyncio
import sys

import psutil

from cli.processes import Spec

# Says that it is up by writing its pid; on SIGTERM says that too, and ends.
SERVICE = """
import os, pathlib, signal, sys
folder, name = pathlib.Path(sys.argv[1]), sys.argv[2]
def stop(*_):
    with (folder / "stopped").open("a") as log:
        log.write(name + "\\n")
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
(folder / (name + ".tmp")).write_text(str(os.getpid()))
(folder / (name + ".tmp")).rename(folder / (name + ".pid"))
while True:
    signal.pause()
"""
STUBBORN = SERVICE.replace(
    "signal.signal(signal.SIGTERM, stop)", "signal.signal(15, signal.SIG_IGN)"
)


async def until(condition, seconds=10.0):
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)  # What another process does raises no event here.


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def spec(folder, name="service", script=SERVICE, **fields) -> Spec:
    async def ready() -> None:
        await until((folder / f"{name}.pid").exists, 60)

    command = (sys.executable, "-c", script, str(folder), name)
    return Spec(name=name, log=f"{name}.jsonl", command=command, ready=ready, **fields)
