"""The stores that retrieval's contract tests run on; a real server too when QDRANT_URL is set."""

import os
import tempfile
import uuid
import warnings
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from qdrant_client import AsyncQdrantClient
from retrieval_parts import DIMENSIONS, MODEL

from services.retrieval.index import collection_name
from services.retrieval.qdrant_edge import open_edge_index
from services.retrieval.qdrant_layout import Layout
from services.retrieval.qdrant_server import ServerIndex, open_server_index


@asynccontextmanager
async def edge(directory, dimensions=DIMENSIONS):
    async with open_edge_index(directory / "index", model=MODEL, dimensions=dimensions) as index:
        await index.prepare()
        yield index


@asynccontextmanager
async def local(directory, dimensions=DIMENSIONS):
    client = AsyncQdrantClient(":memory:")
    try:
        index = ServerIndex(client, collection_name(MODEL, dimensions), Layout(dimensions))
        await prepare(index)
        yield index
    finally:
        await client.close()


@asynccontextmanager
async def server(directory, dimensions=DIMENSIONS):
    async with open_server_index(
        os.environ["QDRANT_URL"],
        api_key=os.environ.get("QDRANT_API_KEY", ""),
        grpc_port=int(os.environ.get("QDRANT_GRPC_PORT", "6334")),
        model=f"test-{uuid.uuid4().hex}",
        layout=Layout(dimensions),
    ) as index:
        await index.prepare()
        try:
            yield index
        finally:
            for name in await index._generations.all():
                await index._client.delete_collection(name)


async def prepare(index):
    with warnings.catch_warnings():
        # The client's local mode says that it needs no payload indexes.
        warnings.filterwarnings("ignore", "Payload indexes have no effect")
        await index.prepare()


@contextmanager
def quick_directory():
    """In memory where there is such a place: syncing to a disk would be most of a test's time."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as directory:
        yield Path(directory)


def opened_stores():
    return [edge, local, *([server] if "QDRANT_URL" in os.environ else [])]
