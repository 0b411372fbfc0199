"""Where the running system is: a file in its data directory, locked for as long as it runs."""

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cli.errors import CliError

FILE = "system.json"


class Claim:
    """The right to run on a data directory; `publish` says where its services answer."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def publish(
        self,
        addresses: Mapping[str, str],
        environments: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """Makes known to the other commands where the services are, and what each was told."""
        known = {
            "pid": os.getpid(),
            "addresses": dict(addresses),
            "environments": {name: dict(told) for name, told in (environments or {}).items()},
        }
        content = json.dumps(known, indent=2)
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, content.encode() + b"\n", 0)


@contextmanager
def claim(data_dir: Path) -> Iterator[Claim]:
    """Holds the data directory: two systems writing into one would ruin both."""
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(data_dir / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise CliError(
            f"The data directory {data_dir} cannot be used: {error.strerror}.",
            hint="Give another with --data-dir.",
        ) from error
    try:
        if not _lock_soon(descriptor):
            raise CliError(
                f"A system is already running on {data_dir}.",
                hint="Stop it, or give another directory with --data-dir.",
            )
        claimed = Claim(descriptor)
        claimed.publish({})
        try:
            yield claimed
        finally:
            os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def addresses(data_dir: Path) -> dict[str, str]:
    """The address of each service that runs on the data directory; empty when none does."""
    return _published(data_dir, "addresses")


def environments(data_dir: Path) -> dict[str, dict[str, str]]:
    """What the system that runs on the data directory told each of its processes."""
    return _published(data_dir, "environments")


def _published(data_dir: Path, what: str) -> dict[str, Any]:
    try:
        descriptor = os.open(data_dir / FILE, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return {}
    try:
        if _lock(descriptor):
            return {}  # Nobody holds it: what it says was left by a system that was killed.
        content = os.pread(descriptor, 65536, 0)
    finally:
        os.close(descriptor)
    try:
        return dict(json.loads(content)[what])
    except (ValueError, KeyError):
        return {}  # Caught between truncating and writing: as good as not started yet.


def address(name: str, given: str, data_dir: Path) -> str:
    """Where to reach a service: as given, else as the system running on the data directory says."""
    found = given or addresses(data_dir).get(name, "")
    if not found:
        raise CliError(
            f"No system is running on {data_dir}.",
            code="UNAVAILABLE",
            hint="Start it with `verity up`, or say where it is with --address or --data-dir.",
        )
    return found


def _lock_soon(descriptor: int) -> bool:
    # A command that looks for the system holds the lock for microseconds; a system holds it longer.
    for _ in range(25):
        if _lock(descriptor):
            return True
        time.sleep(0.02)
    return False


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
