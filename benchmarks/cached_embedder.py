"""The default embedding model, with every vector kept on disk: a second run embeds nothing."""

import hashlib
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from services.retrieval.embedding import Vector
from services.retrieval.onnx import OnnxEmbedder


class CachedEmbedder:
    """An Embedder that asks the model only for texts it has never seen."""

    model = OnnxEmbedder.model
    dimensions = OnnxEmbedder.dimensions

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._turn = threading.Lock()
        self._inner: OnnxEmbedder | None = None
        database.execute("CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB)")

    def encode(self, texts: Sequence[str]) -> list[Vector]:
        keys = [_key(text) for text in texts]
        with self._turn:
            known = dict(self._known(keys))
            new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            if new and self._inner is None:
                self._inner = OnnxEmbedder()
        if new and self._inner is not None:
            vectors = np.asarray(self._inner.encode(list(new.values())), dtype=np.float32)
            rows = [(key, row.tobytes()) for key, row in zip(new, vectors, strict=True)]
            with self._turn, self._database:
                self._database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
            known |= dict(rows)
        return [np.frombuffer(known[key], dtype=np.float32).tolist() for key in keys]

    def _known(self, keys: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
        for key in keys:
            yield from self._database.execute("SELECT * FROM vectors WHERE text = ?", (key,))


@contextmanager
def cached_embedder(directory: Path) -> Iterator[CachedEmbedder]:
    """The embedder whose vectors are kept under `directory`, in one file per model."""
    directory.mkdir(parents=True, exist_ok=True)
    # The batcher's workers are other threads; their uses of the database take turns.
    path = directory / f"{CachedEmbedder.model}.sqlite"
    database = sqlite3.connect(path, check_same_thread=False)
    try:
        yield CachedEmbedder(database)
    finally:
        database.close()


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
