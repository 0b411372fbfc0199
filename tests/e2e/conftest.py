"""A whole system of real processes, started once, and what talks to it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest

from tests.otlp_receiver import Receiver

ROOT = Path(__file__).parents[2]
COMMAND_SECONDS = 120
# A system that runs elsewhere: its gateway, and a token for it; see `make e2e`.
TARGET = os.environ.get("E2E_TARGET", "")
TOKEN = os.environ.get("E2E_TOKEN", "")
UP = (sys.executable, "-m", "cli", "up", "--json", "--port", "0")


@dataclass(frozen=True)
class System:
    """What `verity up --json` printed, and the commands of a user beside it."""

    process: subprocess.Popen[str]
    view: dict[str, Any]
    data_dir: Path
    receiver: Receiver

    def address(self, service: str) -> str:
        return self.view["services"][service]["address"]

    def run(self, *arguments: str, timeout: float = COMMAND_SECONDS) -> tuple[int, dict[str, Any]]:
        """One `verity` command with --json: its exit code and its object."""
        done = subprocess.run(
            [sys.executable, "-m", "cli", *arguments, "--data-dir", self.data_dir, "--json"],
            cwd=ROOT,
            env=surroundings(self.receiver),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        lines = done.stdout.splitlines()
        assert len(lines) == 1, (done.stdout, done.stderr)
        return done.returncode, json.loads(lines[0])

    @contextlib.contextmanager
    def channel(self, service: str) -> Iterator[grpc.Channel]:
        with grpc.insecure_channel(self.address(service)) as opened:
            yield opened


def surroundings(receiver: Receiver, **more: str) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("VERITY_")}
    return {
        **own,
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": receiver.endpoint,
        "OTEL_BSP_SCHEDULE_DELAY": "200",
        "PYTHONUNBUFFERED": "1",
        # A store that is merely slow, on a machine that does much else, is not what these test.
        "VERITY_REDIS_TIMEOUT_SECONDS": "5",
        **more,
    }


@contextlib.contextmanager
def running(
    data_dir: Path, receiver: Receiver, *flags: str, environment: Mapping[str, str] | None = None
) -> Iterator[System]:
    """`verity up` on free ports; leaving it is a SIGTERM, after which it must end by itself."""
    process = subprocess.Popen(
        [*UP, "--data-dir", data_dir, *flags],
        cwd=ROOT,
        env=surroundings(receiver, **(environment or {})),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        line = process.stdout.readline()
        assert line, "verity up ended without a word"
        view = json.loads(line)
        assert "services" in view, view
        yield System(process, view, data_dir, receiver)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A system that runs elsewhere is asked what any gateway answers, and nothing is stopped."""
    if TARGET:
        reason = f"needs a system of its own, not {TARGET}"
        for item in items:
            if "e2e" in item.path.parts and not item.get_closest_marker("anywhere"):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def gateway(request: pytest.FixtureRequest) -> Iterator[httpx.Client]:
    """The gateway that E2E_TARGET names, else that of the system which is started here."""
    target = TARGET or request.getfixturevalue("system").address("gateway")
    with httpx.Client(
        base_url=target if "://" in target else f"http://{target}",
        headers={"Authorization": f"Bearer {TOKEN}"} if TOKEN else {},
        trust_env=False,
        timeout=120,
    ) as opened:
        yield opened


@pytest.fixture(scope="session")
def system(tmp_path_factory: pytest.TempPathFactory, receiver: Receiver) -> Iterator[System]:
    """The sample corpus is in it, and the three questions have been asked once."""
    with running(tmp_path_factory.mktemp("system"), receiver, "--samples") as started:
        yield started
