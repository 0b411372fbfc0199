"""RetrievalService: translates, calls, translates."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

import grpc
from verity.v1 import retrieval_service_pb2 as pb
from verity.v1 import retrieval_service_pb2_grpc

from services.chassis import identity
from services.chassis.errors import InvalidInput, Violation
from services.retrieval import messages
from services.retrieval.catalog import Catalog
from services.retrieval.ingest import Ingestor
from services.retrieval.listing import Listing
from services.retrieval.rendering import Renderer
from services.retrieval.search import Searcher

Context = grpc.aio.ServicerContext[Any, Any]
Requests = AsyncIterator[pb.IngestDocumentRequest]

# Seconds that each method may take when its caller sets no deadline.
DEADLINES = {
    "IngestDocument": 1800.0,
    "Retrieve": 10.0,
    "GetDocument": 5.0,
    "ListDocuments": 10.0,
    "DeleteDocument": 30.0,
    "GetPassage": 5.0,
    "RenderPage": 30.0,
}

_PAGE_SIZE = 100


class RetrievalServicer(retrieval_service_pb2_grpc.RetrievalServiceServicer):
    """The RPCs, each for its caller's tenant.

    Args:
        default_limit: Passages that Retrieve returns when the caller does not say.
    """

    def __init__(
        self,
        ingestor: Ingestor,
        searcher: Searcher,
        catalog: Catalog,
        listing: Listing,
        renderer: Renderer,
        *,
        default_limit: int,
    ) -> None:
        self._ingestor = ingestor
        self._searcher = searcher
        self._catalog = catalog
        self._listing = listing
        self._renderer = renderer
        self._default_limit = default_limit

    async def IngestDocument(
        self, request_iterator: Requests, _context: Context
    ) -> AsyncIterator[pb.IngestDocumentResponse]:
        caller = identity.caller()
        upload = messages.to_upload(await _metadata(request_iterator))
        chunks = _chunks(request_iterator)
        events = self._ingestor.ingest(caller.tenant, upload, chunks, caller.groups)
        async with aclosing(events):
            async for event in events:
                yield messages.from_event(event)

    async def Retrieve(self, request: pb.RetrieveRequest, _context: Context) -> pb.RetrieveResponse:
        caller = identity.caller()
        messages.refuse_unknown(request, "")
        passages, report = await self._searcher.seen_by(caller.groups).search(
            caller.tenant,
            request.query,
            messages.to_filter(request.filter),
            request.limit or self._default_limit,
            messages.to_wishes(request),
        )
        return messages.from_found(request.filter, passages, report)

    async def GetDocument(
        self, request: pb.GetDocumentRequest, _context: Context
    ) -> pb.GetDocumentResponse:
        caller = identity.caller()
        seen = self._catalog.seen_by(caller.groups)
        document = await seen.document(caller.tenant, request.document_id)
        (listed,) = await self._listing.seen_by(caller.groups).listed(caller.tenant, [document])
        return pb.GetDocumentResponse(document=messages.from_listed(listed))

    async def ListDocuments(
        self, request: pb.ListDocumentsRequest, _context: Context
    ) -> pb.ListDocumentsResponse:
        caller = identity.caller()
        listed, token = await self._listing.seen_by(caller.groups).page(
            caller.tenant,
            request.page_size or _PAGE_SIZE,
            request.page_token,
            messages.to_wanted(request, _today),
        )
        return pb.ListDocumentsResponse(
            documents=map(messages.from_listed, listed), next_page_token=token
        )

    async def DeleteDocument(
        self, request: pb.DeleteDocumentRequest, _context: Context
    ) -> pb.DeleteDocumentResponse:
        caller = identity.caller()
        passages = await self._ingestor.delete(caller.tenant, request.document_id, caller.groups)
        return pb.DeleteDocumentResponse(passages_deleted=passages)

    async def GetPassage(
        self, request: pb.GetPassageRequest, _context: Context
    ) -> pb.GetPassageResponse:
        caller = identity.caller()
        seen = self._catalog.seen_by(caller.groups)
        passage = await seen.passage(caller.tenant, request.passage_id)
        before, after = await seen.neighbours(caller.tenant, passage, request.neighbours)
        return pb.GetPassageResponse(
            passage=messages.from_passage(passage),
            before=map(messages.from_passage, before),
            after=map(messages.from_passage, after),
        )

    async def RenderPage(
        self, request: pb.RenderPageRequest, _context: Context
    ) -> pb.RenderPageResponse:
        caller = identity.caller()
        page = await self._renderer.seen_by(caller.groups).render(
            caller.tenant,
            request.document_id,
            request.page_number,
            [(span.start, span.end) for span in request.highlights],
            messages.to_dpi(request.dpi),
        )
        return messages.from_page(page)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


async def _metadata(requests: Requests) -> pb.IngestMetadata:
    async for request in requests:
        if request.HasField("metadata"):
            return request.metadata
        break
    raise InvalidInput(
        "The first request must carry the metadata.",
        violations=(Violation("metadata", "must be set in the first request"),),
    )


async def _chunks(requests: Requests) -> AsyncIterator[bytes]:
    async for request in requests:
        if request.HasField("metadata"):
            raise InvalidInput(
                "Only the first request may carry metadata.",
                violations=(Violation("metadata", "must be set in the first request only"),),
            )
        yield request.chunk
