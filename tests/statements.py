"""Statements held against what they cite, as the case files say."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from services.verification.evidence import Passage, Reason, Span
from services.verification.source import Cited, Source
from services.verification.verdict import compare

AGREE = "AGREE"


def cases(name: str) -> list[dict[str, Any]]:
    path = Path(__file__).parent / "cases" / f"{name}.yaml"
    rows: list[dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return rows


def cited(text: str, part: str | None = None) -> Cited:
    """A part of a passage, or all of it, as what a statement rests on."""
    part = part or text
    start = text.index(part)
    return Cited(Source(Passage("p", text)), Span(start, start + len(part)))


def reasons(statement: str, *evidence: Cited, min_coverage: float = 0) -> Sequence[Reason]:
    return compare(statement, evidence, min_coverage).reasons


def codes(statement: str, *evidence: Cited, min_coverage: float = 0) -> set[str]:
    return {
        reason.code.value for reason in reasons(statement, *evidence, min_coverage=min_coverage)
    }
