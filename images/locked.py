"""Prints the part of requirements.lock that some extras need, hashes and all.

usage: python3 images/locked.py pyproject.toml requirements.lock EXTRA...

An extra "only:NAME" is the package NAME and what it needs, without what every service needs. It
runs before anything is installed, on the standard library alone.
"""

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_ONLY = "only:"


@dataclass(frozen=True)
class Pin:
    """One package of the lock.

    Attributes:
        name: As PyPI writes it.
        text: Its lines, version, marker and hashes, without comments.
        wanted_by: The packages on whose account it is there.
    """

    name: str
    text: str
    wanted_by: frozenset[str]


def pins(lock: str) -> Iterator[Pin]:
    """The packages of a lock as `uv pip compile` annotates it."""
    for block in re.split(r"\n(?=[A-Za-z0-9])", f"\n{lock}")[1:]:
        lines = block.splitlines()
        comments = [line.strip().lstrip("#").strip() for line in lines if "#" in line]
        wanted_by = {line.removeprefix("via").strip() for line in comments}
        text = "\n".join(line for line in lines if not line.strip().startswith("#"))
        yield Pin(name(block), text, frozenset(wanted_by - {"", "verity (pyproject.toml)"}))


def name(requirement: str) -> str:
    """The name that a requirement begins with, as PyPI writes it."""
    found = _NAME.match(requirement)
    if found is None:
        raise ValueError(f"no name in {requirement!r}")
    return re.sub(r"[-_.]+", "-", found.group()).lower()


def needed(project: Mapping[str, Any], lock: str, extras: Sequence[str]) -> list[Pin]:
    """The pins of what the extras name and of all that those need in turn."""
    everything = list(pins(lock))
    found = {name(one) for one in _roots(project, extras)}
    if missing := found - {pin.name for pin in everything}:
        raise ValueError(f"not in the lock: {', '.join(sorted(missing))}")
    while more := {
        pin.name for pin in everything if pin.name not in found and pin.wanted_by & found
    }:
        found |= more
    return [pin for pin in everything if pin.name in found]


def _roots(project: Mapping[str, Any], extras: Sequence[str]) -> Iterator[str]:
    if not extras or any(not extra.startswith(_ONLY) for extra in extras):
        yield from project["dependencies"]
    for extra in extras:
        if extra.startswith(_ONLY):
            yield extra.removeprefix(_ONLY)
        else:
            yield from project["optional-dependencies"][extra]


def _main(pyproject: str, lock: str, *extras: str) -> None:
    project = tomllib.loads(Path(pyproject).read_text(encoding="utf-8"))["project"]
    for pin in needed(project, Path(lock).read_text(encoding="utf-8"), extras):
        print(pin.text)


if __name__ == "__main__":
    _main(*sys.argv[1:])
