"""Copies every collection of a Qdrant, and what a snapshot does not hold: its aliases.

Each run fills a directory of its own, which only gets its name when it is whole: one file for each
collection and node, and manifest.json with the aliases, the versions and each file's SHA-256. The
standard library alone.
"""

import datetime as dt
import hashlib
import json
import os
import shutil
import urllib.parse
import urllib.request
from pathlib import Path
from typing import IO, Any

SECONDS = 3600
CHUNK = 1024 * 1024


class Node:
    """One node of Qdrant, by its REST interface."""

    def __init__(self, url: str, api_key: str) -> None:
        self.url = url.rstrip("/")
        self._headers = {"api-key": api_key} if api_key else {}

    def open(self, method: str, path: str) -> IO[bytes]:
        request = urllib.request.Request(self.url + path, headers=self._headers, method=method)  # noqa: S310 - as told
        reply: IO[bytes] = urllib.request.urlopen(request, timeout=SECONDS)  # noqa: S310 - as told
        return reply

    def result(self, method: str, path: str) -> Any:
        with self.open(method, path) as reply:
            return json.load(reply)["result"]

    def version(self) -> str:
        with self.open("GET", "/") as reply:
            return str(json.load(reply)["version"])


def take(nodes: list[Node], directory: Path, now: str) -> Path:
    """Takes one set of snapshots; returns its directory."""
    unfinished = directory / f".{now}"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    collections = [one["name"] for one in nodes[0].result("GET", "/collections")["collections"]]
    files = [
        copy(node, number, collection, unfinished)
        for number, node in enumerate(nodes)
        for collection in sorted(collections)
    ]
    manifest = {
        "taken": now,
        "aliases": nodes[0].result("GET", "/aliases")["aliases"],
        "versions": [node.version() for node in nodes],
        "files": files,
    }
    (unfinished / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    return unfinished.rename(directory / now)


def copy(node: Node, number: int, collection: str, directory: Path) -> dict[str, Any]:
    """Has a node make a snapshot, fetches it, and has the node remove its own."""
    path = f"/collections/{urllib.parse.quote(collection, safe='')}/snapshots"
    made = node.result("POST", f"{path}?wait=true")["name"]
    try:
        target = directory / f"{collection}.{number}.snapshot"
        digest = hashlib.sha256()
        with node.open("GET", f"{path}/{made}") as reply, target.open("wb") as file:
            while chunk := reply.read(CHUNK):
                digest.update(chunk)
                file.write(chunk)
    finally:
        node.result("DELETE", f"{path}/{made}?wait=true")
    return {
        "name": target.name,
        "collection": collection,
        "node": node.url,
        "bytes": target.stat().st_size,
        "sha256": digest.hexdigest(),
    }


def prune(directory: Path, keep: int) -> list[Path]:
    """Removes all but the newest sets, and what a run that was cut off left."""
    whole = sorted(path for path in directory.iterdir() if (path / "manifest.json").exists())
    ours = [path for path in whole if not path.name.startswith(".")]
    gone = ours[: max(0, len(ours) - keep)]
    for path in gone:
        shutil.rmtree(path)
    return gone


def main() -> None:
    key = Path(os.environ["API_KEY_FILE"])
    api_key = key.read_text().strip() if key.exists() else ""
    nodes = [Node(url, api_key) for url in os.environ["QDRANT_URLS"].split(",")]
    directory = Path(os.environ["DIRECTORY"])
    now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H%M%SZ")
    taken = take(nodes, directory, now)
    gone = prune(directory, int(os.environ["KEEP"]))
    print(json.dumps({"event": "snapshots", "taken": taken.name, "removed": len(gone)}))  # noqa: T201 - its log


if __name__ == "__main__":
    main()
