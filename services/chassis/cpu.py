"""CPU-bound work: how many threads it may have, and how to hand it to one of them."""

import asyncio
import contextvars
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(
    executor: Executor, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Runs a blocking function off the event loop, inside the trace and deadline of its caller."""
    context = contextvars.copy_context()
    work = partial(context.run, function, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(executor, work)


def threads(cgroups: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> int:
    """Whole CPUs that this process may keep busy, at least 1.

    Thread pools that are sized by the host's cores are throttled in a container: what counts is the
    smallest of the affinity and the quotas of the control groups above the process.

    Args:
        cgroups: Where the control groups are mounted, version 1 or 2.
        own: Lists the control groups of this process.
    """
    quotas = [quota for folder in _folders(cgroups, own) for quota in _quotas(folder)]
    return max(1, int(min([len(os.sched_getaffinity(0)), *quotas])))


def _folders(cgroups: Path, own: Path) -> Iterator[Path]:
    """The process's groups and those above; in a container, often only the mount itself exists."""
    for line in _read(own).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers in ("", "cpu", "cpu,cpuacct"):
            mount = cgroups / controllers
            group = mount / path.lstrip("/")
            yield from (group, *(above for above in group.parents if above.is_relative_to(mount)))
    yield from (cgroups, cgroups / "cpu")


def _quotas(folder: Path) -> Iterator[float]:
    version_2 = _read(folder / "cpu.max").split()  # "max 100000" or "50000 100000"
    version_1 = [_read(folder / "cpu.cfs_quota_us"), _read(folder / "cpu.cfs_period_us")]
    for words in (version_2, version_1):
        if all(word.isdecimal() for word in words) and any(words):  # Neither "max" nor -1.
            yield int(words[0]) / int(words[1])


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""
