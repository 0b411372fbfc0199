"""Takes a file in: bytes, passages, vectors, and at the very end a version that readers see."""

import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import Enum, auto
from functools import partial
from typing import Protocol

from services.chassis import telemetry
from services.chassis.errors import Aborted, InvalidInput, Overloaded, PermissionDenied
from services.retrieval import payload, supersession
from services.retrieval.ahead import ahead
from services.retrieval.batching import Batcher, Lane
from services.retrieval.catalog import Catalog
from services.retrieval.embedding import Vector
from services.retrieval.index import Index, Kind, Point, Where
from services.retrieval.isolation import Worker, WorkerDied, WorkerOutOfMemory, WorkerTimeout
from services.retrieval.leases import Leases
from services.retrieval.originals import Originals
from services.retrieval.passage import Groups, Metadata, StoredDocument, cut, document_id
from services.retrieval.quota import Quota
from services.retrieval.reading import Reading, read
from services.retrieval.receiving import Receiver, Upload
from services.retrieval.spool import Draft, Spool, key

# Passages that are embedded and then written together: one progress event each.
_GROUP = 32


class Stage(Enum):
    """What an ingest is doing; the names are those of the contract."""

    RECEIVING = auto()
    PARSING = auto()
    EMBEDDING = auto()
    INDEXING = auto()


class Outcome(Enum):
    """How an ingest ended; the names are those of the contract."""

    CREATED = auto()
    REPLACED = auto()
    UNCHANGED = auto()
    METADATA_UPDATED = auto()


@dataclass(frozen=True, slots=True)
class Progress:
    """Work done so far; counts never go down, totals are 0 until they are known."""

    stage: Stage
    bytes_received: int
    pages_parsed: int = 0
    pages_total: int = 0
    passages_embedded: int = 0
    passages_total: int = 0
    passages_indexed: int = 0
    bytes_total: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """How it ended, and with which document."""

    outcome: Outcome
    document: StoredDocument


class Reader(Protocol):
    """Reads a file's bytes. Raises InvalidInput with a reason."""

    async def __call__(self, data: bytes, source_name: str, content_type: str) -> Reading: ...


