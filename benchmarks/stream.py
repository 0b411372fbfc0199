"""When the first verified statement is there, beside waiting for the whole answer.

A scripted OpenAI-compatible endpoint on loopback drafts at 30 tokens a second. Generation,
verification and the orchestrator are the real ones, over real channels; the passages are given,
and there is no memory. The peer is `Ask` of the same question in the same run: the time until its
answer.
"""

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import grounding_service_pb2_grpc as grounding_rpc
from verity.v1 import retrieval_service_pb2 as retrieval
from verity.v1 import retrieval_service_pb2_grpc as retrieval_rpc

from benchmarks.in_process import SECONDS, system
from services.chassis import telemetry
from services.chassis.settings import Settings
from services.generation import __main__ as generation_main
from services.orchestrator import redis_memory

TARGET = 0.5
CHARS_A_TOKEN = 4
SENTENCES = (
    "Any entity with a UBO holding more than 25% equity must submit a notarized proof of funds.",
    "If proof of funds is not notarized, the onboarding must be escalated to the Senior Officer.",
    "A relationship with a politically exposed person is approved by the Head of Compliance.",
    "Customer files are reviewed every 12 months where the risk is high.",
    "Records are kept for five years after the relationship has ended.",
    "A passport copy is certified by a notary not more than 90 days before it is submitted.",
)
PASSAGES = [
    core.Passage(
        id=f"p{n}",
        document_id="policy",
        source_name="policy.md",
        document_sha256="ab" * 32,
        text=sentence,
        span=core.Span(start=1000 * n, end=1000 * n + len(sentence)),
        authority=core.AUTHORITY_HIGH,
        score=1 - n / 10,
    )
    for n, sentence in enumerate(SENTENCES)
]
QUESTION = grounding.AskRequest(question="What does the policy say of onboarding?")


def measure(arguments: list[str]) -> dict[str, Any]:
    """The medians of some runs, in seconds."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks stream", description=__doc__)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--tokens-per-second", type=float, default=30.0)
    options = parser.parse_args(arguments)
    with telemetry.configured("benchmark", Settings(log_level="error")):
        return asyncio.run(_measure(options.runs, options.tokens_per_second))


async def _measure(runs: int, speed: float) -> dict[str, Any]:
    first, last, whole = [], [], []
    async with _endpoint(speed) as url, _system(url) as stub:
        for _ in range(runs):
            began = time.perf_counter()
            at = [
                time.perf_counter() - began
                async for event in stub.AskStream(grounding.AskStreamRequest(ask=QUESTION))
                if event.HasField("statement_verified")
            ]
            first.append(at[0])
            last.append(at[-1])
            began = time.perf_counter()
            answer = (await stub.Ask(QUESTION)).answer
            whole.append(time.perf_counter() - began)
    ratio = statistics.median(first) / statistics.median(whole)
    return {
        "runs": runs,
        "tokens_per_second": speed,
        "tokens": len(_pieces(_draft())),
        "statements": len(answer.statements),
        "status": grounding.Answer.Status.Name(answer.status),
        "first_statement_s": round(statistics.median(first), 2),
        "last_statement_s": round(statistics.median(last), 2),
        "peer_whole_answer_s": round(statistics.median(whole), 2),
        "ratio": round(ratio, 3),
        "target": {"ratio": TARGET, "met": ratio <= TARGET},
    }


def _draft() -> str:
    """As the prompt asks for it: each source is named src_N in the order of the passages."""
    statements = [
        {"text": sentence, "citations": [{"source": f"src_{n}", "quote": sentence}]}
        for n, sentence in enumerate(SENTENCES)
    ]
    return json.dumps(
        {
            "statements": statements,
            "insufficient": False,
            "compliance": "not_asked",
            "suggested_query": "",
        }
    )


def _pieces(text: str) -> list[str]:
    return [text[n : n + CHARS_A_TOKEN] for n in range(0, len(text), CHARS_A_TOKEN)]


@asynccontextmanager
async def _endpoint(speed: float) -> AsyncIterator[str]:
    """Says the draft piece by piece, to whoever asks."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = head.partition("content-length: ")[2].partition("\r\n")[0]
        await reader.readexactly(int(length or 0))
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
        )
        began = time.perf_counter()
        for count, piece in enumerate(_pieces(_draft()), 1):
            await asyncio.sleep(began + count / speed - time.perf_counter())
            writer.write(_chunk({"content": piece}))
            await writer.drain()
        writer.write(_chunk({}, "stop") + b"data: [DONE]\n\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


def _chunk(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {
        "id": "1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "scripted",
        "choices": [choice],
    }
    return f"data: {json.dumps(body)}\n\n".encode()


class _Given(retrieval_rpc.RetrievalServiceServicer):
    """Finds the passages, whatever is asked."""

    async def Retrieve(
        self, request: retrieval.RetrieveRequest, _context: Any
    ) -> retrieval.RetrieveResponse:
        report = core.SearchReport(passage_count=len(PASSAGES), query=request.query)
        return retrieval.RetrieveResponse(passages=PASSAGES, report=report)


@asynccontextmanager
async def _system(url: str) -> AsyncIterator[grounding_rpc.GroundingServiceStub]:
    """A client of an orchestrator without a memory, with what that needs."""
    drafting = generation_main.Settings(
        backend="openai", model="scripted", openai_base_url=url, structured_output="json_object"
    )
    keeping = redis_memory.Keeping(60, turns=1)
    async with (
        redis_memory.open_memory(
            "redis://127.0.0.1:1", keeping, timeout_seconds=0.1, pause_seconds=SECONDS
        ) as memory,
        system(_Given(), drafting, memory, passages=len(PASSAGES)) as stub,
    ):
        yield stub
