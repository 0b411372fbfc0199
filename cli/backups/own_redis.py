"""A Redis of a local system, started on its directory for as long as a command needs it."""

import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.retry import Retry

from cli import redis_server
from cli.errors import CliError

_START_SECONDS = 30.0


@contextmanager
def on(directory: Path) -> Iterator[Redis]:
    """A client of a server on what the directory holds; all is on disk when the block ends."""
    directory.mkdir(parents=True, exist_ok=True)
    # In a directory of its own: a socket's path must be short.
    with tempfile.TemporaryDirectory() as folder:
        socket = Path(folder, "s")
        command = [
            *redis_server.command(redis_server.binary(), 0, directory.resolve()),
            *("--unixsocket", str(socket), "--unixsocketperm", "600"),
        ]
        process = subprocess.Popen(  # noqa: S603 - the server that `verity up` starts too
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            # One try: the client would look for a server that has shut down for seconds.
            with Redis(unix_socket_path=str(socket), retry=Retry(NoBackoff(), 0)) as client:
                _wait(client, process)
                yield client
                with suppress(RedisConnectionError):  # It has shut down: that is its answer.
                    client.execute_command("SHUTDOWN")
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(_START_SECONDS)


def _wait(client: Redis, process: subprocess.Popen[bytes]) -> None:
    ends = time.monotonic() + _START_SECONDS
    while time.monotonic() < ends and process.poll() is None:
        try:
            client.ping()
        except RedisError:  # Not listening yet, or still loading.
            time.sleep(0.02)
        else:
            return
    raise CliError("Redis did not start.", hint="Is its directory whole, and can it be written to?")
