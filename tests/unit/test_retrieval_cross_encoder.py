"""The reranker that reads with a local model, here one of our own making."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from services.retrieval.cross_encoder import CannotLoad, CrossEncoderReranker, load


class Model:
    """Scores a pair by the words that both have."""

    def __init__(self, labels=1, scale=1.0):
        self.config = SimpleNamespace(id2label={n: f"LABEL_{n}" for n in range(labels)})
        self.scale = scale

    def predict(self, sentences, **options):
        return [self.scale * len({*a.split()} & {*b.split()}) / 10 for a, b in sentences]


@pytest.fixture
def executor():
    with ThreadPoolExecutor(1) as executor:
        yield executor


@pytest.mark.parametrize("scale", [1.0, 50.0, -50.0])
async def test_probabilities_are_kept_and_logits_are_squeezed(executor, scale):
    reranker = CrossEncoderReranker("m", Model(scale=scale), executor)
    assert reranker.name == "cross-encoder:m"
    near, far = await reranker.scores("proof of funds", ["proof of funds", "other of"])
    assert 0 <= far <= 1
    assert 0 <= near <= 1
    assert (near > far) is (scale > 0)


def test_a_model_that_tells_kinds_apart_is_refused(executor):
    with pytest.raises(CannotLoad, match="several outputs"):
        CrossEncoderReranker("m", Model(labels=3), executor)


def test_a_directory_without_a_model_is_refused(tmp_path):
    with pytest.raises(CannotLoad, match="VERITY_RERANKER_DIR"):
        load(tmp_path)


def test_a_model_without_its_library_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    with pytest.raises(CannotLoad, match=r"verity\[sentence-transformers\]"):
        load(tmp_path)
