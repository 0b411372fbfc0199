"""The files themselves: each version's original bytes, and its text as it was parsed.

Files lie under `<url>/<tenant>/<document id>/<sha256>/`: in a directory, or at any URL that fsspec
knows, such as `s3://bucket/originals`.
"""

import asyncio
import os
import tempfile
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from services.chassis.errors import NotFound, Unavailable
from services.retrieval.document import ParsedDocument
from services.retrieval.parsed import dump, load

T = TypeVar("T")

# Raised when files move or change so that those of before cannot be read.
LAYOUT_VERSION = 1

_BYTES = "original"
_PARSED = "parsed.json"


class Originals:
    """Files by tenant, document and hash. Each is there whole or not at all.

    All methods raise Unavailable when the store cannot be reached or refuses.

    Args:
        place: A directory, or a URL. In object stores a file that is written appears at once.
        seconds: What one use of the store may take.
    """

    def __init__(self, place: Path | str, *, seconds: float = 60.0) -> None:
        # Listings are of the moment: another replica may have written since.
        options = {} if isinstance(place, Path) else {"use_listings_cache": False}
        self._files, root = url_to_fs(str(place), **options)
        self._root = root.rstrip("/")
        self._seconds = seconds

    async def put(
        self, tenant: str, document_id: str, sha256: str, data: bytes, parsed: ParsedDocument
    ) -> None:
        """Keeps a version beside those there are."""
        folder = f"{self._folder(tenant, document_id)}/{sha256}"
        await self._run(lambda: self._put(folder, data, parsed))

    async def data(self, tenant: str, document_id: str, sha256: str) -> bytes:
        """The bytes as they were ingested. Raises NotFound."""
        path = f"{self._folder(tenant, document_id)}/{sha256}/{_BYTES}"
        return await self._run(lambda: self._read(path))

    async def parsed(self, tenant: str, document_id: str, sha256: str) -> ParsedDocument:
        """The text with its layout. Raises NotFound."""
        path = f"{self._folder(tenant, document_id)}/{sha256}/{_PARSED}"
        return await self._run(lambda: load(self._read(path)))

    async def keep_only(self, tenant: str, document_id: str, sha256: str | None) -> None:
        """Removes every version but this one; with None, the whole document."""
        folder = self._folder(tenant, document_id)
        await self._run(lambda: self._keep_only(folder, sha256))

    async def missing(self) -> str:
        """Why nothing could be kept now; nothing when it could. Raises Unavailable."""
        return await self._run(self._missing)

    def _folder(self, tenant: str, document_id: str) -> str:
        # The prefix keeps "." and ".." from being what they say.
        return f"{self._root}/tenant-{quote(tenant, safe='')}/{uuid.UUID(document_id)}"

    async def _run(self, work: Callable[[], T]) -> T:
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.to_thread(work)
        except (NotFound, MemoryError):
            raise
        # Each store has errors of its own, and their words may name buckets and keys.
        except Exception as error:
            raise Unavailable(
                "The store of originals is full or cannot be reached; try again."
            ) from error

    # All below blocks, and runs on a thread.

    def _missing(self) -> str:
        if not isinstance(self._files, LocalFileSystem):
            self._files.exists(self._root)  # Raises when it cannot be asked.
            return ""
        place = Path(self._root)
        # It is made with the first document.
        nearest = next(path for path in (place, *place.parents) if path.exists())
        return "" if os.access(nearest, os.W_OK | os.X_OK) else "its directory cannot be written to"

    def _put(self, folder: str, data: bytes, parsed: ParsedDocument) -> None:
        for name, content in ((_BYTES, data), (_PARSED, dump(parsed))):
            if isinstance(self._files, LocalFileSystem):
                _write(Path(folder, name), content)
            else:
                self._files.pipe_file(f"{folder}/{name}", content)

    def _read(self, path: str) -> bytes:
        try:
            content: bytes = self._files.cat_file(path)
        except FileNotFoundError as error:
            raise NotFound(
                "The document's original is no longer there. If it stays so, delete the document "
                "and ingest it again."
            ) from error
        return content

    def _keep_only(self, folder: str, sha256: str | None) -> None:
        if sha256 is None:
            self._remove(folder)
            return
        try:
            versions = self._files.ls(folder, detail=False)
        except FileNotFoundError:
            return
        for version in versions:
            if version.rstrip("/").rpartition("/")[2] != sha256:
                self._remove(version)

    def _remove(self, folder: str) -> None:
        with suppress(FileNotFoundError):
            self._files.rm(folder, recursive=True)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
