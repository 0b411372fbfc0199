"""The built page: its files, read once, so that a request names one of them or nothing."""

import gzip
import hashlib
import mimetypes
import re
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

INDEX = "index.html"
# What Vite writes: a name with a hash of the content, which therefore never changes.
_HASHED = re.compile(r"[.-][A-Za-z0-9_-]{8,}\.\w+$")
_FOR_EVER, _EACH_TIME = "public, max-age=31536000, immutable", "no-cache"
_MIN_GZIP_BYTES = 512
_TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".woff2": "font/woff2",
          ".webmanifest": "application/manifest+json", ".map": "application/json"}  # fmt: skip


@dataclass(frozen=True)
class File:
    """One file as it is sent."""

    body: bytes
    gzipped: bytes
    media_type: str
    etag: str
    cache_control: str

    def response(self, request: Request) -> Response:
        headers = {
            "ETag": self.etag,
            "Cache-Control": self.cache_control,
            "Vary": "Accept-Encoding",
        }
        if self.etag in _tags(request.headers.get("if-none-match", "")):
            return Response(status_code=304, headers=headers)
        if self.gzipped and "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"] = "gzip"
            return Response(self.gzipped, media_type=self.media_type, headers=headers)
        return Response(self.body, media_type=self.media_type, headers=headers)


class Page:
    """The files of a folder, by their path from it; none when there is no folder.

    Args:
        folder: Where the page was built; links that lead out of it are left out.
    """

    def __init__(self, folder: Path) -> None:
        root = folder.resolve()
        self._files = {
            path.relative_to(root).as_posix(): _file(
                path, hashed=_HASHED.search(path.name) is not None
            )
            for path in sorted(root.rglob("*"))
            if path.is_file() and path.resolve().is_relative_to(root)
        }

    def find(self, path: str, accept: str) -> File | None:
        """The file at a path; for a path of the page's own, which a browser asks for, its index."""
        found = self._files.get(path.removeprefix("/") or INDEX)
        if found is None and "text/html" in accept and "." not in path.rpartition("/")[2]:
            return self._files.get(INDEX)
        return found


def _file(path: Path, *, hashed: bool) -> File:
    body = path.read_bytes()
    media_type = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
    small = gzip.compress(body, mtime=0) if len(body) >= _MIN_GZIP_BYTES else b""
    return File(
        body=body,
        gzipped=small if len(small) < len(body) * 0.9 else b"",
        media_type=media_type or "application/octet-stream",
        etag=f'"{hashlib.sha256(body).hexdigest()[:32]}"',
        cache_control=_FOR_EVER if hashed else _EACH_TIME,
    )


def _tags(header: str) -> set[str]:
    return {tag.strip().removeprefix("W/") for tag in header.split(",")}