class Ingestor:
    """Ingests files.

    Args:
        reader: Parses and cuts a file.
        batcher: Embeds its passages.
        index: Where passages are written.
        catalog: Where versions become visible.
        leases: Sees that a document has one writer, and that nothing is left over.
        originals: Where bytes are kept.
        spool: Keeps what a call that breaks off has brought.
        max_bytes: The most a file may hold.
        max_running: The most files that may be in the works; each is held in memory.
        quota: What a tenant may keep; None: anything.
        now: The time.
    """

    def __init__(
        self,
        *,
        reader: Reader,
        batcher: Batcher,
        index: Index,
        catalog: Catalog,
        leases: Leases,
        originals: Originals,
        spool: Spool,
        max_bytes: int,
        max_running: int,
        quota: Quota | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._reader = reader
        self._batcher = batcher
        self._index = index
        self._catalog = catalog
        self._leases = leases
        self._originals = originals
        self._spool = spool
        self._max_bytes = max_bytes
        self._max_running = max_running
        self._quota = quota or Quota(catalog)
        self._running = 0
        self._now = now
        self._passages = telemetry.meter().create_counter(
            "verity.ingest.passages", unit="{passage}", description="Passages made searchable."
        )

    async def ingest(
        self,
        tenant: str,
        upload: Upload,
        chunks: AsyncIterator[bytes],
        groups: Groups = None,
    ) -> AsyncGenerator[Progress | Result, None]:
        """Events in order of stage, the Result last. Whatever is raised, nothing has changed.

        Raises PermissionDenied for the name of a document that a member of these groups may not
        read; under another name it is not known to them, whatever its bytes.
        """
        upload.check(self._max_bytes)
        await supersession.check(self._catalog, tenant, upload.metadata)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._place())
            if upload.sha256 and (
                known := await self._known(tenant, upload, upload.sha256, groups)
            ):
                yield Progress(Stage.RECEIVING, 0)
                yield await self._amend(tenant, known, upload.metadata)
                return
            draft = None
            if upload.sha256:
                size = upload.size_bytes or self._max_bytes
                held = self._spool.draft(tenant, _draft(upload.sha256, upload.metadata), size)
                draft = await stack.enter_async_context(held)
            receiver = Receiver(upload, draft, max_bytes=self._max_bytes)
            progress = Progress(
                Stage.RECEIVING, await receiver.begin(), bytes_total=upload.size_bytes
            )
            yield progress
            async for piece in chunks:
                yield replace(progress, bytes_received=await receiver.take(piece))
            data, sha256 = await receiver.whole()
            if draft is None:
                held = self._spool.draft(tenant, _draft(sha256, upload.metadata), len(data))
                draft = await stack.enter_async_context(held)
            try:
                if known := await self._known(tenant, upload, sha256, groups):
                    yield await self._amend(tenant, known, upload.metadata)
                    await draft.discard()
                    return
                async with aclosing(self._write(tenant, upload, data, sha256, draft)) as events:
                    async for event in events:
                        yield event
            except InvalidInput:
                await draft.discard()
                raise
            await draft.discard()

    async def delete(self, tenant: str, document_id: str, groups: Groups = None) -> int:
        """Removes a document, and returns how many passages it had. Raises NotFound."""
        seen = self._catalog.seen_by(groups)
        await seen.document(tenant, document_id)
        async with self._leases.writing(tenant, document_id):
            document = await seen.document(tenant, document_id)
            await self._catalog.withdraw(tenant, document_id)
            await self._spool.discard(tenant, _draft(document.sha256, document.metadata))
        return document.passage_count

    async def _known(
        self, tenant: str, upload: Upload, sha256: str, groups: Groups
    ) -> StoredDocument | None:
        """The document that these bytes are already: that of this name, or one of another."""
        own = await self._catalog.find(tenant, document_id(tenant, upload.metadata.source_name))
        if own:
            if not own.metadata.may_be_read_by(groups):
                raise PermissionDenied("This name is taken; choose another.")
            # Of other bytes: it gets a new version, even if another document has the same.
            return own if own.sha256 == sha256 else None
        return await self._catalog.seen_by(groups).with_bytes(tenant, sha256)

    async def _amend(self, tenant: str, known: StoredDocument, metadata: Metadata) -> Result:
        """Has the metadata of a document changed, of which the bytes are not."""
        if metadata.source_name != known.metadata.source_name or metadata == known.metadata:
            return Result(Outcome.UNCHANGED, known)
        async with self._leases.writing(tenant, known.id, amends=True) as check:
            await supersession.check(self._catalog, tenant, metadata)
            before = await self._catalog.document(tenant, known.id)
            if before.sha256 != known.sha256:
                raise Aborted("Another call has just written this document; try again.")
            document = replace(before, metadata=metadata)
            # Found by what is said now and by what will be said: which of them holds, the record
            # decides, for all passages at once.
            await self._index.amend(
                Where(tenant, Kind.PASSAGE, any_of={"document_id": [known.id]}),
                payload.matching_both(before.metadata, metadata),
            )
            check()
            await self._catalog.publish(tenant, document)
        return Result(Outcome.METADATA_UPDATED, document)

    async def _write(
        self, tenant: str, upload: Upload, data: bytes, sha256: str, draft: Draft
    ) -> AsyncGenerator[Progress | Result, None]:
        progress = Progress(Stage.PARSING, len(data), bytes_total=len(data))
        yield progress
        reading = await self._reader(data, upload.metadata.source_name, upload.content_type)
        if not reading.chunks:
            raise InvalidInput(
                "No text was found in the file; scanned pages need text recognition first.",
                reason="NO_TEXT",
            )
        pages = len(reading.document.pages)
        progress = replace(
            progress, pages_parsed=pages, pages_total=pages, passages_total=len(reading.chunks)
        )
        id_ = document_id(tenant, upload.metadata.source_name)
        async with self._leases.writing(tenant, id_) as check:
            await supersession.check(self._catalog, tenant, upload.metadata)
            before = await self._catalog.find(tenant, id_)
            if before and before.sha256 == sha256:  # Another call was faster.
                if before.metadata != upload.metadata:
                    raise Aborted("Another call has just written this document; try again.")
                yield Result(Outcome.UNCHANGED, before)
                return
            await self._quota.check(tenant, len(data), before)
            document = StoredDocument(
                id=id_,
                metadata=upload.metadata,
                version=before.version + 1 if before else 1,
                sha256=sha256,
                content_type=reading.document.content_type,
                size_bytes=len(data),
                page_count=pages,
                passage_count=len(reading.chunks),
                ingest_time=self._now(),
                pages_without_text=reading.document.pages_without_text,
                ocr_pages=reading.document.ocr_pages,
            )
            await self._originals.put(tenant, id_, sha256, data, reading.document)
            made = await draft.vectors()
            progress = replace(progress, stage=Stage.EMBEDDING)
            yield progress
            embedding = [
                partial(self._embed, draft, made, reading.texts[start : start + _GROUP])
                for start in range(0, len(reading.texts), _GROUP)
            ]
            written = 0
            async with aclosing(ahead(embedding)) as groups:
                async for vectors in groups:
                    if written:
                        yield progress
                    check()
                    await self._index.upsert(_points(tenant, document, reading, written, vectors))
                    written += len(vectors)
                    progress = replace(
                        progress, passages_embedded=written, passages_indexed=written
                    )
            yield replace(progress, stage=Stage.INDEXING)
            check()
            await self._catalog.publish(tenant, document)
        self._passages.add(document.passage_count)
        yield Result(Outcome.REPLACED if before else Outcome.CREATED, document)

    async def _embed(
        self, draft: Draft, made: dict[bytes, Vector], texts: Sequence[str]
    ) -> list[Vector]:
        """A vector for each text: one that an earlier call made, or a new one, which is kept."""
        new = [text for text in texts if key(text) not in made]
        if new:
            vectors = await self._batcher.embed(new, Lane.INGEST)
            await draft.add_vectors(new, vectors)
            made.update(zip(map(key, new), vectors, strict=True))
        return [made[key(text)] for text in texts]

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        if self._running >= self._max_running:
            raise Overloaded(
                f"{self._max_running} files are being ingested, which is the limit; try again.",
                retry_after=5.0,
            )
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1


