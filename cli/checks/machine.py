"""What of this machine a service needs: room on its disk, its modules, programs, files."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path

from cli.checks.finding import Finding, failure, fine, warning

_LITTLE, _NONE = 2 * 2**30, 256 * 2**20
_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*([^;]*)(?:;(.*))?$")
_EXTRA = re.compile(r"""extra == ['"]([\w-]+)['"]""")
_BOUND = re.compile(r"(>=|==|<)\s*([\d.]+)")


def room(directory: Path, index: Path | None = None) -> list[Finding]:
    """Whether there is room to write, and, for an embedded index, to optimize a copy of it."""
    place = next(path for path in (directory, *directory.parents) if path.exists())
    free = shutil.disk_usage(place).free
    held = _size(index) if index else 0
    return judge_room(str(directory), free, held)


def judge_room(where: str, free: int, held: int) -> list[Finding]:
    """Pure."""
    says = f"{where} has {free / 2**30:.1f} GiB left"
    mend = "make room, or give it a larger volume (VERITY_DATA_DIR)"
    if free < _NONE:
        return [failure("disk", says, mend)]
    if free < held:
        says += f", less than the index's {held / 2**30:.1f} GiB, which it takes once more at times"
        return [warning("disk", says, mend)]
    return [warning("disk", says, mend) if free < _LITTLE else fine("disk", says)]


def _size(directory: Path) -> int:
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                total += Path(folder, name).stat().st_blocks * 512
            except OSError:
                continue  # Removed this moment.
    return total


def modules(
    extras: Iterable[str],
    requires: Iterable[str] | None = None,
    version: Callable[[str], str] = metadata.version,
) -> list[Finding]:
    """Whether what the extras ask for is installed, in a version that they take."""
    wanted, found = {"", *extras}, []
    for line in requires if requires is not None else metadata.requires("verity") or ():
        parts = _REQUIREMENT.match(line)
        if not parts:
            continue
        name, bounds, marker = parts.group(1), parts.group(2), parts.group(3) or ""
        extra = _EXTRA.search(marker)
        if (extra.group(1) if extra else "") not in wanted:
            continue
        mend = f'pip install "verity[{extra.group(1)}]"' if extra else "install verity again"
        try:
            installed = version(name)
        except metadata.PackageNotFoundError:
            found.append(failure("modules", f"{name} is not installed", mend))
            continue
        if not _within(installed, bounds):
            says = f"{name} {installed} is installed, {bounds.strip()} is wanted"
            found.append(failure("modules", says, mend))
    return found or [fine("modules", f"all of {', '.join(sorted(wanted - {''}))} are installed")]


def _within(installed: str, bounds: str) -> bool:
    return all(
        {
            ">=": _numbers(installed) >= _numbers(bound),
            "<": _numbers(installed) < _numbers(bound),
            "==": _numbers(installed) == _numbers(bound),
        }[kind]
        for kind, bound in _BOUND.findall(bounds)
    )


def _numbers(version: str) -> tuple[int, ...]:
    found = [int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:3]]
    return (*found, *[0] * (3 - len(found)))


def ocr(languages: str, seconds: float) -> list[Finding]:
    """Whether text in pictures can be read, in the languages that the settings name."""
    program = shutil.which("tesseract")
    if program is None:
        says = "tesseract is not installed: pages that are only pictures have no text"
        return [warning("ocr", says, "install tesseract-ocr, where documents are scans")]
    try:
        listed = subprocess.run(  # noqa: S603 - a program of this machine
            [program, "--list-langs"], capture_output=True, text=True, timeout=seconds, check=False
        ).stdout.split()
    except (OSError, subprocess.TimeoutExpired):
        return [warning("ocr", "tesseract does not run", "install it again")]
    if missing := [name for name in languages.split("+") if name not in listed]:
        says = f"tesseract has no data for {', '.join(missing)}"
        mend = f"install tesseract-ocr-{missing[0]}, or change VERITY_OCR_LANGUAGES"
        return [failure("ocr", says, mend)]
    return [fine("ocr", f"tesseract reads {languages}")]


def directory(setting: str, path: str) -> list[Finding]:
    """Whether a directory that a setting names can be read."""
    place = Path(path)
    if not place.is_dir():
        return [failure("paths", f"{setting} is {path}, which is no directory", "mount or mend it")]
    if not os.access(place, os.R_OK | os.X_OK):
        mend = "let the service's user read it"
        return [failure("paths", f"{setting} is {path}, which cannot be read", mend)]
    return []


def writable(check: str, setting: str, place: Path) -> list[Finding]:
    """Whether a service could write there; the directory may be still to be made."""
    nearest = next(path for path in (place, *place.parents) if path.exists())
    if not os.access(nearest, os.W_OK | os.X_OK):
        mend = f"let the service's user own it, or change {setting}"
        return [failure(check, f"{nearest} cannot be written to", mend)]
    return [fine(check, f"{place} can be written to")]
