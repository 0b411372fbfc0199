"""The path to a vector store that a newcomer writes with LangChain; run as a process of its own.

`python -m benchmarks.ingest_peer MODEL_DIR FILE...` prints one JSON object. Loading the model and
the libraries is not counted.
"""

import importlib
import importlib.metadata
import json
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

_PACKAGES = (
    *("langchain-community", "langchain-huggingface", "langchain-text-splitters", "pypdf"),
    *("qdrant-client", "sentence-transformers", "torch"),
)


def ingest(model_dir: str, files: list[str]) -> dict[str, Any]:
    """Pages, passages and seconds of all files, one after the other."""
    loaders, splitters, embeddings, qdrant = (
        importlib.import_module(name)
        for name in (
            "langchain_community.document_loaders",
            "langchain_text_splitters",
            "langchain_huggingface",
            "qdrant_client",
        )
    )
    # MiniLM's vectors have length 1 by its own third module.
    model = embeddings.HuggingFaceEmbeddings(model_name=model_dir)
    model.embed_documents(["warm up"])
    splitter = splitters.RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200)
    client = qdrant.QdrantClient(":memory:")
    vectors = qdrant.models.VectorParams(size=384, distance=qdrant.models.Distance.COSINE)
    client.create_collection("filings", vectors_config=vectors)
    pages = passages = 0
    stages = dict.fromkeys(("parsing", "splitting", "embedding", "writing"), 0.0)
    began = time.perf_counter()
    for file in files:
        marks = [time.perf_counter()]
        loaded = loaders.PyPDFLoader(file).load()
        marks.append(time.perf_counter())
        parts = splitter.split_documents(loaded)
        texts = [part.page_content for part in parts]
        marks.append(time.perf_counter())
        made = model.embed_documents(texts)
        marks.append(time.perf_counter())
        client.upsert(
            "filings",
            [
                qdrant.models.PointStruct(
                    id=passages + number,
                    vector=vector,
                    payload={"text": part.page_content, **part.metadata},
                )
                for number, (vector, part) in enumerate(zip(made, parts, strict=True))
            ],
        )
        marks.append(time.perf_counter())
        for name, (start, end) in zip(stages, pairwise(marks), strict=True):
            stages[name] += end - start
        pages += len(loaded)
        passages += len(parts)
    return {
        "seconds": time.perf_counter() - began,
        "pages": pages,
        "passages": passages,
        "stages": {name: round(seconds, 2) for name, seconds in stages.items()},
        "versions": {name: importlib.metadata.version(name) for name in _PACKAGES},
    }


if __name__ == "__main__":
    print(json.dumps(ingest(sys.argv[1], [str(Path(file)) for file in sys.argv[2:]])))
