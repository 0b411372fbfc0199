"""The path to a vector store that a newcomer writes with LangChain; run as a process of its own.

`python -m benchmarks.ingest_peer MODEL_DIR` prints a line when it has loaded the model and the
libraries, which is not counted, and then one JSON object for each line of files, a JSON array.
"""

import importlib
import importlib.metadata
import json
import sys
import time
from itertools import pairwise

_PACKAGES = (
    *("langchain-community", "langchain-huggingface", "langchain-text-splitters", "pypdf"),
    *("qdrant-client", "sentence-transformers", "torch"),
)


def main(model_dir: str) -> None:
    """Takes files in as they are named, one after the other, into one collection."""
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
    print(json.dumps({name: importlib.metadata.version(name) for name in _PACKAGES}), flush=True)
    written = 0
    for line in sys.stdin:
        pages = passages = 0
        stages = dict.fromkeys(("parsing", "splitting", "embedding", "writing"), 0.0)
        began, worked = time.perf_counter(), time.process_time()
        for file in json.loads(line):
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
                        id=number,
                        vector=vector,
                        payload={"text": part.page_content, **part.metadata},
                    )
                    for number, (vector, part) in enumerate(zip(made, parts, strict=True), written)
                ],
            )
            marks.append(time.perf_counter())
            for name, (start, end) in zip(stages, pairwise(marks), strict=True):
                stages[name] += end - start
            pages += len(loaded)
            passages += len(parts)
            written += len(parts)
        turn = {
            "seconds": time.perf_counter() - began,
            "cpu_seconds": time.process_time() - worked,
            "pages": pages,
            "passages": passages,
            **stages,
        }
        print(json.dumps(turn), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
