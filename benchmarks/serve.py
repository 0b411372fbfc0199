"""What it costs to ask over five processes: latency, throughput, and the time outside any stage.

The peer is the same five steps (retrieve, generate, verify, score, remember) called as plain
functions in one process, on the same documents and questions, with a Redis of the same kind: no
gRPC, no graph, no telemetry.
"""

import argparse
import asyncio
import os
import statistics
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from verity.v1 import core_pb2 as core
from verity.v1 import generation_service_pb2 as generation
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import retrieval_service_pb2 as retrieval
from verity.v1 import verification_service_pb2 as verification
from verity.v1.grounding_service_pb2_grpc import GroundingServiceStub

from benchmarks import processes, store
from services.chassis import cpu
from services.chassis.client import channel
from services.generation import __main__ as generation_main
from services.generation.messages import from_draft, to_task
from services.orchestrator.memory import new_answer_id
from services.orchestrator.redis_memory import Keeping, open_memory
from services.retrieval import __main__ as retrieval_main
from services.retrieval import messages as retrieval_messages
from services.retrieval.batching import Batcher
from services.retrieval.catalog import Catalog
from services.retrieval.onnx import OnnxEmbedder
from services.retrieval.search import Ranking, Searcher
from services.verification import messages as verification_messages
from services.verification import scoring
from services.verification.entailment import MIN_COVERAGE
from services.verification.verifier import VERIFIER, Verifier

# All are answered on the first attempt: the figures are of the path, not of the loop.
QUESTIONS = (
    "What must a corporate entity with a UBO holding more than 25% equity submit?",
    "Who decides when proof of funds is not notarized?",
    "What was TechCorp's revenue in the third quarter of 2024?",
    "Which UBO of Halcyon Trading holds 30% of the equity?",
    "What was the consensus revenue for TechCorp?",
)
TARGET_OUTSIDE = 0.20

Ask = Callable[[str], Awaitable[grounding.Answer]]


