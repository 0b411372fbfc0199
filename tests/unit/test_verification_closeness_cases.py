"""What a draft may leave out or put before, row by row, through the whole verdict."""

from pathlib import Path

import pytest
import yaml

from services.verification.conflict import Conflicts
from services.verification.evidence import DraftCitation, Passage, Statement, Verdict
from services.verification.source import Source
from services.verification.verdict import examine

CASES = yaml.safe_load((Path(__file__).parents[1] / "cases" / "closeness.yaml").read_text("utf-8"))
RULE = "Section 4.2: Any corporate entity must submit a proof of funds."
ROWS = [(group, row) for group, rows in CASES.items() for row in rows]


def stands(row):
    text = row.get("source", RULE)
    name = row.get("name", "Global_AML_Policy_2026.pdf")
    passage = Passage("p", text, source_name=name, section_id="4.2" if text == RULE else "")
    citations = tuple(DraftCitation("p", quote) for quote in row.get("quotes", [text]))
    said = Statement(row["says"], citations)
    found = examine(said, {"p": Source(passage)}, Conflicts(lambda *_: (), ""), is_draft=True)
    return found.finding.verdict is Verdict.SUPPORTED


@pytest.mark.parametrize(("group", "row"), ROWS, ids=[f"{g}-{r['says']}" for g, r in ROWS])
def test_a_draft_stands_or_falls_as_its_row_says(group, row):
    assert stands(row) is row.get("stands", False)


def test_each_allowance_has_fifteen_rows_of_its_abuse():
    abuses = {
        group: sum(not row.get("stands") for row in CASES[group])
        for group in ("told", "named", "connected", "listed")
    }
    assert min(abuses.values()) >= 15, abuses
