"""What turns text into vectors that are near each other when the texts mean the same."""

from collections.abc import Sequence
from typing import Protocol

Vector = Sequence[float]


class Embedder(Protocol):
    """An embedding model. Its methods block, and may be called from several threads."""

    @property
    def model(self) -> str:
        """Marks the model in a collection's name; lower-case letters, digits and hyphens."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        ...

    def encode(self, texts: Sequence[str]) -> list[Vector]:
        """One vector of length 1 for each text, in order. No text is cut short."""
        ...
