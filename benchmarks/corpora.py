"""Passages and questions of the three data sets that retrieval is measured on."""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from services.retrieval.passage import Metadata, Passage, StoredDocument, cut, document_id
from services.retrieval.passage import passage_id as name_passage
from services.retrieval.reading import Reading, read

TENANT = "benchmark"
_LONGEST_HEADING = 120


@dataclass(frozen=True, slots=True)
class Shelf:
    """A document with its passages and what of each is embedded and indexed."""

    document: StoredDocument
    passages: tuple[Passage, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A query, and what is to be found."""

    text: str
    gold: frozenset[Hashable]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents, questions, and what a passage shows of what is to be found.

    Attributes:
        per_document: The most passages of one document in a ranking; 0: any number.
    """

    shelves: tuple[Shelf, ...]
    questions: tuple[Question, ...]
    shows: Callable[[Passage], Collection[Hashable]]
    per_document: int = 0


def load(folder: Path) -> Corpus:
    """The data set that lies in a folder, known by its files."""
    if (folder / "ObliQA_dev.json").exists():
        return _obliqa(folder)
    if (folder / "articles.jsonl").exists():
        return _regulations(folder)
    return _financebench(folder)


def _obliqa(folder: Path) -> Corpus:
    """Every paragraph of the rulebooks is a passage, indexed as it is.

    The headings that its number implies are kept with it but not embedded: measured here, they cost
    three points of recall. Few of these questions use their words.
    """
    files = sorted((folder / "documents").glob("*.json"), key=lambda path: int(path.stem))
    shelves = tuple(_rulebook(path) for path in files)
    named = {
        (shelf.document.metadata.source_name, passage.section_id): passage.id
        for shelf in shelves
        for passage in shelf.passages
    }
    questions = tuple(
        Question(
            row["Question"],
            frozenset(named[str(p["DocumentID"]), p["PassageID"]] for p in row["Passages"]),
        )
        for row in json.loads((folder / "ObliQA_dev.json").read_text(encoding="utf-8"))
    )
    return Corpus(shelves, questions, lambda passage: (passage.id,))


def _rulebook(path: Path) -> Shelf:
    rows: dict[str, str] = {}
    for row in json.loads(path.read_text(encoding="utf-8")):
        rows.setdefault(row["PassageID"], _one_line(row["Passage"]))
    by_number = {number.rstrip("."): text for number, text in rows.items()}
    document = _document(path.stem, "\n".join(rows.values()).encode(), len(rows))
    passages, start = [], 0
    for number, text in rows.items():
        path_ = tuple(_headings(number.rstrip("."), by_number))
        passages.append(_passage(document, text, start, number, path_))
        start += len(text) + 1
    return Shelf(document, tuple(passages), tuple(passage.text for passage in passages))


def _headings(number: str, by_number: dict[str, str]) -> Iterator[str]:
    """Titles of the parts that a paragraph is in, outermost first: 1.2.1 is in 1.2 and in 1."""
    for dot in re.finditer(r"\.", number):
        text = by_number.get(number[: dot.start()], "")
        if 0 < len(text) <= _LONGEST_HEADING and not text.endswith((".", ";", ":")):
            yield text


def _regulations(folder: Path) -> Corpus:
    """Every article is a document without its title, cut by our own chunking."""
    articles = [json.loads(line) for line in _lines(folder / "articles.jsonl")]
    names = [f"{article['doc']} {article['article']}" for article in articles]
    shelves = tuple(
        _read(name, article["text"].encode(), f"{name}.txt")
        for name, article in zip(names, articles, strict=True)
    )
    questions = tuple(
        Question(row["query"], frozenset([f"{row['gold_doc']} {row['gold_article']}"]))
        for row in map(json.loads, _lines(folder / "retrieval_title_to_article.jsonl"))
    )
    return Corpus(shelves, questions, lambda passage: (passage.metadata.source_name,), 1)


def _financebench(folder: Path) -> Corpus:
    """Filings read and cut as ingestion does it, all in one store; pages are what is looked for."""
    files = sorted((folder / "pdfs").glob("*.pdf"))
    shelves = tuple(_read(path.name, path.read_bytes(), path.name) for path in files)
    (rows,) = folder.glob("questions_*.jsonl")
    questions = tuple(
        Question(
            row["question"],
            # The data set counts pages from 0.
            frozenset(
                (f"{evidence['doc_name']}.pdf", evidence["evidence_page_num"] + 1)
                for evidence in row["evidence"]
            ),
        )
        for row in map(json.loads, _lines(rows))
    )
    return Corpus(shelves, questions, _pages)


def _pages(passage: Passage) -> Collection[Hashable]:
    name = passage.metadata.source_name
    return {(name, page) for page in (passage.page_number, *_page_numbers(passage))}


def _page_numbers(passage: Passage) -> Iterator[int]:
    return (region.page_number for region in passage.regions)


def _read(name: str, data: bytes, file_name: str) -> Shelf:
    reading = read(data, file_name, "")
    document = _document(name, data, len(reading.chunks))
    return Shelf(document, tuple(_cut(document, reading)), reading.texts)


def _cut(document: StoredDocument, reading: Reading) -> Iterator[Passage]:
    numbers = range(len(reading.chunks))
    return (cut(TENANT, document, reading.document, reading.chunks, number) for number in numbers)


def _document(name: str, data: bytes, passages: int) -> StoredDocument:
    return StoredDocument(
        id=document_id(TENANT, name),
        metadata=Metadata(name, "document", 1),
        version=1,
        sha256=hashlib.sha256(name.encode() + data).hexdigest(),
        content_type="text/plain",
        size_bytes=len(data),
        page_count=1,
        passage_count=passages,
        ingest_time=datetime(2026, 1, 1, tzinfo=UTC),
        pages_without_text=(),
    )


def _passage(
    document: StoredDocument, text: str, start: int, number: str, headings: tuple[str, ...]
) -> Passage:
    return Passage(
        id=name_passage(TENANT, document.id, document.sha256, start, start + len(text)),
        document_id=document.id,
        document_sha256=document.sha256,
        version=1,
        metadata=document.metadata,
        text=text,
        page_number=1,
        section_id=number,
        heading_path=headings,
        start=start,
        end=start + len(text),
        regions=(),
    )


def _one_line(text: str) -> str:
    # The rulebooks mark the direction of references; nobody types that.
    return " ".join(text.replace("\N{LEFT-TO-RIGHT MARK}", "").split())


def _lines(path: Path) -> Sequence[str]:
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
