"""How many threads this process may use: the container's quota, not the host's cores."""

import math
import os
from pathlib import Path


def threads(cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """Whole CPUs this process may keep busy, at least 1: affinity, capped by the cgroup's quota.

    Args:
        cgroup: Where the control groups are mounted; version 2 and version 1 are both read.
    """
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    quota = _quota_v2(cgroup) or _quota_v1(cgroup) or math.inf
    return max(1, min(affinity or 1, math.floor(quota) if quota < math.inf else affinity or 1))


def _quota_v2(cgroup: Path) -> float | None:
    words = _read(cgroup / "cpu.max").split()  # "max 100000" or "50000 100000"
    return _cpus(words[0], words[1]) if len(words) == 2 else None  # noqa: PLR2004 - the file's format


def _quota_v1(cgroup: Path) -> float | None:
    folder = cgroup / "cpu"
    return _cpus(_read(folder / "cpu.cfs_quota_us"), _read(folder / "cpu.cfs_period_us"))


def _cpus(quota: str, period: str) -> float | None:
    # "max" and -1 say that there is no limit.
    if not (quota.isdecimal() and period.isdecimal()) or int(period) == 0:
        return None
    return int(quota) / int(period)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
