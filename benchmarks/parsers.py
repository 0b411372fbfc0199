"""How files that are hard to read end: in text or a typed reason, in what time and memory.

Whether every file ends well, each in a process with the limits that the service sets, has no peer;
how fast PDFs are parsed has.
"""

import argparse
import asyncio
import json
import resource
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.parse_speed import pages_per_second
from services.chassis.errors import InvalidInput
from services.retrieval.isolation import Worker, WorkerDied, WorkerOutOfMemory, WorkerTimeout
from services.retrieval.reading import read, warm_up

SECONDS = 60.0
TARGET_MIB = 1024
# What must never happen, as it is named in the figures.
_BAD = {WorkerDied: "died", WorkerOutOfMemory: "out of memory", WorkerTimeout: "timed out"}


@dataclass(frozen=True, slots=True)
class Read:
    """What came of a file in the other process; `reason` is empty when it was read."""

    reason: str
    characters: int
    passages: int
    is_whole: bool
    ocr_pages: int
    peak_mib: int


def measure(arguments: list[str]) -> dict[str, Any]:
    """The figures of one run.

    Returns:
        `outcomes`: by kind of file, how many were read ("text") or refused, by reason; `by_tag`:
        the same by the manifest's tags; `slowest`: the five files that took longest, in seconds;
        `peak_mib`: the most memory that one took; `reproduced`: of how many read files the passages
        joined are the text; `bad`: files whose process died, hung or ran out of memory;
        `pages_per_second`: of parsing alone, beside peers.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks parsers")
    parser.add_argument("--data", type=Path, required=True, help="a folder of files")
    parser.add_argument("--pdfs", type=Path, help="a folder of PDFs to be parsed against peers")
    parser.add_argument("--pages", type=int, default=400, help="how many pages of them")
    options = parser.parse_args(arguments)
    pdfs = sorted((options.pdfs or options.data).glob("*.pdf"))
    files = sorted(p for p in options.data.iterdir() if p.is_file() and p.name != "manifest.jsonl")
    return {
        **asyncio.run(_measure(files, _tags(options.data / "manifest.jsonl"))),
        "pages_per_second": pages_per_second(pdfs, options.pages),
    }


async def _measure(files: list[Path], tags: dict[str, list[str]]) -> dict[str, Any]:
    outcomes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    by_tag: defaultdict[str, Counter[str]] = defaultdict(Counter)
    taken: dict[str, float] = {}
    results: list[Read] = []
    bad: dict[str, str] = {}
    async with Worker().running() as worker:
        for path in files:
            await worker.call(SECONDS, warm_up)
            data = await asyncio.to_thread(path.read_bytes)
            began = time.perf_counter()
            try:
                result = await worker.call(SECONDS, _read, data, path.name)
            except (WorkerDied, WorkerOutOfMemory, WorkerTimeout, RuntimeError) as error:
                outcome = bad[path.name] = _BAD.get(type(error), "raised")
            else:
                results.append(result)
                outcome = result.reason or "text"
            taken[path.name] = round(time.perf_counter() - began, 2)
            outcomes[path.suffix.lstrip(".").lower()][outcome] += 1
            for tag in tags.get(path.name, ()):
                by_tag[tag][outcome] += 1
    whole = [result for result in results if not result.reason]
    peak = max(result.peak_mib for result in results)
    return {
        "files": len(files),
        "outcomes": {kind: dict(counts.most_common()) for kind, counts in sorted(outcomes.items())},
        "by_tag": {tag: dict(counts.most_common()) for tag, counts in sorted(by_tag.items())},
        "slowest": dict(sorted(taken.items(), key=lambda item: -item[1])[:5]),
        "seconds": round(sum(taken.values()), 1),
        "peak_mib": peak,
        "characters": sum(result.characters for result in whole),
        "passages": sum(result.passages for result in whole),
        "ocr_pages": sum(result.ocr_pages for result in whole),
        "read": len(whole),
        "reproduced": sum(result.is_whole for result in whole),
        "bad": bad,
        "target": {
            "seconds": SECONDS,
            "mib": TARGET_MIB,
            "met": not bad and peak < TARGET_MIB and all(result.is_whole for result in whole),
        },
    }


def _read(data: bytes, name: str) -> Read:
    """Runs in the other process."""
    # From here on the kernel counts the peak anew.
    Path("/proc/self/clear_refs").write_text("5")
    try:
        reading = read(data, name, "", SECONDS / 2)
    except InvalidInput as error:
        return Read(error.reason, 0, 0, is_whole=True, ocr_pages=0, peak_mib=_peak_mib())
    text = reading.document.text
    return Read(
        reason="",
        characters=len(text),
        passages=len(reading.chunks),
        is_whole="".join(text[c.start : c.end] for c in reading.chunks) == text,
        ocr_pages=len(reading.document.ocr_pages),
        peak_mib=_peak_mib(),
    )


def _peak_mib() -> int:
    """The most memory that this process, and any that it started, held."""
    status = Path("/proc/self/status").read_text()
    own = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    return max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) // 1024


def _tags(manifest: Path) -> dict[str, list[str]]:
    if not manifest.exists():
        return {}
    rows = map(json.loads, manifest.read_text().splitlines())
    return {row["file"]: row["tags"] for row in rows}
