"""The Reranker with a local cross-encoder: a directory that sentence-transformers can load."""

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Protocol

from services.chassis.cpu import in_thread


class CannotLoad(Exception):
    """The directory cannot rerank; the message says why and what to do."""


class Model(Protocol):
    """What is used of a sentence-transformers CrossEncoder."""

    config: Any

    def predict(self, sentences: Sequence[tuple[str, str]], **options: Any) -> Any: ...


class CrossEncoderReranker:
    """Reads question and passage together, in the executor.

    Raises:
        CannotLoad: The model has several outputs: it tells kinds apart, and does not rank.
    """

    def __init__(self, name: str, model: Model, executor: Executor) -> None:
        if len(model.config.id2label) != 1:
            raise CannotLoad(f"The model {name} has several outputs; a reranker has one.")
        self.name = f"cross-encoder:{name}"
        self._model = model
        self._executor = executor

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        return await in_thread(self._executor, self._predict, query, texts)

    def _predict(self, query: str, texts: Sequence[str]) -> list[float]:
        raw = self._model.predict([(query, text) for text in texts], show_progress_bar=False)
        scores = [float(score) for score in raw]
        if not all(0 <= score <= 1 for score in scores):  # Logits: the library squeezes some.
            scores = [1 / (1 + math.exp(-max(-60.0, min(60.0, score)))) for score in scores]
        return scores


def load(directory: Path) -> Model:
    """The model in a directory.

    Raises:
        CannotLoad: The library or the model is missing.
    """
    if not (directory / "config.json").is_file():
        raise CannotLoad(f"{directory} holds no model; set VERITY_RERANKER_DIR to one.")
    try:
        # Here, so that a process without a reranker does not pay for torch.
        from sentence_transformers import CrossEncoder  # noqa: PLC0415
    except ImportError as error:
        raise CannotLoad(
            "VERITY_RERANKER_DIR needs the extra: pip install 'verity[sentence-transformers]'."
        ) from error
    model: Model = CrossEncoder(str(directory), local_files_only=True)
    return model
