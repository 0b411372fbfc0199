"""Statements held against what they cite, as the case files say."""

from pathlib import Path
from typing import Any

import yaml

from services.verification.evidence import Passage, Span
from services.verification.source import Cited, Source
from services.verification.verdict import judge

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


def codes(statement: str, *evidence: Cited) -> set[str]:
    return {reason.code.value for reason in judge(statement, evidence)}
