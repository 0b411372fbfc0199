"""Every example in docs/verification.md is what the verifier really says."""

import re
from pathlib import Path

import pytest
from statements import verify

from services.verification import grounding
from services.verification.evidence import Code, DraftCitation, Passage, Statement, Verdict
from services.verification.verdict import sources_of

DOCUMENT = Path(__file__).parents[2] / "docs" / "verification.md"
TABLES = {
    "examples": ["source", "quote", "statement", "result"],
    "conflicts": ["cited", "other source", "result"],
    "claims": ["facts", "sentence", "result"],
}


def rows(kind):
    """The rows of all tables with these columns."""
    found, inside = [], False
    for line in DOCUMENT.read_text("utf-8").splitlines():
        row = [cell.strip() for cell in line.strip("| ").split(" | ")]
        if not line.startswith("|"):
            inside = False
        elif row == TABLES[kind]:
            inside = True
        elif inside and set(line) != set("|-"):
            found.append([_text(cell) for cell in row])
    return found


def _text(cell):
    """What a cell stands for: ⏎ is a line break, and a cell in code is as it is."""
    return cell.removeprefix("`").removesuffix("`").replace("⏎", "\n")


def said(finding):
    return " ".join([finding.verdict.value, *(reason.code.value for reason in finding.reasons)])


@pytest.mark.parametrize("row", rows("examples"), ids=lambda row: row[1][:40])
def test_a_statement_gets_the_verdict_that_the_document_says(row):
    source, quote, statement, result = row
    quote = source if quote == "*" else quote
    statement = quote if statement == "*" else statement
    citations = () if quote == "–" else (DraftCitation("p", quote),)  # noqa: RUF001
    finding = verify(Statement(statement, citations), sources_of([Passage("p", source)]))
    assert said(finding) == result


@pytest.mark.parametrize("row", rows("conflicts"), ids=lambda row: row[1][:40])
def test_sources_conflict_where_the_document_says_so(row):
    ours, theirs, result = row
    sources = sources_of([Passage("ours", ours), Passage("theirs", theirs)])
    finding = verify(Statement(ours, (DraftCitation("ours", ours),)), sources)
    assert said(finding) == result


@pytest.mark.parametrize("row", rows("claims"), ids=lambda row: row[1][:40])
def test_a_sentence_of_any_text_is_judged_as_the_document_says(row):
    facts, sentence, result = row
    passages = [Passage(str(n), fact) for n, fact in enumerate(facts.split(" / "))]
    (claim,) = grounding.check(sentence, passages, lambda: None)
    assert (said(claim.finding) if claim.needs_check else "–") == result  # noqa: RUF001


def test_every_verdict_and_every_reason_is_explained():
    text = DOCUMENT.read_text("utf-8")
    explained = set(re.findall(r"`([A-Z_]+)`", text))
    names = {verdict.value for verdict in Verdict} - {"UNSPECIFIED"} | {code.value for code in Code}
    assert names - explained == set()


def test_there_are_examples_of_each_kind():
    assert all(len(rows(kind)) >= 5 for kind in TABLES)
