"""The sample corpus and the three questions that show what Verity does with it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from verity.v1 import retrieval_service_pb2 as pb

from cli.errors import CliError
from cli.ingest import File

# Beside the code in a checkout; a wheel does not carry it.
CORPUS = Path(__file__).parents[1] / "samples" / "corpus.yaml"
_ESCALATION = (
    "The corporate applicant has a UBO with 30% equity, but their proof of funds is not notarized. "
    "What is the compliance action?"
)
QUESTIONS = (
    _ESCALATION,
    "What was TechCorp's Q3 2024 revenue and year-over-year growth rate?",
    "What is the penalty for late filing of form 8832?",
)


def files(corpus: Path = CORPUS) -> list[File]:
    """The documents of the corpus with what is said of each."""
    try:
        described = yaml.safe_load(corpus.read_text("utf-8"))
    except OSError as error:
        raise CliError(
            f"The sample corpus {corpus} cannot be read: {error.strerror}.",
            hint="It comes with a checkout of the repository.",
        ) from error
    return list(_files(corpus.parent, described))


def _files(folder: Path, described: Any) -> Iterator[File]:
    for entry in described["documents"]:
        metadata = pb.IngestMetadata(
            document_type=entry.get("type", ""),
            authority=f"AUTHORITY_{entry['authority'].upper()}",
            published=str(entry.get("published") or ""),
            effective_from=str(entry.get("effective_from") or ""),
            effective_to=str(entry.get("effective_to") or ""),
            tags=entry.get("tags", ()),
            supersedes=entry.get("supersedes", ()),
        )
        yield File(folder / entry["file"], metadata)
