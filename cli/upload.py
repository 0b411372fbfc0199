"""One file to the retrieval service: what is said of it, then the bytes that are not there yet."""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterable, AsyncIterator, Callable
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

import grpc
from verity.v1 import retrieval_service_pb2 as pb
from verity.v1 import retrieval_service_pb2_grpc as rpc_pb

from cli import rpc
from cli.errors import CliError

SERVICE = rpc.Service(
    "verity.v1.RetrievalService",
    rpc_pb.RetrievalServiceStub,
    idempotent=("GetDocument", "ListDocuments"),
)
CHUNK = 256 * 1024
# Between two attempts of a file for which the service has no room.
_PAUSE_SECONDS = 0.5

OnProgress = Callable[[pb.IngestDocumentResponse.Progress], None]


@dataclass(frozen=True, slots=True)
class File:
    """One file to ingest and what is said of it."""

    path: Path
    metadata: pb.IngestMetadata

    @property
    def name(self) -> str:
        """What the document is known by: without folders, unless it was given another name."""
        return self.metadata.source_name or self.path.name


async def send(
    stub: rpc_pb.RetrievalServiceStub, file: File, seconds: float, on_progress: OnProgress
) -> pb.IngestDocumentResponse.Result:
    """How its ingest ended. Waits, within the time, while the service has no room for it."""
    until = asyncio.get_running_loop().time() + seconds
    while True:
        left = until - asyncio.get_running_loop().time()
        try:
            return await _send_once(stub, file, left, on_progress)
        except grpc.aio.AioRpcError as error:
            full = error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            if not full or left < 2 * _PAUSE_SECONDS:
                raise
        await asyncio.sleep(_PAUSE_SECONDS)


async def _send_once(
    stub: rpc_pb.RetrievalServiceStub, file: File, seconds: float, on_progress: OnProgress
) -> pb.IngestDocumentResponse.Result:
    broken: list[OSError] = []
    accepted: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def heard(progress: pb.IngestDocumentResponse.Progress) -> None:
        if not accepted.done():
            accepted.set_result(progress.bytes_received)
        on_progress(progress)

    try:
        with file.path.open("rb") as content:
            requests = _requests(file, content, accepted, broken)
            return await _result(stub.IngestDocument(requests, timeout=seconds), heard)
    except OSError as error:
        raise _unreadable(error) from error
    except asyncio.CancelledError:
        if broken:
            raise _unreadable(broken[0]) from broken[0]
        raise


async def _requests(
    file: File, content: BufferedReader, accepted: asyncio.Future[int], broken: list[OSError]
) -> AsyncIterator[pb.IngestDocumentRequest]:
    """The metadata and, once they are accepted, the bytes that are wanted, in pieces."""
    try:
        # Off the event loop, as all that follows.
        digest = await asyncio.to_thread(hashlib.file_digest, content, "sha256")
        metadata = pb.IngestMetadata()
        metadata.CopyFrom(file.metadata)
        metadata.source_name = file.name
        metadata.size_bytes = os.fstat(content.fileno()).st_size
        metadata.sha256 = digest.hexdigest()
        yield pb.IngestDocumentRequest(metadata=metadata)
        content.seek(await accepted)
        while chunk := await asyncio.to_thread(content.read, CHUNK):
            yield pb.IngestDocumentRequest(chunk=chunk)
    except OSError as error:
        # gRPC keeps what is raised here to itself and cancels the call: nothing is ingested.
        broken.append(error)
        raise


async def _result(
    replies: AsyncIterable[pb.IngestDocumentResponse], on_progress: OnProgress
) -> pb.IngestDocumentResponse.Result:
    async for reply in replies:
        if reply.WhichOneof("event") == "result":
            return reply.result
        on_progress(reply.progress)
    raise CliError("The stream ended without a result.", code="INTERNAL", hint=rpc.SEE_LOG)


def _unreadable(error: OSError) -> CliError:
    return CliError(f"It cannot be read: {error.strerror}.", code="UNREADABLE")
