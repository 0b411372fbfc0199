"""A file on its way from a request's body to IngestDocument, never whole in memory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers
from verity.v1 import retrieval_service_pb2 as pb

from services.gateway import wire
from services.gateway.incoming import Incoming
from services.gateway.problem import Problem, invalid

CHUNK_BYTES = 256 * 1024
MOST_FIELDS, MOST_FIELD_BYTES = 64, 4096

Parts = AsyncIterator[pb.IngestMetadata | bytes]


def parts(incoming: Incoming, headers: Headers, query: list[tuple[str, str]]) -> Parts:
    """The metadata first, then the file's bytes.

    A multipart body has the metadata as fields, by their names in the proto, before one part with a
    file. Any other body is the file itself, and the query has the metadata.
    """
    kind, options = parse_options_header(headers.get("content-type"))
    if kind != b"multipart/form-data":
        return _raw(incoming, headers, query)
    boundary = options.get(b"boundary")
    if not boundary:
        raise invalid("The Content-Type names no boundary.")
    return _multipart(incoming, boundary, query)


async def _raw(incoming: Incoming, headers: Headers, query: list[tuple[str, str]]) -> Parts:
    metadata = pb.IngestMetadata()
    wire.from_query(query, {}, metadata)
    if not metadata.size_bytes:
        length = headers.get("content-length", "0")
        metadata.size_bytes = int(length) if length.isdecimal() and len(length) < 19 else 0  # noqa: PLR2004 - fits 64 bits
    yield metadata
    async with aclosing(incoming.chunks()) as chunks:  # type: ignore[type-var]  # a generator, typed as iterator
        async for chunk in chunks:
            for start in range(0, len(chunk), CHUNK_BYTES):
                yield chunk[start : start + CHUNK_BYTES]


async def _multipart(incoming: Incoming, boundary: bytes, query: list[tuple[str, str]]) -> Parts:
    form = _Form(boundary, query)
    async for chunk in incoming.chunks():
        form.feed(chunk)
        for part in form.take():
            yield part
    form.finish()


class _Form:
    """What a multipart body has said so far."""

    def __init__(self, boundary: bytes, query: list[tuple[str, str]]) -> None:
        self._fields = list(query)
        self._header = bytearray()
        self._headers: dict[bytes, bytes] = {}
        self._header_name, self._value, self._name = b"", bytearray(), ""
        self._in_file, self._file_seen, self._finished = False, False, False
        self._out: list[pb.IngestMetadata | bytes] = []
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._part_begin,
                    "on_header_field": self._header_field,
                    "on_header_value": self._header_value,
                    "on_header_end": self._header_end,
                    "on_headers_finished": self._headers_finished,
                    "on_part_data": self._part_data,
                    "on_part_end": self._part_end,
                    "on_end": self._end,
                },
            )
        except FormParserError as error:
            raise _malformed(error) from None

    def feed(self, chunk: bytes) -> None:
        try:
            self._parser.write(chunk)
        except FormParserError as error:
            raise _malformed(error) from None

    def take(self) -> list[pb.IngestMetadata | bytes]:
        """What became known since it was last asked."""
        out, self._out = self._out, []
        return out

    def finish(self) -> None:
        """A form that is cut short, or has no file, is none."""
        if not self._finished:
            raise invalid("The form ends before its last boundary.")
        if not self._file_seen:
            raise invalid("The form has no file.", ("file", "must be a part with a filename"))

    def _part_begin(self) -> None:
        self._headers, self._value, self._name, self._in_file = {}, bytearray(), "", False

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _header_end(self) -> None:
        self._headers[self._header_name.lower()] = bytes(self._header)
        self._header_name, self._header = b"", bytearray()

    def _headers_finished(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        self._name = _text(options.get(b"name", b""))
        if b"filename" not in options:
            return
        if self._file_seen:
            raise invalid("The form has more than one file.", ("file", "must be given once"))
        metadata = pb.IngestMetadata()
        wire.from_query(self._fields, {}, metadata)
        metadata.source_name = metadata.source_name or _text(options[b"filename"])
        self._in_file = self._file_seen = True
        self._out.append(metadata)

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        if self._in_file:
            self._out += [
                bytes(data[at : min(end, at + CHUNK_BYTES)])
                for at in range(start, end, CHUNK_BYTES)
            ]
            return
        self._value += data[start:end]
        if len(self._value) > MOST_FIELD_BYTES:
            raise invalid("A field of the form is too long.", (self._name[:100], "is too long"))

    def _part_end(self) -> None:
        if self._in_file:
            return
        if self._file_seen:
            raise invalid("A field comes after the file.", (self._name[:100], "must come before"))
        if len(self._fields) >= MOST_FIELDS:
            raise invalid(f"The form has more than {MOST_FIELDS} fields.")
        if self._value or self._name != "tags":
            self._fields.append((self._name, _text(self._value)))

    def _end(self) -> None:
        self._finished = True


class Ingest:
    """One call of IngestDocument that is fed from a body.

    Bytes are sent only once the metadata were accepted. A body that breaks off cancels the call:
    half a file must not pass for all of it.
    """

    def __init__(self, source: Parts) -> None:
        self._source = source
        self._accepted = asyncio.Event()
        self._sent: asyncio.Queue[pb.IngestMetadata | bytes | None] = asyncio.Queue(maxsize=1)
        self._broken: Exception | None = None

    async def requests(self) -> AsyncIterator[pb.IngestDocumentRequest]:
        """What gRPC takes from a task of its own, which ends only when this does."""
        while (part := await self._sent.get()) is not None:
            if isinstance(part, bytes):
                yield pb.IngestDocumentRequest(chunk=part)
            else:
                if part.sha256 and not part.HasField("offset"):
                    # A body is the file from its beginning, whatever is there of it already.
                    part.offset = 0
                yield pb.IngestDocumentRequest(metadata=part)

    async def replies(self, call: Any) -> AsyncIterator[pb.IngestDocumentResponse]:
        """The call's replies; what broke the body is raised in their stead."""
        feeding = asyncio.create_task(self._feed(call))
        try:
            async for reply in call:
                self._accepted.set()
                yield reply
        except asyncio.CancelledError:
            if self._broken:
                raise self._broken from None
            raise
        finally:
            call.cancel()
            feeding.cancel()
            await asyncio.wait({feeding})
            while not self._sent.empty():
                self._sent.get_nowait()
            self._sent.put_nowait(None)

    async def _feed(self, call: Any) -> None:
        try:
            async with aclosing(self._source) as source:  # type: ignore[type-var]  # a generator, typed as iterator
                async for part in source:
                    if isinstance(part, bytes):
                        await self._accepted.wait()
                    await self._sent.put(part)
        except Exception as error:  # noqa: BLE001 - it is raised where the replies are awaited
            self._broken = error
            call.cancel()
        await self._sent.put(None)


def _malformed(error: FormParserError) -> Problem:
    return invalid(f"The form cannot be read: {str(error)[:200]}")


def _text(value: bytes | bytearray) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise invalid("A name or a field of the form is not UTF-8.") from None
