"""`python -m services.retrieval.reindex build|rollback|list|drop`, with the service's settings.

build     copies the index into a new collection, made as the settings now say, and switches to it
rollback  switches back to the collection before; what was ingested since is not in it
list      names the collections; the one that is in use is marked
drop      removes those that are not in use
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import structlog
from qdrant_client import AsyncQdrantClient

from services.chassis.errors import FailedPrecondition
from services.retrieval import reading
from services.retrieval.__main__ import Settings, embedders
from services.retrieval.catalog import Catalog
from services.retrieval.document import Chunk
from services.retrieval.embedding import Embedder, Vector
from services.retrieval.index import SparseVector, collection_name
from services.retrieval.leases import Leases
from services.retrieval.originals import Originals
from services.retrieval.passage import Passage
from services.retrieval.qdrant_layout import Generations
from services.retrieval.qdrant_server import ServerIndex, connect
from services.retrieval.reindexing import Reindexer, drop, rollback


async def _run(command: str, source: str, drain_seconds: float) -> Any:
    settings = Settings()
    if not settings.qdrant_url:
        raise FailedPrecondition("VERITY_QDRANT_URL is empty: there is no server to do this on.")
    client = connect(
        settings.qdrant_url,
        api_key=settings.qdrant_api_key.get_secret_value(),
        grpc_port=settings.qdrant_grpc_port,
    )
    try:
        return await do(settings, client, command, source=source, drain_seconds=drain_seconds)
    finally:
        await client.close()


async def do(
    settings: Settings,
    client: AsyncQdrantClient,
    command: str,
    *,
    source: str,
    drain_seconds: float,
) -> Any:
    """Does it on a server, for the embedding model of the settings, and reports."""
    originals = Originals(settings.originals_url or settings.data_dir / "originals")
    embedder, _ = await asyncio.to_thread(embedders, settings)
    alias = collection_name(embedder.model, embedder.dimensions)
    target = Generations(client, alias, settings.layout(embedder.dimensions))

    def leases(index: ServerIndex) -> Leases:
        return Leases(index, Catalog(index), originals, seconds=settings.ingest_seconds)

    match command:
        case "build":
            same = source in ("", alias)
            anew = None if same else _Anew(originals, embedder)
            reindexer = Reindexer(client, target, source or alias, leases, anew)
            return asdict(await reindexer.build(drain_seconds=drain_seconds))
        case "rollback":
            before = await rollback(client, target, leases, drain_seconds=drain_seconds)
            return {"collection": before}
        case "drop":
            return {"dropped": await drop(client, target)}
        case _:
            return {"collection": await target.current(), "all": await target.all()}


class _Anew:
    """Embeds passages from the text of their documents, as an ingest does."""

    def __init__(self, originals: Originals, embedder: Embedder) -> None:
        self._originals = originals
        self._embedder = embedder

    async def __call__(
        self, tenant: str, passages: Sequence[Passage]
    ) -> Sequence[tuple[Vector, SparseVector]]:
        first = passages[0]
        document = await self._originals.parsed(tenant, first.document_id, first.document_sha256)
        chunks = [
            Chunk(one.start, one.end, one.page_number, one.section_id, one.heading_path)
            for one in passages
        ]
        texts = await asyncio.to_thread(reading.embedded_texts, document, chunks)
        vectors = await asyncio.to_thread(self._embedder.encode, texts)
        terms = reading.terms_of(texts, chunks, first.metadata.source_name)
        return list(zip(vectors, terms, strict=True))


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m services.retrieval.reindex",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=["build", "rollback", "list", "drop"])
    parser.add_argument(
        "--from",
        dest="source",
        default="",
        help="build: the alias to copy, of another model or schema; its passages are embedded anew",
    )
    parser.add_argument(
        "--drain-seconds",
        type=float,
        default=300.0,
        help="build, rollback: how long to wait for ingests that had begun",
    )
    options = parser.parse_args()
    # What is printed is the report alone.
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    try:
        report = asyncio.run(_run(options.command, options.source, options.drain_seconds))
    except Exception as error:  # noqa: BLE001 - told to who typed the command
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return 1
    sys.stdout.write(f"{json.dumps(report)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
