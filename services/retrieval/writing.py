"""Writes a document: its passages with their vectors first, and at the very end its record."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from services.chassis import telemetry
from services.chassis.errors import Aborted
from services.retrieval import payload, supersession
from services.retrieval.ahead import ahead
from services.retrieval.batching import Batcher, Lane
from services.retrieval.catalog import Catalog
from services.retrieval.embedding import Vector
from services.retrieval.index import Index, Kind, Point, Where
from services.retrieval.leases import Leases
from services.retrieval.originals import Originals
from services.retrieval.passage import Metadata, StoredDocument, cut, document_id
from services.retrieval.progress import Outcome, Progress, Result, Stage
from services.retrieval.quota import Quota
from services.retrieval.reading import Reading
from services.retrieval.spool import Draft, key

# Passages that are embedded and then written together: one progress event each.
_GROUP = 32


@dataclass(frozen=True, slots=True)
class File:
    """What there is to write: the bytes, their hash, and what was read in them."""

    data: bytes
    sha256: str
    reading: Reading


class Writer:
    """Writes documents, each under a lease.

    Args:
        batcher: Embeds passages.
        index: Where passages are written.
        catalog: Where versions become visible.
        leases: Sees that a document has one writer, and that nothing is left over.
        originals: Where bytes are kept.
        quota: What a tenant may keep.
    """

    def __init__(
        self,
        *,
        batcher: Batcher,
        index: Index,
        catalog: Catalog,
        leases: Leases,
        originals: Originals,
        quota: Quota,
    ) -> None:
        self._batcher = batcher
        self._index = index
        self._catalog = catalog
        self._leases = leases
        self._originals = originals
        self._quota = quota
        self._passages = telemetry.meter().create_counter(
            "verity.ingest.passages", unit="{passage}", description="Passages made searchable."
        )

    async def amend(self, tenant: str, known: StoredDocument, metadata: Metadata) -> Result:
        """Changes the metadata of a document whose bytes stay; another's name changes nothing.

        Raises Aborted when another call writes the document.
        """
        if metadata.source_name != known.metadata.source_name or metadata == known.metadata:
            return Result(Outcome.UNCHANGED, known)
        async with self._leases.writing(tenant, known.id, amends=True) as check:
            await supersession.check(self._catalog, tenant, metadata)
            before = await self._catalog.document(tenant, known.id)
            if before.sha256 != known.sha256:
                raise _just_written()
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

    async def write(
        self, tenant: str, metadata: Metadata, file: File, draft: Draft
    ) -> AsyncGenerator[Progress | Result, None]:
        """Events in order of stage, the Result last. Whatever is raised, nothing has changed.

        Raises Aborted when another call writes the document, Overloaded over the quota.
        """
        reading = file.reading
        id_ = document_id(tenant, metadata.source_name)
        async with self._leases.writing(tenant, id_) as check:
            await supersession.check(self._catalog, tenant, metadata)
            before = await self._catalog.find(tenant, id_)
            if before and before.sha256 == file.sha256:  # Another call was faster.
                if before.metadata != metadata:
                    raise _just_written()
                yield Result(Outcome.UNCHANGED, before)
                return
            await self._quota.check(tenant, len(file.data), before)
            document = _next_version(id_, metadata, file, before)
            await self._originals.put(tenant, id_, file.sha256, file.data, reading.document)
            made = await draft.vectors()
            progress = Progress(
                Stage.EMBEDDING,
                len(file.data),
                pages_parsed=document.page_count,
                pages_total=document.page_count,
                passages_total=document.passage_count,
                bytes_total=len(file.data),
            )
            yield progress
            embedding = [
                partial(self._embed, draft, made, reading.texts[start : start + _GROUP])
                for start in range(0, len(reading.texts), _GROUP)
            ]
            written = 0
            with self._catalog.writing(tenant, document):
                async with aclosing(ahead(embedding)) as groups:
                    async for vectors in groups:
                        if written:
                            yield progress
                        check()
                        points = _points(tenant, document, reading, written, vectors)
                        await self._index.upsert(points)
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


def _next_version(
    id_: str, metadata: Metadata, file: File, before: StoredDocument | None
) -> StoredDocument:
    parsed = file.reading.document
    return StoredDocument(
        id=id_,
        metadata=metadata,
        version=before.version + 1 if before else 1,
        sha256=file.sha256,
        content_type=parsed.content_type,
        size_bytes=len(file.data),
        page_count=len(parsed.pages),
        passage_count=len(file.reading.chunks),
        ingest_time=datetime.now(UTC),
        pages_without_text=parsed.pages_without_text,
        ocr_pages=parsed.ocr_pages,
        charset=parsed.charset,
    )


def _just_written() -> Aborted:
    return Aborted("Another call has just written this document; try again.")


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
