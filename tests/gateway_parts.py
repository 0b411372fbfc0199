"""The gateway as it runs, with stand-ins for the services behind real channels."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from google.protobuf import descriptor_pool
from google.protobuf.message_factory import GetMessageClass
from verity.v1 import core_pb2 as core
from verity.v1 import (
    generation_service_pb2_grpc,
    grounding_service_pb2_grpc,
    retrieval_service_pb2_grpc,
    verification_service_pb2_grpc,
)
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import retrieval_service_pb2 as retrieval

from services.chassis.authentication import opened
from services.chassis.errors import InvalidInput
from services.chassis.server import Service
from services.chassis.server import serving as grpc_serving
from services.chassis.settings import Settings
from services.gateway.app import Draining, Edge, build
from services.gateway.server import Serving, serving
from services.gateway.upstream import Deadlines, Upstream, connected
from tests.fakes import citation, passage

ADDERS = {
    "verity.v1.GroundingService": grounding_service_pb2_grpc.add_GroundingServiceServicer_to_server,
    "verity.v1.RetrievalService": retrieval_service_pb2_grpc.add_RetrievalServiceServicer_to_server,
    "verity.v1.GenerationService": (
        generation_service_pb2_grpc.add_GenerationServiceServicer_to_server
    ),
    "verity.v1.VerificationService": (
        verification_service_pb2_grpc.add_VerificationServiceServicer_to_server
    ),
}
PNG = b"\x89PNG\r\n\x1a\n"
SOURCE = passage()
QUOTE = "a notarized proof of funds"


def answer(conversation: str = "talk", question: str = "What must be submitted?"):
    """One answered, with a rejected statement and two citations of one page."""
    cited = [citation(SOURCE, QUOTE), citation(SOURCE, "Any corporate entity")]
    released = core.VerifiedStatement(
        text="It must submit a notarized proof of funds.",
        verdict=core.VERDICT_SUPPORTED,
        citations=cited,
    )
    rejected = core.Objection(
        attempt=2,
        statement=core.DraftStatement(text="It must submit two."),
        verdict=core.VERDICT_UNSUPPORTED,
        outcome=core.Objection.OUTCOME_ABANDONED,
        reasons=[core.Reason(code=core.Reason.CODE_NUMBER_MISMATCH, message="Not there.")],
    )
    earlier = core.Objection(
        attempt=1,
        statement=core.DraftStatement(text="Earlier."),
        outcome=core.Objection.OUTCOME_CORRECTED,
    )
    reworded = core.Objection(
        attempt=1,
        statement=core.DraftStatement(text="Two must be submitted."),
        outcome=core.Objection.OUTCOME_ABANDONED,
    )
    given = grounding.Answer(
        id="answer-1",
        conversation_id=conversation,
        question=question,
        text="It must submit a notarized proof of funds. [1][2]",
        status=grounding.Answer.STATUS_PARTIAL,
        statements=[released],
        compliance=core.COMPLIANCE_COMPLIANT,
        confidence=core.Confidence(
            grounding_confidence=0.98765, citation_accuracy=2 / 3, source_authority=1, coverage=0.5
        ),
        historical_quality=0.12345,
        stage_timings=[core.StageTiming(stage="retrieve", attempt=1)],
        attempts=2,
        objections=[earlier, reworded, rejected, rejected],
        trace_id="ab" * 16,
    )
    given.stage_timings[0].duration.FromMilliseconds(12)
    return given


@dataclass
class Behaviour:
    """What the stand-ins do and what they saw."""

    error: Exception | None = None
    held: asyncio.Event | None = None
    # Whether AskStream goes on for ever.
    flood: bool = False
    # Of a stream, after so many replies.
    error_after: int = -1
    requests: list = field(default_factory=list)
    metadata: list[dict[str, str]] = field(default_factory=list)
    remaining: list[float | None] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    uploaded: bytearray = field(default_factory=bytearray)

    @asynccontextmanager
    async def around(self, request, context):
        self.requests.append(request)
        self.metadata.append({k: str(v) for k, v in context.invocation_metadata() or ()})
        self.remaining.append(context.time_remaining())
        self.asked.set()
        if self.error and self.error_after < 0:
            raise self.error
        try:
            if self.held and self.error_after < 0:
                await self.held.wait()
            yield
        except (asyncio.CancelledError, GeneratorExit):  # The latter while a reply is written.
            self.cancelled.set()
            raise

    async def between(self, count):
        """After that many replies of a stream: fails or waits, if told to."""
        if count == self.error_after:
            if self.error:
                raise self.error
            await self.held.wait()


def events():
    stage = core.StageTiming(stage="retrieve", attempt=1)
    stream = grounding.AskStreamResponse
    return [
        stream(stage_started=stream.StageStarted(stage="retrieve", attempt=1)),
        stream(stage_finished=stage),
        stream(statement_verified=stream.StatementVerified(statement=answer().statements[0])),
        stream(answer=answer()),
    ]


def servicer(service: str, behaviour: Behaviour) -> object:
    """Answers every method of a service with an empty reply, and a few with something in it."""
    described = descriptor_pool.Default().FindServiceByName(service)
    made = type("Fake", (), {})()
    for method in described.methods:
        kind = _upload if method.client_streaming else _stream if method.server_streaming else _one
        setattr(made, method.name, kind(method, behaviour))
    return made


FULL = {
    "Ask": lambda r: grounding.AskResponse(answer=answer(r.conversation_id, r.question)),
    "GetAnswer": lambda r: grounding.GetAnswerResponse(answer=answer()),
    "RenderPage": lambda r: retrieval.RenderPageResponse(png=PNG, width_pixels=7),
    "GetDocument": lambda r: retrieval.GetDocumentResponse(
        document=core.Document(id=r.document_id, size_bytes=2**53 + 1)
    ),
    "Retrieve": lambda r: retrieval.RetrieveResponse(passages=[SOURCE]),
}


def _one(method, behaviour):
    async def answered(request, context):
        async with behaviour.around(request, context):
            make = FULL.get(method.name)
            return make(request) if make else GetMessageClass(method.output_type)()

    return answered


def _stream(method, behaviour):
    async def answered(request, context):
        async with behaviour.around(request, context):
            replies = events() if method.name == "AskStream" else []
            for count, reply in enumerate(replies):
                await behaviour.between(count)
                yield reply
            while behaviour.flood:
                yield replies[-1]

    return answered


def _upload(_method, behaviour):
    response = retrieval.IngestDocumentResponse
    progress, result = response.Progress, response.Result

    async def answered(requests, context):
        first = await anext(aiter(requests))
        async with behaviour.around(first, context):
            received = 0
            yield response(progress=progress(stage=progress.STAGE_RECEIVING))
            async for request in requests:
                behaviour.uploaded += request.chunk
                received += len(request.chunk)
                yield response(
                    progress=progress(stage=progress.STAGE_RECEIVING, bytes_received=received)
                )
            await behaviour.between(0)
            if not received:
                raise InvalidInput("It has no bytes.", reason="EMPTY_FILE")
            document = core.Document(id="d1", source_name=first.metadata.source_name)
            yield response(result=result(outcome=result.OUTCOME_CREATED, document=document))

    return answered


@dataclass
class Gateway:
    """The gateway under test."""

    url: str
    behaviour: Behaviour
    client: httpx.AsyncClient
    upstream: Upstream
    draining: Draining
    addresses: dict[str, str]


@asynccontextmanager
async def services(
    behaviour: Behaviour, settings: Settings | None = None
) -> AsyncIterator[dict[str, str]]:
    """Every service, faked; their addresses by full name."""
    async with AsyncExitStack() as stack:
        addresses = {}
        for name, add in ADDERS.items():
            methods = descriptor_pool.Default().FindServiceByName(name).methods_by_name
            fake = Service(name, add, servicer(name, behaviour), dict.fromkeys(methods, 10.0))
            running = await stack.enter_async_context(grpc_serving(fake, settings or Settings()))
            await running.warming
            addresses[name] = running.address
        yield addresses


@asynccontextmanager
async def gateway(
    page: Path = Path("/nonexistent"),
    *,
    deadlines: Deadlines | None = None,
    targets: dict[str, str] | None = None,
    settings: Settings | None = None,
    behind: Settings | None = None,
    proxies: str = "",
    **edge,
) -> AsyncIterator[Gateway]:
    """Served on a free port, with a client of it."""
    behaviour, draining = Behaviour(), Draining()
    edge.setdefault("rate_per_second", 0)
    async with AsyncExitStack() as stack:
        addresses = await stack.enter_async_context(services(behaviour, behind or settings))
        upstream = await stack.enter_async_context(
            connected(
                {**addresses, **(targets or {})},
                deadlines or Deadlines(),
                settings.tls if settings else None,
            )
        )
        authenticator = await stack.enter_async_context(opened(settings or Settings()))
        await authenticator.ready()
        app = build(upstream, Edge(**edge), page, draining, authenticator)
        how = Serving("127.0.0.1:0", 0, 5, proxies)
        address = await stack.enter_async_context(serving(app, how, draining))
        client = await stack.enter_async_context(
            httpx.AsyncClient(base_url=f"http://{address}", trust_env=False, timeout=20)
        )
        yield Gateway(f"http://{address}", behaviour, client, upstream, draining, addresses)


def parsed(text: str) -> list[tuple[str, str]]:
    """The events of a stream as (name, data); comments are left out."""
    found = []
    for block in text.split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith(":")]
        if lines:
            fields = dict(line.split(": ", 1) for line in lines)
            found.append((fields.get("event", "message"), fields["data"]))
    return found
