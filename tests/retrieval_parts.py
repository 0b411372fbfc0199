"""The retrieval service put together from real parts, with a reader and a model that are quick."""

import math
import zlib
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from services.chassis.errors import InvalidInput
from services.retrieval.batching import Batcher
from services.retrieval.catalog import Catalog, Filter
from services.retrieval.document import Box, Chunk, Line, Page, ParsedDocument
from services.retrieval.index import Kind, Where
from services.retrieval.ingest import Ingestor
from services.retrieval.leases import Leases
from services.retrieval.listing import Listing
from services.retrieval.originals import Originals
from services.retrieval.passage import Metadata
from services.retrieval.quota import Quota
from services.retrieval.reading import Reading, terms_of
from services.retrieval.receiving import Upload
from services.retrieval.rendering import Renderer
from services.retrieval.search import Ranking, Searcher
from services.retrieval.servicer import RetrievalServicer
from services.retrieval.spool import Spool
from services.retrieval.writing import Writer

DIMENSIONS = 64
MODEL = "words"


class WordEmbedder:
    """A vector says which words are there: texts that share words are near each other."""

    model = MODEL
    dimensions = DIMENSIONS

    def __init__(self):
        self.batches = []

    def encode(self, texts):
        self.batches.append(list(texts))
        return [self._encode(text) for text in texts]

    def _encode(self, text):
        vector = [0.01] * DIMENSIONS
        for word in text.lower().split():
            vector[zlib.crc32(word.encode()) % DIMENSIONS] += 1.0
        length = math.hypot(*vector)
        return [x / length for x in vector]


async def read_lines(data, source_name, content_type, tell):
    """A reader for which each line is a passage, and a form feed ends a page."""
    if data.startswith(b"damaged"):
        raise InvalidInput("The file is damaged.", reason="DAMAGED_FILE")
    text = data.decode()
    pages, lines, chunks, start = [], [], [], 0
    for number, page in enumerate(text.split("\f"), 1):
        pages.append(Page(number, start, start + len(page)))
        for line in page.splitlines(keepends=True):
            end = start + len(line)
            if line.strip():
                lines.append(Line(start, end, number, Box(72, 10.5, 300, 20.5)))
                chunks.append(Chunk(start, end, number, f"{number}.1", (f"Page {number}",)))
            start = end
        start += 1
        tell(number, text.count("\f") + 1)
    document = ParsedDocument(
        text=text,
        pages=tuple(pages),
        lines=tuple(lines),
        headings=(),
        furniture=(),
        content_type="text/plain",
        has_page_images=False,
    )
    texts = tuple(text[chunk.start : chunk.end] for chunk in chunks)
    return Reading(document, tuple(chunks), texts, terms_of(texts, chunks, source_name))


@dataclass
class Parts:
    index: object
    embedder: object
    batcher: Batcher
    catalog: Catalog
    leases: Leases
    originals: Originals
    ingestor: Ingestor
    directory: Path
    listing: Listing
    searcher: Searcher


@dataclass
class Stored:
    documents: dict
    passages: dict
    leases: dict
    files: dict


@asynccontextmanager
async def put_together(
    index,
    directory,
    *,
    reader=read_lines,
    embedder=None,
    max_bytes=10_000,
    lease_seconds=60.0,
    margin=60.0,
    spool_bytes=10**6,
    max_documents=0,
    tenant_bytes=0,
):
    embedder = embedder or WordEmbedder()
    async with Batcher(embedder).running() as batcher:
        originals = Originals(directory / "originals")
        catalog = Catalog(index)
        leases = Leases(index, catalog, originals, seconds=lease_seconds, margin_seconds=margin)
        writer = Writer(
            batcher=batcher,
            index=index,
            catalog=catalog,
            leases=leases,
            originals=originals,
            quota=Quota(catalog, max_documents, tenant_bytes),
        )
        ingestor = Ingestor(
            reader=reader,
            writer=writer,
            catalog=catalog,
            leases=leases,
            spool=Spool(
                directory / "uploads",
                model=MODEL,
                dimensions=DIMENSIONS,
                max_bytes=spool_bytes,
                max_age_seconds=3600.0,
            ),
            max_bytes=max_bytes,
            max_running=4,
        )
        searcher = Searcher(catalog, batcher, Ranking(dense_weight=0.65))
        yield Parts(
            index,
            embedder,
            batcher,
            catalog,
            leases,
            originals,
            ingestor,
            directory,
            Listing(catalog, index),
            searcher,
        )


def servicer(parts, worker):
    """The RPCs over these parts."""
    renderer = Renderer(parts.catalog, parts.originals, worker, seconds=30)
    return RetrievalServicer(
        parts.ingestor, parts.searcher, parts.catalog, parts.listing, renderer, default_limit=8
    )


def upload(name="policy.txt", *, size_bytes=0, sha256="", offset=None, **metadata):
    fields = {"document_type": "document", "authority": 1, **metadata}
    return Upload(Metadata(name, **fields), "", size_bytes, sha256, offset)


async def ingest(parts, text, name="policy.txt", *, tenant="a", size_bytes=0, **metadata):
    """Every event of an ingest."""
    announced = upload(name, size_bytes=size_bytes, **metadata)
    return [event async for event in parts.ingestor.ingest(tenant, announced, pieces(text))]


async def pieces(text, size=7):
    data = text.encode()
    for start in range(0, len(data), size):
        yield data[start : start + size]


async def found(parts, query, *, tenant="a", limit=50, **narrow):
    """The texts that a search returns, best first."""
    passages, _ = await parts.searcher.search(tenant, query, Filter(**narrow), limit)
    return [passage.text for passage in passages]


async def everything(parts, tenant="a"):
    """All that is stored for a tenant, so that two moments can be compared."""

    async def payloads(owner, kind):
        return {r.id: r.payload for r in await parts.index.scroll(Where(owner, kind))}

    directory = parts.directory / "originals"
    return Stored(
        documents=await payloads(tenant, Kind.DOCUMENT),
        passages=await payloads(tenant, Kind.PASSAGE),
        leases=await payloads("", Kind.LEASE),
        files={
            str(path.relative_to(directory)): path.read_bytes()
            for path in directory.rglob("*")
            if path.is_file()
        },
    )
