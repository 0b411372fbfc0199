"""The Embedder for a local directory of any model that sentence-transformers can load."""

import hashlib
import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from services.retrieval.embedding import Vector

_MARK_DIGITS = 16
_QUERY_PROMPTS = ("query",)
_PASSAGE_PROMPTS = ("document", "passage", "corpus")


class CannotLoad(Exception):
    """The directory cannot embed; the message says why and what to do."""


class Model(Protocol):
    """What is used of a SentenceTransformer."""

    prompts: Mapping[str, str]
    max_seq_length: int | None
    tokenizer: Any

    def encode(self, sentences: list[str], **options: Any) -> Any: ...


class SentenceTransformerEmbedder:
    """A loaded model, as it reads passages or, with `for_queries`, as it reads queries.

    A text longer than the model's window is read in several windows, which count by their tokens:
    nothing is dropped in silence.

    Args:
        model: The model. Its tokenizer is set anew by each call, so that calls take turns.
        mark: Marks the model in a collection's name.
        batch_size: Texts that the model reads at once.
    """

    def __init__(
        self,
        model: Model,
        *,
        mark: str,
        batch_size: int,
        prompt: str = "",
        turn: AbstractContextManager[Any] | None = None,
    ) -> None:
        self._model = model
        self.model = mark
        self._batch_size = batch_size
        self._prompt = prompt
        self._turn = turn or threading.Lock()
        self._window = self._most_tokens()
        self.dimensions = len(self._encode(["dimensions"])[0])

    @classmethod
    def for_both(
        cls, model: Model, *, mark: str, batch_size: int
    ) -> tuple["SentenceTransformerEmbedder", "SentenceTransformerEmbedder"]:
        """For passages and for queries, each with the prompt that the model declares for them."""
        turn = threading.Lock()
        passages, queries = (
            cls(model, mark=mark, batch_size=batch_size, prompt=prompt, turn=turn)
            for prompt in (
                _declared(model.prompts, _PASSAGE_PROMPTS),
                _declared(model.prompts, _QUERY_PROMPTS),
            )
        )
        return passages, queries

    def encode(self, texts: Sequence[str]) -> list[Vector]:
        with self._turn:
            windows = [(n, *part) for n, text in enumerate(texts) for part in self._windows(text)]
            sums = np.zeros((len(texts), self.dimensions), dtype=np.float32)
            if windows:
                vectors = self._encode([text for _, text, _ in windows])
                weights = np.array([[weight] for _, _, weight in windows], dtype=np.float32)
                np.add.at(sums, [owner for owner, _, _ in windows], vectors * weights)
        return [vector.tolist() for vector in sums / np.linalg.norm(sums, axis=1, keepdims=True)]

    def _encode(self, texts: list[str]) -> Any:
        return self._model.encode(
            texts,
            prompt=self._prompt or None,
            batch_size=self._batch_size,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )

    def _most_tokens(self) -> int | None:
        """Tokens of a text that fit beside the prompt and the marks of begin and end."""
        if self._model.max_seq_length is None:
            return None
        around = len(self._model.tokenizer(self._prompt)["input_ids"])
        left = self._model.max_seq_length - around
        if left < 1:
            raise CannotLoad("The model's prompt leaves no room for a text within its window.")
        return left

    def _windows(self, text: str) -> list[tuple[str, int]]:
        """Parts of a text that fit, each with its tokens."""
        if self._window is None:
            return [(text, 1)]
        spans = self._model.tokenizer(
            text,
            add_special_tokens=False,
            return_offsets_mapping=True,
            truncation=False,
            verbose=False,
        )["offset_mapping"]
        if len(spans) <= self._window:
            return [(text, max(1, len(spans)))]
        parts = (spans[n : n + self._window] for n in range(0, len(spans), self._window))
        return [(text[part[0][0] : part[-1][1]], len(part)) for part in parts]


def load(directory: Path, *, device: str) -> Model:
    """The model in a directory, with nothing from anywhere else.

    Raises:
        CannotLoad: The library or the model is missing, or the device is.
    """
    if not (directory / "config.json").is_file():
        raise CannotLoad(f"{directory} holds no model; set VERITY_EMBEDDING_MODEL_DIR to one.")
    try:
        # Here, so that a process with the embedded model does not pay for torch.
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415
    except ImportError as error:
        raise CannotLoad(
            "VERITY_EMBEDDING_MODEL_DIR needs the extra: pip install"
            " 'verity[sentence-transformers]'."
        ) from error
    try:
        model: Model = SentenceTransformer(str(directory), device=device, local_files_only=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise CannotLoad(f"{directory} cannot be loaded on the device {device}: {error}") from error
    return model


def mark(directory: Path) -> str:
    """Marks a model by all of its files: another's vectors are never mixed with its own."""
    digest = hashlib.sha256()
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        name = path.relative_to(directory).as_posix().encode()
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").digest()
        digest.update(len(name).to_bytes(4) + name + content)
    return f"st-{digest.hexdigest()[:_MARK_DIGITS]}"


def _declared(prompts: Mapping[str, str], names: Sequence[str]) -> str:
    return next((prompts[name] for name in names if prompts.get(name)), "")
