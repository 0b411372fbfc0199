"""From a file's bytes to passages ready to embed; runs in a process of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tokenizers import Tokenizer

from services.retrieval import bm25
from services.retrieval.chunking import chunk
from services.retrieval.document import Chunk, OnPages, ParsedDocument
from services.retrieval.embedded_text import passage_text_for_embedding
from services.retrieval.index import SparseVector
from services.retrieval.parsers import parse
from services.retrieval.surroundings import Part, beside
from services.retrieval.tokens import MAX_TOKENS, SPECIAL_TOKENS, count_tokens, load_tokenizer

# The embedding model reads 254; the rest is left for the headings that go before a passage.
_PASSAGE_TOKENS = 200


@dataclass(frozen=True, slots=True)
class Reading:
    """A file that was read; the three tuples go together."""

    document: ParsedDocument
    chunks: tuple[Chunk, ...]
    texts: tuple[str, ...]
    terms: tuple[SparseVector, ...]


def read(
    data: bytes,
    source_name: str,
    content_type: str,
    ocr_seconds: float = 0.0,
    ocr_languages: str = "eng",
    *,
    tell: OnPages | None = None,
) -> Reading:
    """Parses a file and cuts it into passages. Raises InvalidInput with a reason."""
    tokenizer = _tokenizer()
    document = parse(
        data,
        source_name,
        content_type,
        ocr_seconds=ocr_seconds,
        ocr_languages=ocr_languages,
        on_pages=tell,
    )
    chunks = chunk(
        document,
        count_tokens=lambda text: count_tokens(tokenizer, text),
        max_tokens=_PASSAGE_TOKENS,
    )
    texts = embedded_texts(document, chunks)
    return Reading(document, tuple(chunks), texts, terms_of(texts, chunks, source_name))


def embedded_texts(document: ParsedDocument, chunks: Sequence[Chunk]) -> tuple[str, ...]:
    """What of each chunk is embedded."""
    tokenizer = _tokenizer()
    return tuple(
        passage_text_for_embedding(
            document,
            piece,
            fits=lambda text: count_tokens(tokenizer, text) <= MAX_TOKENS - SPECIAL_TOKENS,
        )
        for piece in chunks
    )


def terms_of(
    texts: Sequence[str], parts: Sequence[Part], source_name: str
) -> tuple[SparseVector, ...]:
    """What of each part of a document is indexed for BM25, with that which is beside it."""
    return tuple(
        bm25.passage_vector(text, source_name, [texts[number] for number in near])
        for text, near in zip(texts, beside(parts), strict=True)
    )


def warm_up() -> None:
    """Loads what the first file would wait for."""
    _tokenizer()


@lru_cache(maxsize=1)
def _tokenizer() -> Tokenizer:
    return load_tokenizer()