def measure(arguments: list[str]) -> dict[str, Any]:
    """The figures of one run; times in milliseconds.

    Returns:
        `ask`: per number of concurrent callers, p50_ms, p95_ms, answers_per_second and
        outside_stages (the share of the time asked for in which no stage of the answer ran);
        `plain`: the same for plain functions; `ratio`: ask over plain.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks serve")
    parser.add_argument("--asks", type=int, default=200, help="questions for each figure")
    parser.add_argument("--callers", type=int, nargs="+", default=[1, 8, 32])
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as directory:
        return asyncio.run(_measure(Path(directory), options.asks, options.callers))


async def _measure(data_dir: Path, asks: int, callers: list[int]) -> dict[str, Any]:
    async with processes.running(data_dir) as view:
        services = view["services"]
        async with _over_grpc(services["orchestrator"]["address"]) as ask:
            await _warm(ask)
            over_grpc = {str(count): await _load(ask, asks, count) for count in callers}
    # The embedded engine belongs to one process at a time: the system has ended before it is read.
    async with store.running(data_dir) as url, _plain(data_dir / "retrieval", url) as ask:
        await _warm(ask)
        plain = {str(count): await _load(ask, asks, count) for count in callers}
    one = over_grpc[str(callers[0])]
    return {
        "asks": asks,
        "cpus": os.cpu_count(),
        "seconds_to_serving": view["seconds_to_serving"],
        "rss_mib": {name: round(part["rss_bytes"] / 2**20) for name, part in services.items()},
        "ask": over_grpc,
        "plain": plain,
        "ratio": {
            count: {
                "p50": round(over_grpc[count]["p50_ms"] / plain[count]["p50_ms"], 2),
                "p95": round(over_grpc[count]["p95_ms"] / plain[count]["p95_ms"], 2),
                "answers_per_second": round(
                    over_grpc[count]["answers_per_second"] / plain[count]["answers_per_second"], 2
                ),
            }
            for count in over_grpc
        },
        "target": {
            "outside_stages": TARGET_OUTSIDE,
            "met": one["outside_stages"] < TARGET_OUTSIDE,
        },
    }


async def _load(ask: Ask, asks: int, callers: int) -> dict[str, float]:
    waiting = iter(range(asks))
    latencies: list[float] = []
    staged: list[float] = []

    async def caller() -> None:
        for number in waiting:
            started = time.perf_counter()
            answer = await ask(QUESTIONS[number % len(QUESTIONS)])
            latencies.append(time.perf_counter() - started)
            assert answer.status == grounding.Answer.STATUS_ANSWERED, answer.status
            staged.append(sum(one.duration.ToNanoseconds() for one in answer.stage_timings) / 1e9)

    started = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(callers)))
    elapsed = time.perf_counter() - started
    cuts = statistics.quantiles(latencies, n=20)
    figures = {
        "p50_ms": round(1000 * statistics.median(latencies), 2),
        "p95_ms": round(1000 * cuts[18], 2),
        "answers_per_second": round(asks / elapsed, 1),
    }
    if any(staged):
        figures["outside_stages"] = round(1 - sum(staged) / sum(latencies), 3)
    return figures


async def _warm(ask: Ask) -> None:
    for question in QUESTIONS:
        await ask(question)


@asynccontextmanager
async def _over_grpc(address: str) -> AsyncIterator[Ask]:
    async with channel(address, service="verity.v1.GroundingService", idempotent=[]) as opened:
        stub = GroundingServiceStub(opened)

        async def ask(question: str) -> grounding.Answer:
            reply = await stub.Ask(grounding.AskRequest(question=question), timeout=60)
            answer: grounding.Answer = reply.answer
            return answer

        yield ask


@asynccontextmanager
async def _plain(data_dir: Path, redis_url: str) -> AsyncIterator[Ask]:
    threads = cpu.threads()
    async with AsyncExitStack() as stack:
        stored = retrieval_main.Settings(data_dir=data_dir)
        index = await stack.enter_async_context(retrieval_main.open_index(stored))
        await index.prepare()
        batcher = await stack.enter_async_context(
            Batcher(OnnxEmbedder(), threads=threads).running()
        )
        searcher = Searcher(Catalog(index), batcher, Ranking(stored.dense_weight))
        drafter = await stack.enter_async_context(
            generation_main.open_drafter(generation_main.Settings())
        )
        executor = stack.enter_context(ThreadPoolExecutor(threads))
        verifier = Verifier(executor, MIN_COVERAGE)
        remembered = await stack.enter_async_context(
            open_memory(
                redis_url,
                Keeping(3600, 5, 100),
                timeout_seconds=0.5,
                pause_seconds=2.0,
            )
        )

        async def ask(question: str) -> grounding.Answer:
            found, _ = await searcher.search(
                "default", question, retrieval_messages.to_filter(retrieval.DocumentFilter()), 8
            )
            passages = [retrieval_messages.from_passage(passage) for passage in found]
            draft = from_draft(
                await drafter.draft(
                    to_task(generation.GenerateRequest(question=question, passages=passages))
                ),
                drafter.generator,
            )
            findings = await verifier.verify(
                [verification_messages.to_statement(one) for one in draft.statements],
                [verification_messages.to_passage(passage) for passage in passages],
            )
            total = sum(len(one.citations) for one in draft.statements)
            verified: verification.VerifyResponse = verification_messages.from_findings(
                findings, total, VERIFIER
            )
            confidence = scoring.score(
                [verification_messages.to_scored(one) for one in verified.statements],
                verified.citations_total,
                verified.citations_verified,
                scoring.Weights(0.6, 0.3, 0.1),
            )
            supported = [
                one for one in verified.statements if one.verdict == core.VERDICT_SUPPORTED
            ]
            conversation = uuid.uuid4().hex
            answer = grounding.Answer(
                id=new_answer_id(conversation),
                conversation_id=conversation,
                question=question,
                statements=supported,
                status=grounding.Answer.STATUS_ANSWERED,
                confidence=verification_messages.from_confidence(confidence),
            )
            await remembered.remember("default", answer, None)
            return answer

        yield ask
