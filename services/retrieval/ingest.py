"""Takes a file in: what of it is known, what has come of it before, what is read and written."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace
from typing import Protocol

from services.chassis.errors import FailedPrecondition, InvalidInput, Overloaded, PermissionDenied
from services.retrieval import supersession
from services.retrieval.catalog import Catalog
from services.retrieval.document import OnPages
from services.retrieval.leases import Leases
from services.retrieval.parsers import encoding
from services.retrieval.passage import Groups, Metadata, StoredDocument, document_id
from services.retrieval.progress import Progress, Result, Stage
from services.retrieval.reading import Reading
from services.retrieval.receiving import Receiver, Upload
from services.retrieval.spool import Draft, Spool
from services.retrieval.writing import File, Writer


class Reader(Protocol):
    """Reads a file's bytes. Raises InvalidInput with a reason."""

    async def __call__(
        self, data: bytes, source_name: str, content_type: str, tell: OnPages
    ) -> Reading: ...


class Ingestor:
    """Ingests files.

    Args:
        reader: Parses and cuts a file.
        writer: Writes what was read.
        catalog: Says which documents there are.
        leases: Sees that a document has one writer, and that nothing is left over.
        spool: Keeps what a call that breaks off has brought.
        max_bytes: The most a file may hold.
        max_running: The most files that may be in the works; each is held in memory.
    """

    def __init__(
        self,
        *,
        reader: Reader,
        writer: Writer,
        catalog: Catalog,
        leases: Leases,
        spool: Spool,
        max_bytes: int,
        max_running: int,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._catalog = catalog
        self._leases = leases
        self._spool = spool
        self._max_bytes = max_bytes
        self._max_running = max_running
        self._running = 0

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
                yield await self._writer.amend(tenant, known, upload.metadata)
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
                    yield await self._writer.amend(tenant, known, upload.metadata)
                else:
                    taking_in = self._take_in(tenant, upload, data, sha256, draft)
                    async with aclosing(taking_in) as events:
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
            known = own if own.sha256 == sha256 else None
        else:
            known = await self._catalog.seen_by(groups).with_bytes(tenant, sha256)
        if known:
            _check_charset(upload, known)
        return known

    async def _take_in(
        self, tenant: str, upload: Upload, data: bytes, sha256: str, draft: Draft
    ) -> AsyncGenerator[Progress | Result, None]:
        progress = Progress(Stage.PARSING, len(data), bytes_total=len(data))
        yield progress
        told: asyncio.Queue[tuple[int, int] | None] = asyncio.Queue()
        under_way = asyncio.create_task(self._read(upload, data, told))
        try:
            while pages := await told.get():
                yield replace(progress, pages_parsed=pages[0], pages_total=pages[1])
            file = File(data, sha256, await under_way)
        finally:
            under_way.cancel()
            await asyncio.gather(under_way, return_exceptions=True)
        writing = self._writer.write(tenant, upload.metadata, file, draft)
        async with aclosing(writing) as events:
            async for event in events:
                yield event

    async def _read(
        self, upload: Upload, data: bytes, told: asyncio.Queue[tuple[int, int] | None]
    ) -> Reading:
        """What is read; meanwhile how many pages are, of how many, and at the end None."""
        try:
            reading = await self._reader(
                data,
                upload.metadata.source_name,
                upload.content_type,
                lambda *pages: told.put_nowait(pages),
            )
        finally:
            told.put_nowait(None)
        if not reading.chunks:
            raise InvalidInput(
                "No text was found in the file; scanned pages need text recognition first.",
                reason="NO_TEXT",
            )
        return reading

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


def _check_charset(upload: Upload, known: StoredDocument) -> None:
    """What was read in another encoding than is said now is not what is sent, though its bytes are.

    It cannot be read anew in its place: passages count by the bytes that their record names.
    """
    said = encoding.declared_in(upload.content_type)
    if known.charset and said not in {"", known.charset}:
        raise FailedPrecondition(
            f"These bytes are in already as {known.metadata.source_name}, read as {known.charset} "
            f"and not as {said}; delete that document and send the file again."
        )


def _draft(sha256: str, metadata: Metadata) -> str:
    """What a file on its way in is known by: by who may read it too.

    Else whoever knows the hash of a file could have what others brought of it.
    """
    if not metadata.readers:
        return sha256
    return hashlib.sha256("\0".join((sha256, *metadata.readers)).encode()).hexdigest()
