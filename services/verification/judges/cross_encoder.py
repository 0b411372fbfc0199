"""Judges with a local cross-encoder: a directory that sentence-transformers can load."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Protocol

from services.chassis.cpu import in_thread
from services.verification.source import Cited


class CannotLoad(Exception):
    """The directory cannot judge; the message says why and what to do."""


class Model(Protocol):
    """What is used of a sentence-transformers CrossEncoder."""

    config: Any

    def predict(self, sentences: Sequence[tuple[str, str]], **options: Any) -> Any: ...


class CrossEncoderJudge:
    """Reads premise and statement together. Runs in the executor, one statement a call."""

    def __init__(self, name: str, model: Model, executor: Executor, threshold: float) -> None:
        self.name = f"cross-encoder:{name}"
        self.threshold = threshold
        self._model = model
        self._executor = executor
        self._label = entailing(model.config)

    async def probability(self, statement: str, cited: Sequence[Cited]) -> float:
        sentences = {one.around.key: one.around.text for one in cited}
        return await in_thread(
            self._executor, self._predict, " ".join(sentences.values()), statement
        )

    def _predict(self, premise: str, statement: str) -> float:
        several = self._label is not None
        scores = self._model.predict(
            [(premise, statement)], apply_softmax=several, show_progress_bar=False
        )[0]
        return float(scores[self._label] if several else scores)


def load(directory: Path) -> Model:
    """The model in a directory.

    Raises:
        CannotLoad: The library or the model is missing.
    """
    if not (directory / "config.json").is_file():
        raise CannotLoad(f"{directory} holds no model; set VERITY_CROSS_ENCODER_DIR to one.")
    try:
        # Here, so that a process without a cross-encoder does not pay for torch.
        from sentence_transformers import CrossEncoder  # noqa: PLC0415
    except ImportError as error:
        raise CannotLoad(
            "VERITY_ENTAILMENT=cross-encoder needs the extra: pip install"
            " 'verity[sentence-transformers]'."
        ) from error
    model: Model = CrossEncoder(str(directory), local_files_only=True)
    return model


def entailing(config: Any) -> int | None:
    """Which of a model's outputs says that the statement follows; None where there is only one.

    The order of the labels differs from model to model, so it is never assumed.

    Raises:
        CannotLoad: The model has several outputs and names none of them so.
    """
    labels: Mapping[int, str] = {int(n): str(label) for n, label in config.id2label.items()}
    if len(labels) == 1:
        return None
    found = [n for n, label in labels.items() if label.lower().startswith(("entail", "support"))]
    if len(found) != 1:
        raise CannotLoad(
            f"The model's labels are {', '.join(labels.values())}; none of them, or more than one,"
            " means that the statement follows. Name one of them entailment in its config.json."
        )
    return found[0]
