"""The contract's messages to our own types, and back."""

from collections.abc import Callable, Sequence

from google.protobuf import timestamp_pb2
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet
from verity.v1 import core_pb2, retrieval_service_pb2

from services.chassis.errors import InvalidInput, Violation
from services.retrieval.catalog import Filter
from services.retrieval.document import Box
from services.retrieval.exclusions import Exclusion
from services.retrieval.listing import Listed, Wanted
from services.retrieval.pages import RenderedPage
from services.retrieval.passage import Metadata, Passage, Region, StoredDocument
from services.retrieval.progress import Outcome, Progress, Result, Stage
from services.retrieval.receiving import Upload
from services.retrieval.report import RANKING, Report, Wishes
from services.retrieval.standing import Standing

_MIN_DPI = 36
_DEFAULT_DPI = 144

_MAX_EXCLUSIONS = 50
_MAX_ROUTED = 20
_MAX_DUPLICATES = 50

_Report = core_pb2.SearchReport
_Response = retrieval_service_pb2.IngestDocumentResponse


def to_upload(metadata: retrieval_service_pb2.IngestMetadata) -> Upload:
    # A later contract may bind who reads it in yet another way.
    refuse_unknown(metadata, "metadata")
    return Upload(
        metadata=Metadata(
            source_name=metadata.source_name,
            document_type=metadata.document_type or "document",
            authority=metadata.authority or core_pb2.AUTHORITY_STANDARD,
            published=metadata.published,
            effective_from=metadata.effective_from,
            effective_to=metadata.effective_to,
            tags=tuple(dict.fromkeys(metadata.tags)),
            supersedes=tuple(dict.fromkeys(metadata.supersedes)),
            readers=tuple(sorted(set(metadata.readers))),
        ),
        content_type=metadata.content_type,
        size_bytes=metadata.size_bytes,
        sha256=metadata.sha256,
        offset=metadata.offset if metadata.HasField("offset") else None,
    )


def to_filter(narrow: retrieval_service_pb2.DocumentFilter) -> Filter:
    refuse_unknown(narrow, "filter")
    return Filter(
        document_ids=tuple(narrow.document_ids),
        document_types=tuple(narrow.document_types),
        tags=tuple(narrow.tags),
        min_authority=narrow.min_authority,
        authorities=tuple(dict.fromkeys(narrow.authorities)),
    )


def refuse_unknown(message: Message, name: str) -> None:
    """Raises InvalidInput for what a later contract narrows by: to pass it over is to say more.

    Args:
        message: The request, or a part of it.
        name: The field it is in; empty for the request itself.
    """
    fields = UnknownFieldSet(message)
    if unknown := sorted({fields[n].field_number for n in range(len(fields))}):
        raise InvalidInput(
            "The request narrows by what this server does not know.",
            violations=(
                Violation(".".join(filter(None, (name, f"{unknown[0]}"))), "is no known field"),
            ),
        )


def from_event(event: Progress | Result) -> retrieval_service_pb2.IngestDocumentResponse:
    match event:
        case Progress():
            return _Response(
                progress=_Response.Progress(
                    stage=_STAGES[event.stage],
                    bytes_received=event.bytes_received,
                    pages_parsed=event.pages_parsed,
                    pages_total=event.pages_total,
                    passages_embedded=event.passages_embedded,
                    passages_total=event.passages_total,
                    passages_indexed=event.passages_indexed,
                    bytes_total=event.bytes_total,
                )
            )
        case Result():
            return _Response(
                result=_Response.Result(
                    outcome=_OUTCOMES[event.outcome], document=from_document(event.document)
                )
            )


def to_wanted(
    request: retrieval_service_pb2.ListDocumentsRequest, today: Callable[[], str]
) -> Wanted:
    refuse_unknown(request, "")
    return Wanted(
        narrow=to_filter(request.filter),
        name_contains=request.name_contains,
        standing=_STANDINGS.get(request.standing),
        as_of=request.as_of or today(),
    )


def from_listed(listed: Listed) -> core_pb2.Document:
    document = from_document(listed.document)
    document.superseded_by.extend(listed.superseded_by)
    return document


def from_document(document: StoredDocument) -> core_pb2.Document:
    time = timestamp_pb2.Timestamp()
    time.FromDatetime(document.ingest_time)
    metadata = document.metadata
    return core_pb2.Document(
        id=document.id,
        source_name=metadata.source_name,
        document_type=metadata.document_type,
        authority=core_pb2.Authority.Name(metadata.authority),
        version=document.version,
        sha256=document.sha256,
        published=metadata.published,
        effective_from=metadata.effective_from,
        effective_to=metadata.effective_to,
        tags=metadata.tags,
        supersedes=metadata.supersedes,
        readers=metadata.readers,
        content_type=document.content_type,
        size_bytes=document.size_bytes,
        page_count=document.page_count,
        passage_count=document.passage_count,
        ingest_time=time,
        pages_without_text=document.pages_without_text,
        ocr_pages=[
            core_pb2.OcrPage(page_number=page.number, confidence=page.confidence)
            for page in document.ocr_pages
        ],
    )


