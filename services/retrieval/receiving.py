"""Takes a file's bytes from where an earlier call left off; they must be what was announced."""

import hashlib
from dataclasses import dataclass

from services.chassis.errors import InvalidInput, OutOfRange, Violation
from services.retrieval import naming
from services.retrieval.passage import Metadata
from services.retrieval.spool import Draft


@dataclass(frozen=True, slots=True)
class Upload:
    """What the caller says of the file.

    Attributes:
        size_bytes: 0 when it is not known beforehand.
        sha256: Of the whole file; empty when it is not known beforehand.
        offset: Where the bytes of this call begin; None: where those that are here end.
    """

    metadata: Metadata
    content_type: str
    size_bytes: int
    sha256: str = ""
    offset: int | None = None

    def check(self, max_bytes: int) -> None:
        """Raises InvalidInput for what can be told before the first byte."""
        if self.size_bytes > max_bytes:
            raise _too_large(max_bytes)
        metadata = self.metadata
        naming.check("metadata.source_name", metadata.source_name)
        for number, name in enumerate(metadata.supersedes):
            naming.check(f"metadata.supersedes[{number}]", name)
        if "" in metadata.readers:
            raise InvalidInput(
                "A group of readers is without a name.",
                violations=(Violation("metadata.readers", "has one without"),),
            )
        # Both are ISO dates by now, which sort as text.
        if metadata.effective_from and "" < metadata.effective_to <= metadata.effective_from:
            raise InvalidInput(
                "The document would cease to apply before it begins to.",
                violations=(
                    Violation("metadata.effective_to", "must be after metadata.effective_from"),
                ),
            )
        if self.offset and not self.sha256:
            raise InvalidInput(
                "An upload is continued by the hash of its file.",
                violations=(Violation("metadata.sha256", "must be set with metadata.offset"),),
            )


class Receiver:
    """The bytes of one upload.

    Args:
        upload: What was said of them.
        draft: Keeps them for a later call, should this one break off.
        max_bytes: The most there may be.
    """

    def __init__(self, upload: Upload, draft: Draft | None, *, max_bytes: int) -> None:
        self._upload = upload
        self._draft = draft
        self._max_bytes = max_bytes
        self._digest = hashlib.sha256()
        self._data = bytearray()

    async def begin(self) -> int:
        """How many bytes are here already. Raises OutOfRange when the caller is elsewhere."""
        if self._draft:
            if self._upload.offset == 0:
                await self._draft.restart()
            self._extend(await self._draft.data())
        if self._upload.offset not in {None, len(self._data)}:
            raise OutOfRange(
                f"{len(self._data)} bytes of this file are here; continue from there, or start "
                "anew with offset 0."
            )
        return len(self._data)

    async def take(self, piece: bytes) -> int:
        """How many bytes are here with these. Raises InvalidInput for one too many."""
        self._extend(piece)
        if len(self._data) > self._max_bytes:
            raise _too_large(self._max_bytes)
        if self._upload.size_bytes and len(self._data) > self._upload.size_bytes:
            raise self._other_size()
        if self._draft:
            await self._draft.append(piece)
        return len(self._data)

    async def whole(self) -> tuple[bytes, str]:
        """The file and its SHA-256. Raises InvalidInput when it is not what was announced."""
        if not self._data:
            raise InvalidInput("The file is empty.", reason="EMPTY_FILE")
        if self._upload.size_bytes and len(self._data) != self._upload.size_bytes:
            raise self._other_size()
        sha256 = self._digest.hexdigest()
        if self._upload.sha256 not in {"", sha256}:
            if self._draft:
                await self._draft.restart()
            raise InvalidInput(
                "The bytes that came do not have the SHA-256 that was announced; send the file "
                "again.",
                reason="DAMAGED_FILE",
            )
        return bytes(self._data), sha256

    def _extend(self, piece: bytes) -> None:
        self._data += piece
        self._digest.update(piece)

    def _other_size(self) -> InvalidInput:
        return InvalidInput(
            f"{self._upload.size_bytes} bytes were announced, and {len(self._data)} came; send the "
            "file again.",
            reason="DAMAGED_FILE",
        )


def _too_large(max_bytes: int) -> InvalidInput:
    return InvalidInput(
        f"The file is over the limit of {max_bytes} bytes; split it.", reason="TOO_LARGE"
    )
