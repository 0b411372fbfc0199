"""A statement must keep the conditions and exceptions of the sentence it cites."""

import pytest

from tests.statements import AGREE, cases, cited, codes

CASES = cases("conditions")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_statement_is_judged_as_the_case_says(case):
    evidence = cited(case["source"], case["quote"])
    found = codes(case["statement"], evidence)
    assert case["expect"] in found if case["expect"] != AGREE else not found


def test_the_cases_have_each_their_own_name():
    assert len({case["id"] for case in CASES}) == len(CASES)
