"""What is kept of a document and of its passages, and how both are named."""

import uuid
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from services.retrieval.document import Box, Chunk, OcrPage, ParsedDocument

# The root of every id, so that ids of other systems never meet ours. Ids are stored: never change.
_NAMESPACE = uuid.UUID("0b2bb95c-5c0e-5a37-9d3b-5a4c2ad4e7f1")


# What a reader is a member of; None: of every group there is.
Groups = frozenset[str] | None


@dataclass(frozen=True, slots=True)
class Metadata:
    """What is said of a file when it is handed in.

    Attributes:
        authority: 1 (STANDARD) to 3 (HIGH).
        supersedes: Source names of the documents that it takes the place of.
        readers: Groups whose members may read it, in order; none: everybody of the tenant.
    """

    source_name: str
    document_type: str
    authority: int
    published: str = ""
    effective_from: str = ""
    effective_to: str = ""
    tags: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()

    def may_be_read_by(self, groups: Groups) -> bool:
        """Whether a member of these groups may read it."""
        return groups is None or not self.readers or not groups.isdisjoint(self.readers)


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """One version of an ingested file."""

    id: str
    metadata: Metadata
    version: int
    sha256: str
    content_type: str
    size_bytes: int
    page_count: int
    passage_count: int
    ingest_time: datetime
    pages_without_text: tuple[int, ...]
    ocr_pages: tuple[OcrPage, ...] = ()
    charset: str = ""


@dataclass(frozen=True, slots=True)
class Region:
    """One line of a passage; `start` and `end` are in the passage's text.

    `page_label` is the number that is printed on its page; empty when none is.
    """

    start: int
    end: int
    page_number: int
    box: Box | None
    page_label: str = ""


@dataclass(frozen=True, slots=True)
class Copy:
    """A passage of the same text in another document."""

    passage_id: str
    document_id: str
    source_name: str
    version: int
    authority: int
    readers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrievable piece of a document version, with all that a verifier needs.

    Attributes:
        start: Where the passage begins in the document's text.
        end: One past its last code point there.
        previous_id: The passage that ends where this one starts; empty for the first.
        next_id: The passage that starts where this one ends; empty for the last.
        page_label: The number printed on the page on which it starts; empty when none is.
        furniture: Spans of its text that are running headers and footers, ascending.
        score: Relevance to a query, 0 to 1; 0 outside a search.
        neighbour_of: In a search, the passage that was found, which this one stands beside.
        copies: In a search, the passages that this one was returned for.
    """

    id: str
    document_id: str
    document_sha256: str
    version: int
    metadata: Metadata
    text: str
    page_number: int
    section_id: str
    heading_path: tuple[str, ...]
    start: int
    end: int
    regions: tuple[Region, ...]
    previous_id: str = ""
    next_id: str = ""
    page_label: str = ""
    furniture: tuple[tuple[int, int], ...] = ()
    score: float = 0.0
    neighbour_of: str = ""
    copies: tuple[Copy, ...] = ()


def document_id(tenant: str, source_name: str) -> str:
    """The same for every version of a file."""
    return _name("document", tenant, source_name)


def passage_id(tenant: str, document_id: str, sha256: str, start: int, end: int) -> str:
    """The same for the same bytes, so that writing a version twice overwrites it."""
    return _name("passage", tenant, document_id, sha256, str(start), str(end))


def cut(
    tenant: str,
    stored: StoredDocument,
    parsed: ParsedDocument,
    chunks: Sequence[Chunk],
    number: int,
) -> Passage:
    """The passage that one of the chunks of a parsed document becomes."""
    chunk = chunks[number]

    def id_of(neighbour: Chunk) -> str:
        return passage_id(tenant, stored.id, stored.sha256, neighbour.start, neighbour.end)

    return Passage(
        id=id_of(chunk),
        document_id=stored.id,
        document_sha256=stored.sha256,
        version=stored.version,
        metadata=stored.metadata,
        text=parsed.text[chunk.start : chunk.end],
        page_number=chunk.page_number,
        section_id=chunk.section_id,
        heading_path=chunk.heading_path,
        start=chunk.start,
        end=chunk.end,
        regions=regions(parsed, chunk),
        previous_id=id_of(chunks[number - 1]) if number else "",
        next_id=id_of(chunks[number + 1]) if number + 1 < len(chunks) else "",
        page_label=parsed.pages[chunk.page_number - 1].label,
        furniture=_furniture(parsed, chunk),
    )


def regions(parsed: ParsedDocument, chunk: Chunk) -> tuple[Region, ...]:
    """The lines of a chunk."""
    # Lines ascend: those of the chunk are one run.
    first = bisect_right(parsed.lines, chunk.start, key=lambda line: line.end)
    last = bisect_left(parsed.lines, chunk.end, key=lambda line: line.start)
    return tuple(
        Region(
            start=max(line.start, chunk.start) - chunk.start,
            end=min(line.end, chunk.end) - chunk.start,
            page_number=line.page_number,
            box=line.box,
            page_label=parsed.pages[line.page_number - 1].label,
        )
        for line in parsed.lines[first:last]
    )


def _furniture(parsed: ParsedDocument, chunk: Chunk) -> tuple[tuple[int, int], ...]:
    first = bisect_right(parsed.furniture, chunk.start, key=lambda span: span[1])
    last = bisect_left(parsed.furniture, chunk.end, key=lambda span: span[0])
    return tuple(
        (max(start, chunk.start) - chunk.start, min(end, chunk.end) - chunk.start)
        for start, end in parsed.furniture[first:last]
    )


def _name(*parts: str) -> str:
    # Lengths go before the parts: no two lists of parts join to the same name.
    return str(uuid.uuid5(_NAMESPACE, "".join(f"{len(part)}:{part}" for part in parts)))
