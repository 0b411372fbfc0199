"""A real Redis or Valkey for a test: the one on PATH, else the wheel's, on a socket of its own."""

import subprocess
import time
from pathlib import Path
from typing import Self

import redis

from cli.redis_server import binary


class Store:
    """A server in a directory; it can be stopped and started again on what it wrote."""

    def __init__(self, directory: Path, **settings: str) -> None:
        self._socket = directory / "s"
        self.url = f"unix://{self._socket}"
        options = {
            "port": "0",
            "unixsocket": str(self._socket),
            "dir": str(directory),
            "save": "",
            "appendonly": "yes",
            "maxmemory-policy": "noeviction",
            **{name.replace("_", "-"): value for name, value in settings.items()},
        }
        pairs = (part for name, value in options.items() for part in (f"--{name}", value))
        self._command = [binary(), *pairs]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                with self.client() as client:
                    client.ping()
            except redis.ConnectionError:
                time.sleep(0.01)  # What another process does raises no event here.
            else:
                return
        raise TimeoutError("the store did not start")

    def stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def client(self) -> redis.Redis:
        """For looking inside."""
        return redis.Redis.from_url(self.url, decode_responses=True)
