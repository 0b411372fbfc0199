"""Stand-ins for the agents: servicers behind a real channel, or stubs without one."""

import asyncio
from collections.abc import Callable
from contextlib import asynccontextmanager

from verity.v1 import core_pb2 as core
from verity.v1 import generation_service_pb2 as generation
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import retrieval_service_pb2 as retrieval
from verity.v1 import verification_service_pb2 as verification
from verity.v1.generation_service_pb2_grpc import GenerationServiceServicer
from verity.v1.retrieval_service_pb2_grpc import RetrievalServiceServicer
from verity.v1.verification_service_pb2_grpc import VerificationServiceServicer

from services.chassis.errors import Aborted, FailedPrecondition, NotFound, Unavailable
from services.orchestrator.grounding_log import Entry, Log
from services.orchestrator.memory import Held, Lease, conversation_digest, digest, mean, owner_of

RULE = "Any corporate entity with a UBO above 25% equity must submit a notarized proof of funds."


def passage(name: str = "p1", text: str = RULE) -> core.Passage:
    return core.Passage(
        id=name,
        document_id=f"document-of-{name}",
        source_name=f"{name}.pdf",
        authority=core.AUTHORITY_HIGH,
        document_sha256="ab" * 32,
        text=text,
        page_number=42,
        span=core.Span(start=0, end=len(text)),
    )


def statement(text: str, quote: str = "a notarized proof of funds", source: str = "p1"):
    citations = [core.DraftCitation(passage_id=source, quote=quote)]
    return core.DraftStatement(text=text, citations=citations)


def draft(*statements: core.DraftStatement, **fields) -> generation.GenerateResponse:
    return generation.GenerateResponse(statements=statements, generator="fake/1", **fields)


class _Agent:
    """Remembers what it was asked; can be told to fail, or to hold every call until released."""

    def __init__(self) -> None:
        self.requests: list = []
        self.error: Exception | None = None
        self.asked_once = asyncio.Event()
        self.held: asyncio.Event | None = None
        self.cancelled = asyncio.Event()

    def hold(self) -> asyncio.Event:
        """Every call waits from now on until the event is set."""
        self.held = asyncio.Event()
        return self.held

    @asynccontextmanager
    async def asked(self, request):
        self.requests.append(request)
        self.asked_once.set()
        if self.error:
            raise self.error
        try:
            if self.held:
                await self.held.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        yield


class FakeRetrieval(_Agent, RetrievalServiceServicer):
    """Finds the first `limit` of its passages."""

    def __init__(self, *passages: core.Passage) -> None:
        super().__init__()
        self.passages = list(passages)

    async def Retrieve(self, request, context=None, **call):
        async with self.asked(request):
            found = self.passages[: request.limit]
            report = core.SearchReport(document_count=3, passage_count=70, query=request.query)
            return retrieval.RetrieveResponse(passages=found, report=report)


class FakeGeneration(_Agent, GenerationServiceServicer):
    """Hands out its drafts one after the other, the last one again and again."""

    def __init__(self, *drafts: generation.GenerateResponse) -> None:
        super().__init__()
        self.drafts = list(drafts)

        # What a follow-up is resolved to; empty: to itself.
        self.standalone = ""
        self.resolved: list[generation.ResolveQuestionRequest] = []

        # Set: each statement, and the end of the draft, waits for a release of it.
        self.going: asyncio.Semaphore | None = None

    def pace(self) -> asyncio.Semaphore:
        """Drafts from now on one statement for each release."""
        self.going = asyncio.Semaphore(0)
        return self.going

    async def GenerateStream(self, request, context=None, **call):
        async with self.asked(request.generate):
            made = self.drafts[min(len(self.requests), len(self.drafts)) - 1]
            for statement in made.statements:
                await self._turn()
                yield generation.GenerateStreamResponse(statement=statement)
            await self._turn()
            yield generation.GenerateStreamResponse(draft=made)

    async def _turn(self) -> None:
        try:
            if self.going:
                await self.going.acquire()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise

    async def ResolveQuestion(self, request, context=None, **call):
        self.resolved.append(request)
        if self.error:
            raise self.error
        return generation.ResolveQuestionResponse(
            standalone_question=self.standalone or request.question
        )


class InProcess:
    """A servicer called as its stub is."""

    def __init__(self, servicer) -> None:
        self._servicer = servicer

    def __getattr__(self, method):
        served = getattr(self._servicer, method)

        async def call(request, **_):
            return await served(request, None)

        def stream(request, **_):
            return _Stream(served(request, None))

        return stream if method.endswith("Stream") else call


class _Stream:
    def __init__(self, replies) -> None:
        self._replies = replies

    def __aiter__(self):
        return self._replies

    def cancel(self) -> None:
        """Whoever iterates was cancelled already."""


class FakeVerification(_Agent, VerificationServiceServicer):
    """Supports what it finds verbatim; `answering` replaces its replies."""

    def __init__(self) -> None:
        super().__init__()
        self.answering: Callable[[verification.VerifyRequest], verification.VerifyResponse] = honest
        self.scored: list[verification.ScoreConfidenceRequest] = []

    async def Verify(self, request, context=None, **call):
        async with self.asked(request):
            return self.answering(request)

    async def ScoreConfidence(self, request, context=None, **call):
        self.scored.append(request)
        if self.error:
            raise self.error
        supported = [s for s in request.statements if s.verdict == core.VERDICT_SUPPORTED]
        share = len(supported) / max(1, len(request.statements))
        confidence = core.Confidence(grounding_confidence=share, coverage=share)
        return verification.ScoreConfidenceResponse(confidence=confidence)