def from_passage(passage: Passage) -> core_pb2.Passage:
    metadata = passage.metadata
    return core_pb2.Passage(
        id=passage.id,
        document_id=passage.document_id,
        source_name=metadata.source_name,
        document_type=metadata.document_type,
        authority=core_pb2.Authority.Name(metadata.authority),
        version=passage.version,
        document_sha256=passage.document_sha256,
        text=passage.text,
        page_number=passage.page_number,
        section_id=passage.section_id,
        heading_path=passage.heading_path,
        span=core_pb2.Span(start=passage.start, end=passage.end),
        regions=map(_from_region, passage.regions),
        page_label=passage.page_label,
        furniture=(core_pb2.Span(start=start, end=end) for start, end in passage.furniture),
        score=passage.score,
        published=metadata.published,
        effective_from=metadata.effective_from,
        effective_to=metadata.effective_to,
        previous_id=passage.previous_id,
        next_id=passage.next_id,
        neighbour_of=passage.neighbour_of,
        readers=metadata.readers,
        duplicates=(
            core_pb2.Passage.Duplicate(
                passage_id=copy.passage_id,
                document_id=copy.document_id,
                source_name=copy.source_name,
                version=copy.version,
                authority=core_pb2.Authority.Name(copy.authority),
                readers=copy.readers,
            )
            for copy in passage.copies[:_MAX_DUPLICATES]
        ),
    )


def to_wishes(request: retrieval_service_pb2.RetrieveRequest) -> Wishes:
    return Wishes(
        as_of=request.as_of,
        include_out_of_force=request.include_out_of_force,
        neighbours=request.neighbours,
        max_per_document=request.max_per_document,
        rerank=request.rerank if request.HasField("rerank") else None,
    )


def from_found(
    narrow: retrieval_service_pb2.DocumentFilter, found: Sequence[Passage], report: Report
) -> retrieval_service_pb2.RetrieveResponse:
    searched = {passage.document_id: passage for passage in (*report.nearest_misses, *found)}
    return retrieval_service_pb2.RetrieveResponse(
        passages=map(from_passage, found),
        report=_Report(
            collection=report.collection,
            document_count=report.document_count,
            passage_count=report.passage_count,
            query=report.query,
            nearest_misses=map(from_passage, report.nearest_misses),
            filter=_from_filter(narrow) if narrow.ByteSize() else None,
            as_of=report.as_of,
            versions=map(_from_version, searched.values()),
            ranking=RANKING,
            routed_terms=(
                _Report.RoutedTerm(
                    kind=f"KIND_{one.kind.name}",
                    text=one.text,
                    passages=count,
                )
                for one, count in report.routed[:_MAX_ROUTED]
            ),
            exclusions=map(_from_exclusion, report.exclusions[:_MAX_EXCLUSIONS]),
            excluded_document_count=len(report.exclusions),
            reranking=f"RERANKING_{report.reranking.name}",
            reranker=report.reranker,
            duplicates_collapsed=report.collapsed,
            crowded_out=report.crowded_out,
            included_out_of_force=report.included_out_of_force,
        ),
    )


def _from_filter(narrow: retrieval_service_pb2.DocumentFilter) -> _Report.Filter:
    return _Report.Filter(
        document_ids=narrow.document_ids,
        document_types=narrow.document_types,
        min_authority=narrow.min_authority,
        tags=narrow.tags,
        authorities=narrow.authorities,
    )


def _from_version(passage: Passage) -> _Report.Version:
    return _Report.Version(
        document_id=passage.document_id,
        source_name=passage.metadata.source_name,
        version=passage.version,
        document_sha256=passage.document_sha256,
    )


def _from_exclusion(one: Exclusion) -> _Report.Exclusion:
    metadata = one.document.metadata
    by = one.superseded_by
    return _Report.Exclusion(
        document_id=one.document.id,
        source_name=metadata.source_name,
        version=one.document.version,
        reason=f"REASON_{one.standing.name}",
        effective_from=metadata.effective_from,
        effective_to=metadata.effective_to,
        superseded_by_id=one.superseded_by_id,
        superseded_by_name=by.source_name if by else "",
        best=from_passage(one.best) if one.best else None,
        readers=metadata.readers,
        superseded_by_readers=by.readers if by else (),
    )


def to_dpi(dpi: int) -> int:
    if 0 < dpi < _MIN_DPI:
        raise InvalidInput(
            "The page would be too small to read.",
            violations=(Violation("dpi", f"must be 0 or at least {_MIN_DPI}"),),
        )
    return dpi or _DEFAULT_DPI


def from_page(page: RenderedPage) -> retrieval_service_pb2.RenderPageResponse:
    return retrieval_service_pb2.RenderPageResponse(
        png=page.png,
        width_pixels=page.width,
        height_pixels=page.height,
        boxes=map(from_box, page.boxes),
    )


def from_box(box: Box) -> core_pb2.Box:
    return core_pb2.Box(left=box.left, top=box.top, right=box.right, bottom=box.bottom)


def _from_region(region: Region) -> core_pb2.Region:
    return core_pb2.Region(
        span=core_pb2.Span(start=region.start, end=region.end),
        page_number=region.page_number,
        page_label=region.page_label,
        box=from_box(region.box) if region.box else None,
    )


_STAGES = {
    Stage.RECEIVING: _Response.Progress.STAGE_RECEIVING,
    Stage.PARSING: _Response.Progress.STAGE_PARSING,
    Stage.EMBEDDING: _Response.Progress.STAGE_EMBEDDING,
    Stage.INDEXING: _Response.Progress.STAGE_INDEXING,
}
_STANDINGS = {
    retrieval_service_pb2.ListDocumentsRequest.Standing.Value(f"STANDING_{standing.name}"): standing
    for standing in Standing
}
_OUTCOMES = {
    Outcome.CREATED: _Response.Result.OUTCOME_CREATED,
    Outcome.REPLACED: _Response.Result.OUTCOME_REPLACED,
    Outcome.UNCHANGED: _Response.Result.OUTCOME_UNCHANGED,
    Outcome.METADATA_UPDATED: _Response.Result.OUTCOME_METADATA_UPDATED,
}
