"""Builds the image of every service and of the command, and weighs each against its budget.

usage: python -m images.build [--base IMAGE] [--tag TAG] [--prefix NAME] [SERVICE...]

What counts is what an image adds to its base, uncompressed. Over its budget, the exit code is 1.
"""

import argparse
import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Megabytes over the base.
BUDGETS = {
    "gateway": 150,
    "orchestrator": 200,
    "generation": 200,
    "verification": 250,
    "retrieval": 350,
    "cli": 450,
}


def build(service: str, tag: str, base: str, more: list[str]) -> None:
    """Builds one image with Docker, on the host's network, on which packages are fetched."""
    arguments = {"BASE_IMAGE": base, "SERVICE": service, "VERSION": version()}
    revision = _said(["git", "rev-parse", "HEAD"])
    given = [f"{name}={value}" for name, value in {**arguments, "REVISION": revision}.items()]
    flags = [flag for one in [*given, *more] for flag in ("--build-arg", one)]
    subprocess.run(
        ["docker", "build", "--quiet", "--network", "host", *flags, "--tag", tag, "."],
        cwd=ROOT,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def version() -> str:
    """The version that pyproject.toml states, which is also the images' tag."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"])


def size(image: str) -> float:
    """Megabytes, uncompressed."""
    return int(json.loads(_said(["docker", "image", "inspect", image]))[0]["Size"]) / 1e6


def _said(command: list[str]) -> str:
    return subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default="python:3.12-slim-bookworm")
    parser.add_argument("--tag", default=version())
    parser.add_argument("--prefix", default="", help="such as registry.example/verity/")
    parser.add_argument("--build-arg", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("services", nargs="*", default=list(BUDGETS))
    options = parser.parse_args()
    heavy = []
    for service in options.services:
        image = f"{options.prefix}verity-{service}:{options.tag}"
        build(service, image, options.base, options.build_arg)
        over = size(image) - size(options.base)
        verdict = "ok" if over <= BUDGETS[service] else "OVER"
        print(f"{image:40} {over:6.0f} MB over its base, budget {BUDGETS[service]}: {verdict}")
        if over > BUDGETS[service]:
            heavy.append(service)
    return 1 if heavy else 0


if __name__ == "__main__":
    sys.exit(main())