def honest(request: verification.VerifyRequest) -> verification.VerifyResponse:
    statements = [_verified(s, {p.id: p for p in request.passages}) for s in request.statements]
    total = sum(len(s.citations) for s in request.statements)
    located = sum(len(s.citations) for s in statements)
    return verification.VerifyResponse(
        statements=statements,
        citations_total=total,
        citations_verified=located,
        verifier="fake-verifier/1",
    )


def _verified(drafted, passages) -> core.VerifiedStatement:
    located = [
        citation(passages[c.passage_id], c.quote)
        for c in drafted.citations
        if c.passage_id in passages and c.quote in passages[c.passage_id].text
    ]
    if located and len(located) == len(drafted.citations):
        return core.VerifiedStatement(
            text=drafted.text, verdict=core.VERDICT_SUPPORTED, citations=located
        )
    reason = core.Reason(code=core.Reason.CODE_QUOTE_NOT_FOUND, message="It is not there.")
    return core.VerifiedStatement(
        text=drafted.text,
        verdict=core.VERDICT_UNSUPPORTED,
        reasons=[reason],
        citations=located,
    )


def citation(source: core.Passage, quote: str) -> core.Citation:
    start = source.text.index(quote)
    return core.Citation(
        quote=quote,
        passage_id=source.id,
        document_id=source.document_id,
        document_sha256=source.document_sha256,
        source_name=source.source_name,
        page_number=source.page_number,
        span=core.Span(start=start, end=start + len(quote)),
        authority=source.authority,
    )


class FakeMemory:
    """The `Memory` protocol in dictionaries; `down` makes it unavailable."""

    def __init__(self, turns: int = 5, log_length: int = 100) -> None:
        self.turns, self.log_length = turns, log_length
        self.down = False
        self.logs: dict[tuple[str, str], list[grounding.Answer]] = {}
        self.entries: dict[tuple[str, str], list[Entry]] = {}
        self.records: dict[tuple[str, str], grounding.Answer] = {}
        self.claims: dict[tuple[str, str, str], tuple[Lease, str]] = {}
        self.held: dict[tuple[str, str], Held] = {}

    def _log(self, tenant: str, conversation: str) -> list[grounding.Answer]:
        self._check()
        return self.logs.get((tenant, digest(conversation)), [])

    def _check(self) -> None:
        if self.down:
            raise Unavailable("down")

    async def recall(self, tenant, conversation):
        return [
            generation.Turn(
                question=a.standalone_question or a.question, answer=a.text, readers=a.readers
            )
            for a in self._log(tenant, conversation)[-self.turns :]
        ]

    async def claim(self, tenant, conversation, lease, seconds):
        self._check()
        held, answer_id = self.claims.setdefault((tenant, conversation, lease.key), (lease, ""))
        if held is lease:
            return None
        if held.fingerprint != lease.fingerprint:
            raise FailedPrecondition("other question")
        if not answer_id:
            raise Aborted("in flight")
        return self.records[tenant, answer_id]

    async def release(self, tenant, conversation, lease):
        self._check()
        if self.claims.get((tenant, conversation, lease.key)) == (lease, ""):
            del self.claims[tenant, conversation, lease.key]

    async def log(self, tenant, conversation):
        self._check()
        return Log(
            list(self.entries.get((tenant, digest(conversation)), [])),
            list(self.entries.get((tenant, ""), [])),
        )

    async def remember(self, tenant, answer, lease, entry=None):
        self._check()
        if entry:
            for scope in (conversation_digest(answer.id), ""):
                kept = self.entries.setdefault((tenant, scope), [])
                kept.append(entry)
                del kept[: -self.log_length]
        stored = grounding.Answer.FromString(answer.SerializeToString())
        log = self.logs.setdefault((tenant, conversation_digest(answer.id)), [])
        log.append(stored)
        del log[: -self.log_length]
        stored.historical_quality = mean([a.confidence.grounding_confidence for a in log])
        self.records[tenant, stored.id] = stored
        if lease:
            for key, (held, _) in self.claims.items():
                if held is lease:
                    self.claims[key] = (lease, stored.id)
        return stored.historical_quality

    async def answer(self, tenant, answer_id):
        self._check()
        if conversation_digest(answer_id) is None or (tenant, answer_id) not in self.records:
            raise NotFound("unknown")
        return self.records[tenant, answer_id]

    async def answers(self, tenant, conversation, *, limit, before):
        log = self._known(tenant, conversation)[::-1]
        ids = [a.id for a in log]
        if before:
            log = log[ids.index(before) + 1 :] if before in ids else []
        return log[:limit], len(log) > limit

    async def note(self, tenant, kept, question):
        self._check()
        last = max((one.last_micros for one in self.held.values()), default=1_700_000_000_000_000)
        asked = self.held[tenant, kept].first_question if (tenant, kept) in self.held else question
        self.held[tenant, kept] = Held(owner_of(kept)[1], asked, last + 1)

    async def conversations(self, tenant, subject, *, limit, before):
        self._check()
        mine = (tenant, subject)
        held = sorted(
            (one for (of, kept), one in self.held.items() if (of, owner_of(kept)[0]) == mine),
            key=lambda one: -one.last_micros,
        )
        page = [one for one in held if not before or one.last_micros < before]
        return page[:limit], len(page) > limit

    async def quality(self, tenant, conversation):
        log = self._known(tenant, conversation)
        return [a.confidence.grounding_confidence for a in log]

    def _known(self, tenant, conversation):
        if log := self._log(tenant, conversation):
            return log
        raise NotFound("unknown")
