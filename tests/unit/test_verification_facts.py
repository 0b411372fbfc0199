"""What a statement says must agree with the words it cites."""

from pathlib import Path

import pytest
import yaml

from services.verification.evidence import Passage, Span
from services.verification.source import Cited, Source
from services.verification.verdict import judge

CASES = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "facts.yaml").read_text(encoding="utf-8")
)


def cited(text: str, part: str | None = None, **passage) -> Cited:
    part = part or text
    start = text.index(part)
    return Cited(Source(Passage("p", text, **passage)), Span(start, start + len(part)))


def codes(statement: str, *evidence: Cited, **settings) -> set[str]:
    reasons = judge(statement, evidence, **settings)
    return {reason.code + "!" * reason.contradicts for reason in reasons}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_statement_is_judged_as_the_case_says(case):
    settings = {"min_coverage": case["coverage"]} if "coverage" in case else {}
    found = codes(case["statement"], cited(case["source"], case.get("cite")), **settings)
    wanted = set(case["reasons"])
    if case.get("at_least"):
        assert found & wanted
    else:
        assert found == wanted


def test_the_cases_have_each_their_own_name():
    assert len({case["id"] for case in CASES}) == len(CASES)
