"""The retrieval service's process: reads settings, builds every part, serves."""

import asyncio
import os
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import structlog
from pydantic import Field, SecretStr, model_validator
from verity.v1 import retrieval_service_pb2_grpc

from services.chassis import cpu, settings, telemetry
from services.chassis.dependencies import Dependency
from services.chassis.errors import Unavailable
from services.chassis.server import Service, run, serve
from services.retrieval import reading
from services.retrieval.batching import Batcher, Lane
from services.retrieval.catalog import Catalog
from services.retrieval.copying import offered
from services.retrieval.embedding import Embedder
from services.retrieval.index import Index, Kind
from services.retrieval.ingest import Ingestor
from services.retrieval.isolated_reader import IsolatedReader
from services.retrieval.isolation import Worker
from services.retrieval.leases import Leases
from services.retrieval.listing import Listing
from services.retrieval.onnx import OnnxEmbedder
from services.retrieval.originals import Originals
from services.retrieval.parsers import ocr
from services.retrieval.preference import Preference
from services.retrieval.qdrant_edge import EdgeIndex, open_edge_index
from services.retrieval.quota import Quota
from services.retrieval.rendering import Renderer
from services.retrieval.reranking import Reranking
from services.retrieval.search import Ranking, Searcher
from services.retrieval.sentence_transformer import SentenceTransformerEmbedder, load, mark
from services.retrieval.servicer import DEADLINES, RetrievalServicer
from services.retrieval.spool import Spool
from services.retrieval.writing import Writer

if TYPE_CHECKING:
    from services.retrieval.qdrant_layout import Layout

_RETRY_SECONDS = 1.0
_PARSER_NICENESS = 10  # Reading a file gives way to questions, as embedding it does.
_PASSAGE_CHARS = 2000  # More than nearly any passage has.
_NO_ID = "00000000-0000-0000-0000-000000000000"


class Settings(settings.Settings):
    """The retrieval service's settings."""

    data_dir: Path = Path("var/retrieval")
    # Any that fsspec knows, such as s3://bucket/originals; empty: a directory under data_dir.
    originals_url: str = ""
    # Empty: the embedded engine, under data_dir.
    qdrant_url: str = ""
    qdrant_grpc_port: int = Field(default=6334, ge=1, le=65535)
    qdrant_api_key: SecretStr = SecretStr("")
    # Of the next collection that is made: at the first start, or by services.retrieval.reindex.
    qdrant_quantization: Literal["none", "scalar-int8", "binary"] = "none"
    qdrant_replication_factor: int = Field(default=1, ge=1)
    qdrant_write_consistency_factor: int = Field(default=1, ge=1)
    qdrant_shard_number: int = Field(default=1, ge=1)
    qdrant_on_disk: bool = False
    # Of the two halves of a passage's score, as measured (ADR 25).
    dense_weight: float = Field(default=0.4, ge=0, le=1)
    # What decides between passages about equally near, in deviations of their scores.
    authority_weight: float = Field(default=0.05, ge=0, le=1)
    recency_weight: float = Field(default=0.05, ge=0, le=1)
    # 0: any number.
    max_per_document: int = Field(default=0, ge=0, le=50)
    # Empty: no reranker.
    reranker_dir: str = ""
    rerank_depth: int = Field(default=30, ge=1, le=100)
    rerank_seconds: float = Field(default=2.0, gt=0)
    default_limit: int = Field(default=8, ge=1, le=50)
    max_file_bytes: int = Field(default=64 * 1024 * 1024, ge=1)
    max_ingests: int = Field(default=4, ge=1)
    # Of each tenant's files that are not in yet: what has come of them is kept to be continued.
    upload_spool_bytes: int = Field(default=2**30, ge=0)
    upload_spool_seconds: float = Field(default=86_400.0, ge=0)
    # Of each tenant; 0: any number.
    tenant_max_documents: int = Field(default=0, ge=0)
    tenant_max_bytes: int = Field(default=0, ge=0)
    ingest_seconds: float = Field(default=1800.0, gt=0)
    parse_seconds: float = Field(default=60.0, gt=0)
    parse_memory_bytes: int = Field(default=2**30, ge=2**28)
    # By the clock, of one file; 0: no text in pictures is recognized.
    ocr_seconds: float = Field(default=300.0, ge=0)
    # As tesseract names them, joined by +; their data must be installed.
    ocr_languages: str = Field(default="eng", pattern=r"^[A-Za-z_]+(\+[A-Za-z_]+)*$")
    # 0: as many as the container may use.
    embedding_threads: int = Field(default=0, ge=0)
    # A directory as sentence-transformers saves one; empty: the model that comes with Verity.
    embedding_model_dir: str = ""
    # As torch names it, such as cpu or cuda; of a model from a directory.
    embedding_device: str = Field(default="cpu", min_length=1)
    embedding_batch_size: int = Field(default=32, ge=1)

    @model_validator(mode="after")
    def _key_is_not_sent_in_the_clear(self) -> "Settings":
        if self.qdrant_api_key.get_secret_value() and not _is_private(self.qdrant_url):
            raise ValueError(
                "VERITY_QDRANT_API_KEY would be sent in the clear: VERITY_QDRANT_URL must be https://"
            )
        return self

    def layout(self, dimensions: int) -> "Layout":
        """How the next collection on the server is made."""
        from services.retrieval.qdrant_layout import Layout  # noqa: PLC0415 - as below

        return Layout(
            dimensions,
            quantization=self.qdrant_quantization,
            replication_factor=self.qdrant_replication_factor,
            write_consistency_factor=self.qdrant_write_consistency_factor,
            shard_number=self.qdrant_shard_number,
            on_disk=self.qdrant_on_disk,
        )


