"""The files themselves: each version's original bytes, and its text as it was parsed.

Files lie under `<directory>/<tenant>/<document id>/<sha256>/`, on a local or a shared file system.
"""

import asyncio
import os
import shutil
import tempfile
import uuid
from pathlib import Path
from urllib.parse import quote

from services.chassis.errors import NotFound
from services.retrieval.document import ParsedDocument
from services.retrieval.parsed import dump, load

_BYTES = "original"
_PARSED = "parsed.json"


class Originals:
    """Files by tenant, document and hash. Each is there whole or not at all."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def put(
        self, tenant: str, document_id: str, sha256: str, data: bytes, parsed: ParsedDocument
    ) -> None:
        """Keeps a version beside those there are."""
        folder = self._folder(tenant, document_id) / sha256
        await asyncio.to_thread(_put, folder, data, parsed)

    async def data(self, tenant: str, document_id: str, sha256: str) -> bytes:
        """The bytes as they were ingested. Raises NotFound."""
        path = self._folder(tenant, document_id) / sha256 / _BYTES
        return await asyncio.to_thread(_read, path)

    async def parsed(self, tenant: str, document_id: str, sha256: str) -> ParsedDocument:
        """The text with its layout. Raises NotFound."""
        path = self._folder(tenant, document_id) / sha256 / _PARSED
        return await asyncio.to_thread(lambda: load(_read(path)))

    async def keep_only(self, tenant: str, document_id: str, sha256: str | None) -> None:
        """Removes every version but this one; with None, the whole document."""
        await asyncio.to_thread(_keep_only, self._folder(tenant, document_id), sha256)

    def _folder(self, tenant: str, document_id: str) -> Path:
        # The prefix keeps "." and ".." from being what they say.
        return self._directory / f"tenant-{quote(tenant, safe='')}" / str(uuid.UUID(document_id))


def _put(folder: Path, data: bytes, parsed: ParsedDocument) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / _BYTES, data)
    _write(folder / _PARSED, dump(parsed))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise NotFound("The original of this document is no longer there.") from error


def _keep_only(folder: Path, sha256: str | None) -> None:
    if sha256 is None:
        shutil.rmtree(folder, ignore_errors=True)
    elif folder.is_dir():
        for version in folder.iterdir():
            if version.name != sha256:
                shutil.rmtree(version, ignore_errors=True)


def _write(path: Path, data: bytes) -> None:
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
