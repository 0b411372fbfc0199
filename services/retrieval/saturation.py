"""Whether this CPU multiplies unsigned by signed bytes as they are."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

_LENGTH = 64


def multiplied(rows: Any, matrix: Any) -> Any:
    """The product of uint8 by int8, as int32, as ONNX Runtime makes it on this machine."""
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["rows", "matrix"], ["product"])],
        "product",
        [
            helper.make_tensor_value_info("rows", TensorProto.UINT8, rows.shape),
            helper.make_tensor_value_info("matrix", TensorProto.INT8, matrix.shape),
        ],
        [helper.make_tensor_value_info("product", TensorProto.INT32, [None, None])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    (product,) = session.run(None, {"rows": rows, "matrix": matrix})
    return product


def saturates(product: Callable[[Any, Any], Any] = multiplied) -> bool:
    """Whether a product of unsigned by signed bytes loses what 16 bits do not hold.

    ONNX Runtime's kernels for x86 without VNNI add every two of its terms in 16 bits. The largest
    terms there can be are tried, so that the machine answers and no list of machines is kept.
    """
    rows = np.full((16, _LENGTH), 255, np.uint8)
    matrix = np.full((_LENGTH, 16), 127, np.int8)
    return bool((product(rows, matrix) != _LENGTH * 255 * 127).any())