def _is_private(url: str) -> bool:
    """Whether what is sent there is encrypted, or does not leave this machine."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        loopback = ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    return parts.scheme == "https" or loopback


@asynccontextmanager
async def open_index(
    settings: Settings,
    model: str = OnnxEmbedder.model,
    dimensions: int = OnnxEmbedder.dimensions,
) -> AsyncIterator[Index]:
    """The index on a server when one is named, else in this process; for a model's vectors."""
    if settings.qdrant_url:
        # A laptop is spared the client: it takes most of a second and 30 MB to import.
        from services.retrieval.qdrant_server import open_server_index  # noqa: PLC0415

        async with open_server_index(
            settings.qdrant_url,
            api_key=settings.qdrant_api_key.get_secret_value(),
            grpc_port=settings.qdrant_grpc_port,
            model=model,
            layout=settings.layout(dimensions),
        ) as server_index:
            yield server_index
    else:
        async with open_edge_index(
            settings.data_dir / "index", model=model, dimensions=dimensions
        ) as edge_index:
            yield edge_index


def open_ranking(settings: Settings, stack: AsyncExitStack) -> Ranking:
    """How passages are ordered; a reranker has a thread of its own, given back with the stack."""
    reranker = None
    if settings.reranker_dir:
        from services.retrieval import cross_encoder  # noqa: PLC0415 - most have none

        directory = Path(settings.reranker_dir)
        model = cross_encoder.load(directory)
        executor = stack.enter_context(ThreadPoolExecutor(1, thread_name_prefix="reranking"))
        reranker = cross_encoder.CrossEncoderReranker(directory.name, model, executor)
    return Ranking(
        dense_weight=settings.dense_weight,
        preference=Preference(settings.authority_weight, settings.recency_weight),
        max_per_document=settings.max_per_document,
        reranking=Reranking(reranker, settings.rerank_depth, settings.rerank_seconds),
    )


def embedders(settings: Settings) -> tuple[Embedder, Embedder]:
    """The model as it reads passages and as it reads queries."""
    if not settings.embedding_model_dir:
        embedder = OnnxEmbedder()
        return embedder, embedder
    # Read when the library is imported: nothing is looked up on a network.
    os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    directory = Path(settings.embedding_model_dir)
    return SentenceTransformerEmbedder.for_both(
        load(directory, device=settings.embedding_device),
        mark=mark(directory),
        batch_size=settings.embedding_batch_size,
    )


def needs(index: Index, originals: Originals) -> list[Dependency]:
    """What the service needs, and what to do about each."""

    async def missing() -> str:
        try:
            await index.get("", Kind.LEASE, [_NO_ID])
        except RuntimeError:
            return "it is not there, or refuses to be read"
        return ""

    return [
        Dependency("index", missing, "`verity doctor` says what of it is missing"),
        Dependency("originals", originals.missing, "see VERITY_ORIGINALS_URL and VERITY_DATA_DIR"),
    ]


