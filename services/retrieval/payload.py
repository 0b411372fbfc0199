"""How documents and passages are written as points' payloads, and read back whole.

Every key is set here and nowhere else: nothing a caller sends can become a key.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from services.retrieval import region_codec
from services.retrieval.document import OcrPage
from services.retrieval.index import FIELDS, Kind
from services.retrieval.passage import Metadata, Passage, StoredDocument
from services.retrieval.sections import section_keys

Payload = Mapping[str, Any]

# In place of groups; no group is called so.
EVERYBODY = "*"

# Day numbers are YYYYMMDD. A document without a date applies from before the first day there is, or
# until after the last, on which it applies too.
FIRST_DAY = 0
LAST_DAY = 99991232


def to_day(date: str, *, unstated: int = FIRST_DAY) -> int:
    """The number under which a date (YYYY-MM-DD) is compared in the index."""
    return int(date.replace("-", "")) if date else unstated


def days(metadata: Metadata) -> dict[str, int]:
    """The fields that dates are compared by; it applies while from_day <= day < to_day."""
    return {
        "published_day": to_day(metadata.published),
        "from_day": to_day(metadata.effective_from),
        "to_day": to_day(metadata.effective_to, unstated=LAST_DAY),
    }


def from_document(tenant: str, document: StoredDocument) -> dict[str, Any]:
    """The payload of a document's record."""
    return {
        "tenant": tenant,
        "kind": Kind.DOCUMENT.value,
        "document_id": document.id,
        **from_metadata(document.metadata),
        "version": document.version,
        "sha256": document.sha256,
        "content_type": document.content_type,
        "size_bytes": document.size_bytes,
        "page_count": document.page_count,
        "passage_count": document.passage_count,
        "ingest_time": document.ingest_time.timestamp(),
        "pages_without_text": list(document.pages_without_text),
        "ocr_pages": [[page.number, page.confidence] for page in document.ocr_pages],
        "charset": document.charset,
    }


def to_document(payload: Payload) -> StoredDocument:
    """The document whose record this is."""
    return StoredDocument(
        id=payload["document_id"],
        metadata=to_metadata(payload),
        version=payload["version"],
        sha256=payload["sha256"],
        content_type=payload["content_type"],
        size_bytes=payload["size_bytes"],
        page_count=payload["page_count"],
        passage_count=payload["passage_count"],
        ingest_time=datetime.fromtimestamp(payload["ingest_time"], UTC),
        pages_without_text=tuple(payload["pages_without_text"]),
        # Records that were written before pictures were read have none.
        ocr_pages=tuple(
            OcrPage(int(number), confidence) for number, confidence in payload.get("ocr_pages", ())
        ),
        charset=payload.get("charset", ""),
    )


def from_passage(tenant: str, passage: Passage) -> dict[str, Any]:
    """The payload of a passage's point."""
    return {
        "tenant": tenant,
        "kind": Kind.PASSAGE.value,
        "document_id": passage.document_id,
        **from_metadata(passage.metadata),
        "version": passage.version,
        "sha256": passage.document_sha256,
        "edition": edition(passage.document_id, passage.document_sha256),
        "text": passage.text,
        "page_number": passage.page_number,
        "section_id": passage.section_id,
        "section_keys": list(section_keys(passage.section_id)),
        "heading_path": list(passage.heading_path),
        "start": passage.start,
        "end": passage.end,
        "regions": region_codec.encode(passage.regions),
        "previous_id": passage.previous_id,
        "next_id": passage.next_id,
        "page_labels": [
            [number, label]
            for number, label in {r.page_number: r.page_label for r in passage.regions}.items()
            if label
        ],
        "furniture": [list(span) for span in passage.furniture],
    }


def to_passage(id_: str, payload: Payload) -> Passage:
    """The passage whose point this is."""
    # Passages that were written before labels were kept have none.
    labels = {int(number): label for number, label in payload.get("page_labels", ())}
    return Passage(
        id=id_,
        document_id=payload["document_id"],
        document_sha256=payload["sha256"],
        version=payload["version"],
        metadata=to_metadata(payload),
        text=payload["text"],
        page_number=payload["page_number"],
        section_id=payload["section_id"],
        heading_path=tuple(payload["heading_path"]),
        start=payload["start"],
        end=payload["end"],
        regions=region_codec.decode(payload["regions"], labels),
        # Passages that were written before they were linked have no neighbours.
        previous_id=payload.get("previous_id", ""),
        next_id=payload.get("next_id", ""),
        page_label=labels.get(int(payload["page_number"]), ""),
        furniture=tuple((int(start), int(end)) for start, end in payload.get("furniture", ())),
    )


def edition(document_id: str, sha256: str) -> str:
    """One value for each version of each document; two documents may have the same bytes."""
    return f"{document_id} {sha256}"


def from_metadata(metadata: Metadata) -> dict[str, Any]:
    """The fields that hold a document's metadata, in its record and, to filter on, its passages."""
    return {
        "source_name": metadata.source_name,
        "document_type": metadata.document_type,
        "authority": metadata.authority,
        "published": metadata.published,
        "effective_from": metadata.effective_from,
        "effective_to": metadata.effective_to,
        **days(metadata),
        "tags": list(metadata.tags),
        "supersedes": list(metadata.supersedes),
        "supersedes_count": len(metadata.supersedes),
        # Never empty: a condition on it finds what everybody may read, and nothing by an omission.
        "readers": list(metadata.readers) or [EVERYBODY],
    }


def matching_both(one: Metadata, other: Metadata) -> dict[str, Any]:
    """Fields for passages that every filter finds which would find them with either metadata."""
    first, second = from_metadata(one), from_metadata(other)
    return {
        name: list(dict.fromkeys([*_listed(first[name]), *_listed(second[name])]))
        for name in first
        if name in FIELDS
    }


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


# What has to be read of a payload for `to_metadata`.
METADATA = (
    "source_name",
    "document_type",
    "authority",
    "published",
    "effective_from",
    "effective_to",
    "tags",
    "supersedes",
    "readers",
)


def to_metadata(payload: Payload) -> Metadata:
    """What a payload says of its document."""
    return Metadata(
        source_name=payload["source_name"],
        document_type=payload["document_type"],
        authority=payload["authority"],
        published=payload["published"],
        effective_from=payload["effective_from"],
        effective_to=payload["effective_to"],
        tags=tuple(payload["tags"]),
        supersedes=tuple(payload.get("supersedes", ())),
        readers=tuple(one for one in payload.get("readers", ()) if one != EVERYBODY),
    )
