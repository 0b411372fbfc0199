"""Statements held against what they cite, as the case files say."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from services.verification.entailment import MIN_COVERAGE
from services.verification.evidence import Finding, Passage, Reason, Span, Statement
from services.verification.source import Cited, Source
from services.verification.verdict import compare, conflicts_among, examine

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


def verify(
    statement: Statement,
    sources: Mapping[str, Source],
    min_coverage: float = MIN_COVERAGE,
    today: str = "",
) -> Finding:
    """The finding on one statement alone, without a judge."""
    return examine(statement, sources, conflicts_among(sources, today), min_coverage).finding


def reasons(statement: str, *evidence: Cited, min_coverage: float = 0) -> Sequence[Reason]:
    return compare(statement, evidence, min_coverage).reasons


def codes(statement: str, *evidence: Cited, min_coverage: float = 0) -> set[str]:
    return {
        reason.code.value for reason in reasons(statement, *evidence, min_coverage=min_coverage)
    }
