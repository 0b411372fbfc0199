"""Another source in force that gives another value for the same fact stops a statement."""

from pathlib import Path

import pytest
import yaml

from services.verification.evidence import (
    Authority,
    Code,
    DraftCitation,
    Passage,
    Statement,
    Verdict,
)
from services.verification.verdict import sources_of, verify

CASES = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "conflicts.yaml").read_text(encoding="utf-8")
)


def passage(id_: str, said) -> Passage:
    known = said if isinstance(said, dict) else {"text": said}
    return Passage(
        id_,
        known["text"],
        document_id=known.get("document", ""),
        source_name=known.get("name", ""),
        section_id=known.get("section", ""),
        heading_path=tuple(known.get("headings", ())),
        authority=Authority.HIGH,
        published=known.get("published", ""),
        effective_from=known.get("from", ""),
        effective_to=known.get("to", ""),
    )


def finding(case):
    ours, theirs = passage("ours", case["ours"]), passage("theirs", case["theirs"])
    cited = [ours, theirs] if case.get("cites_theirs") else [ours]
    statement = Statement(
        case.get("statement", ours.text), tuple(DraftCitation(p.id, p.text) for p in cited)
    )
    return verify(statement, sources_of([ours, theirs]), today=case.get("today", "2026-06-01"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_sources_conflict_where_the_case_says_so(case):
    found = finding(case)
    assert found.error is None
    codes = {reason.code for reason in found.reasons}
    assert codes == ({Code.CONFLICTING_SOURCES} if case["conflict"] else set())
    assert found.verdict is (Verdict.CONTRADICTED if case["conflict"] else Verdict.SUPPORTED)


def test_there_are_cases_enough_on_both_sides():
    conflicting = sum(case["conflict"] for case in CASES)
    assert (conflicting >= 20, len(CASES) - conflicting >= 20) == (True, True)


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["conflict"]], ids=lambda case: case["id"]
)
def test_a_conflict_shows_both_sentences_and_both_values(case):
    for reason in finding(case).reasons:
        ours, theirs = reason.citations
        assert (ours.passage.id, theirs.passage.id) == ("ours", "theirs")
        assert ours.quote in ours.passage.text
        text = theirs.passage.text
        assert text[reason.passage_span.start : reason.passage_span.end] in theirs.quote
        assert reason.statement_span is not None
