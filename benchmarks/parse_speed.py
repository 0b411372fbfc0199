"""Pages per second of parsing alone, against the parsers that a newcomer would take.

Each file is read by all, one after the other, in one process and one thread. Peers give the text of
each page; Verity gives its layout too: boxes, headings, tables, running headers.
"""

import importlib
import io
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from services.retrieval.parsers import parse

Reader = Callable[[bytes], int]


def pages_per_second(files: Sequence[Path], most_pages: int) -> dict[str, Any]:
    """The figures for as many files, smallest first, as have this many pages together.

    A file that one of them cannot read counts for none.
    """
    readers: dict[str, Reader] = {"verity": _verity, **_peers()}
    seconds: Counter[str] = Counter()
    pages = 0
    for path in sorted(files, key=lambda path: path.stat().st_size):
        if pages >= most_pages:
            break
        with suppress(Exception):  # Each peer has errors of its own.
            taken, count = _timed(path.read_bytes(), readers)
            seconds.update(taken)
            pages += count
    speeds = {name: round(pages / seconds[name], 1) for name in readers if seconds[name]}
    return {
        "pages": pages,
        **speeds,
        "times_as_fast": {
            name: round(speeds["verity"] / speeds[name], 1)
            for name in readers
            if name != "verity" and speeds.get(name)
        },
        "missing_peers": sorted({"pypdf", "pdfplumber"} - readers.keys()),
        "install_peers": "pip install -r benchmarks/peers.txt",
    }


def _timed(data: bytes, readers: Mapping[str, Reader]) -> tuple[dict[str, float], int]:
    taken: dict[str, float] = {}
    pages = 0
    for name, reader in readers.items():
        began = time.perf_counter()
        pages = reader(data)
        taken[name] = time.perf_counter() - began
    return taken, pages


def _verity(data: bytes) -> int:
    return len(parse(data, "a.pdf").pages)


def _peers() -> dict[str, Reader]:
    """Those that are installed."""
    found: dict[str, Reader] = {}
    with suppress(ImportError):
        pypdf = importlib.import_module("pypdf")
        found["pypdf"] = lambda data: len(
            [page.extract_text() for page in pypdf.PdfReader(io.BytesIO(data)).pages]
        )
    with suppress(ImportError):
        pdfplumber = importlib.import_module("pdfplumber")

        def read(data: bytes) -> int:
            with pdfplumber.open(io.BytesIO(data)) as pdf:
                return len([page.extract_text() for page in pdf.pages])

        found["pdfplumber"] = read
    return found