def batching(settings: Settings, passages: Embedder, queries: Embedder) -> Batcher:
    """What feeds the model."""
    if not settings.embedding_model_dir:
        return Batcher(passages, threads=settings.embedding_threads or cpu.threads())
    # Its calls take turns and use all cores: a second worker would only be one more before a query.
    most = settings.embedding_batch_size
    if settings.embedding_device == "cpu":
        return Batcher(passages, queries=queries, max_texts=most)
    # To a device many passages are hardly more than one.
    return Batcher(passages, queries=queries, max_texts=most, max_chars=most * _PASSAGE_CHARS)


async def main() -> None:
    settings = Settings()
    with telemetry.configured("retrieval", settings):
        async with AsyncExitStack() as stack:
            passages, queries = await asyncio.to_thread(embedders, settings)
            model, dimensions = passages.model, passages.dimensions
            index = await stack.enter_async_context(open_index(settings, model, dimensions))
            memory = settings.parse_memory_bytes
            parser = await stack.enter_async_context(
                Worker(
                    memory_bytes=memory,
                    niceness=_PARSER_NICENESS,
                    waits_seconds=settings.ocr_seconds,
                ).running()
            )
            painter = await stack.enter_async_context(Worker(memory_bytes=memory).running())
            if isinstance(index, EdgeIndex):
                held = None if settings.originals_url else settings.data_dir / "originals"
                await stack.enter_async_context(offered(index, settings.data_dir, held))
            batcher = await stack.enter_async_context(
                batching(settings, passages, queries).running()
            )
            originals = Originals(settings.originals_url or settings.data_dir / "originals")
            catalog = Catalog(index)
            spool = Spool(
                settings.data_dir / "uploads",
                model=model,
                dimensions=dimensions,
                max_bytes=settings.upload_spool_bytes,
                max_age_seconds=settings.upload_spool_seconds,
            )
            leases = Leases(index, catalog, originals, seconds=settings.ingest_seconds)
            writer = Writer(
                batcher=batcher,
                index=index,
                catalog=catalog,
                leases=leases,
                originals=originals,
                quota=Quota(catalog, settings.tenant_max_documents, settings.tenant_max_bytes),
            )
            ingestor = Ingestor(
                reader=IsolatedReader(
                    parser,
                    seconds=settings.parse_seconds,
                    ocr_seconds=settings.ocr_seconds,
                    ocr_languages=settings.ocr_languages,
                ),
                writer=writer,
                catalog=catalog,
                leases=leases,
                spool=spool,
                max_bytes=settings.max_file_bytes,
                max_running=settings.max_ingests,
            )
            servicer = RetrievalServicer(
                ingestor,
                Searcher(catalog, batcher, open_ranking(settings, stack)),
                catalog,
                Listing(catalog, index),
                Renderer(catalog, originals, painter, seconds=settings.parse_seconds),
                default_limit=settings.default_limit,
            )

            async def warm_up() -> None:
                await _until_reachable(index)
                await leases.recover(alone=not settings.qdrant_url)
                await spool.sweep()
                await batcher.embed(["warm-up"], Lane.QUERY)
                await parser.call(settings.parse_seconds, reading.warm_up)
                lacking = await asyncio.to_thread(ocr.lacking, settings.ocr_languages)
                if settings.ocr_seconds and lacking:
                    structlog.get_logger().warning("ocr_limited", reason=lacking)

            await serve(
                Service(
                    name="verity.v1.RetrievalService",
                    add=retrieval_service_pb2_grpc.add_RetrievalServiceServicer_to_server,
                    servicer=servicer,
                    deadlines={**DEADLINES, "IngestDocument": settings.ingest_seconds},
                    dependencies=needs(index, originals),
                ),
                settings,
                warm_up=warm_up,
            )


async def _until_reachable(index: Index) -> None:
    """Services start in any order: a store that is not up yet is waited for, not died of."""
    while True:
        try:
            return await index.prepare()
        except Unavailable:
            structlog.get_logger().warning("index_unavailable", retry_seconds=_RETRY_SECONDS)
            await asyncio.sleep(_RETRY_SECONDS)


if __name__ == "__main__":
    run(main)