class IsolatedReader:
    """A Reader in a process of its own, for at most `seconds` a file.

    Half of that is for the recognition of text in pictures, where it can be had: pages it does not
    come to are without text, and the document says so.
    """

    def __init__(self, worker: Worker, *, seconds: float, ocr_languages: str = "eng") -> None:
        self._worker = worker
        self._seconds = seconds
        self._ocr = (seconds / 2, ocr_languages)

    async def __call__(self, data: bytes, source_name: str, content_type: str) -> Reading:
        with telemetry.span("parsing"):
            try:
                return await self._worker.call(
                    self._seconds, read, data, source_name, content_type, *self._ocr
                )
            except WorkerTimeout as error:
                raise InvalidInput(
                    f"The file could not be read within {self._seconds:g} s.", reason="DAMAGED_FILE"
                ) from error
            except WorkerOutOfMemory as error:
                raise InvalidInput(
                    "Reading the file takes more memory than is allowed; split it.",
                    reason="TOO_LARGE",
                ) from error
            except WorkerDied as error:
                raise InvalidInput(
                    "The file ended the process that read it; it may be damaged.",
                    reason="DAMAGED_FILE",
                ) from error


def _draft(sha256: str, metadata: Metadata) -> str:
    """What a file on its way in is known by: by who may read it too.

    Else whoever knows the hash of a file could have what others brought of it.
    """
    if not metadata.readers:
        return sha256
    return hashlib.sha256("\0".join((sha256, *metadata.readers)).encode()).hexdigest()


def _points(
    tenant: str, document: StoredDocument, reading: Reading, start: int, vectors: list[Vector]
) -> list[Point]:
    points = []
    for number, vector in enumerate(vectors, start):
        passage = cut(tenant, document, reading.document, reading.chunks, number)
        points.append(
            Point(passage.id, payload.from_passage(tenant, passage), vector, reading.terms[number])
        )
    return points
