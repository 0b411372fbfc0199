"""A Qdrant server's part of a backup: a snapshot of the collection that the alias names."""

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import httpx

from cli.errors import CliError

FILE = "vectors.snapshot"
_CHUNK = 1 << 20


class Server:
    """The REST interface of one server.

    Args:
        url: Such as http://qdrant:6333.
        api_key: Empty for none.
        seconds: What one request may take.
    """

    def __init__(self, url: str, api_key: str, seconds: float) -> None:
        headers = {"api-key": api_key} if api_key else {}
        self._client = httpx.Client(
            base_url=url.rstrip("/"), headers=headers, timeout=seconds, trust_env=False
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def version(self) -> str:
        with _explained():
            return str(_result(self._client.get("/"), whole=True)["version"])

    def alone(self) -> bool:
        """Whether it is no node of a cluster, of which each holds a part."""
        with _explained():
            return len(_result(self._client.get("/cluster")).get("peers") or {}) <= 1

    def aliases(self) -> dict[str, str]:
        with _explained():
            listed = _result(self._client.get("/aliases"))["aliases"]
            return {one["alias_name"]: one["collection_name"] for one in listed}

    def collections(self) -> list[str]:
        with _explained():
            return [one["name"] for one in _result(self._client.get("/collections"))["collections"]]

    def save(self, collection: str, file: Path) -> None:
        """Takes a snapshot, fetches it, and has the server remove its own."""
        place = f"/collections/{quote(collection, safe='')}/snapshots"
        with _explained():
            made = _result(self._client.post(place, params={"wait": "true"}))
            name = quote(made["name"], safe="")
            try:
                digest = hashlib.sha256()
                with self._client.stream("GET", f"{place}/{name}") as reply, file.open("wb") as to:
                    reply.raise_for_status()
                    for chunk in reply.iter_bytes(_CHUNK):
                        digest.update(chunk)
                        to.write(chunk)
                if made.get("checksum") not in (None, digest.hexdigest()):
                    raise CliError("Qdrant's snapshot arrived damaged.", hint="Try again.")
            finally:
                self._client.delete(f"{place}/{name}", params={"wait": "true"})

    def load(self, collection: str, file: Path, sha256: str) -> None:
        """Makes a collection of a snapshot; where that fails nothing is left of it."""
        place = f"/collections/{quote(collection, safe='')}/snapshots/upload"
        options = {"wait": "true", "priority": "snapshot", "checksum": sha256}
        try:
            with _explained(), file.open("rb") as content:
                _result(self._client.post(place, params=options, files={"snapshot": content}))
        except CliError:
            if collection in self.collections():
                self.drop(collection)
            raise

    def drop(self, collection: str) -> None:
        with _explained():
            _result(self._client.delete(f"/collections/{quote(collection, safe='')}"), whole=True)

    def switch(self, alias: str, collection: str, *, replaces: bool) -> None:
        """Makes the alias name a collection, at once for all readers and writers."""
        actions: list[dict[str, Any]] = [
            {"create_alias": {"alias_name": alias, "collection_name": collection}}
        ]
        if replaces:
            actions.insert(0, {"delete_alias": {"alias_name": alias}})
        with _explained():
            reply = self._client.post("/collections/aliases", json={"actions": actions})
            _result(reply, whole=True)


def next_generation(alias: str, collections: list[str]) -> str:
    """A name behind the alias that no collection has, as the service numbers them."""
    found = (re.fullmatch(rf"{re.escape(alias)}-(\d+)", name) for name in collections)
    return f"{alias}-{max((int(one[1]) for one in found if one), default=0) + 1}"


def _result(reply: httpx.Response, *, whole: bool = False) -> Any:
    reply.raise_for_status()
    held = reply.json()
    return held if whole else held["result"]


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except httpx.HTTPStatusError as error:
        raise CliError(
            f"Qdrant answered {error.response.status_code}.",
            hint="See its log, and VERITY_QDRANT_API_KEY; a snapshot is restored by the version "
            "that made it or the minor version after it.",
        ) from error
    except httpx.HTTPError as error:
        raise CliError(
            f"Qdrant cannot be reached over HTTP: {type(error).__name__}.",
            code="UNAVAILABLE",
            hint="See VERITY_QDRANT_URL; snapshots go over its HTTP port, not over gRPC.",
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise CliError("Qdrant's answer is none that is known.") from error
