"""What a statement says must agree with the words it cites."""

import pytest
from effort import ends_in_time

from services.verification.entailment import MIN_COVERAGE
from services.verification.facts import derivations
from tests.statements import AGREE, cases, cited, codes, reasons

CASES = cases("facts")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_statement_is_judged_as_the_case_says(case):
    evidence = cited(case["source"], case.get("quote"))
    wrong = reasons(case["statement"], evidence)
    found = {reason.code.value for reason in wrong}
    assert case["expect"] in found if case["expect"] != AGREE else not found
    if "contradicts" in case:
        assert any(reason.contradicts for reason in wrong) == case["contradicts"]
    derived = derivations(case["statement"], [evidence])
    assert bool(derived) or not case.get("derived")


def test_the_cases_have_each_their_own_name():
    assert len({case["id"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_reason_and_a_derivation_name_places_that_are_there(case):
    evidence = cited(case["source"])
    statement, source = case["statement"], case["source"]
    for reason in reasons(statement, evidence):
        for span, text in ((reason.statement_span, statement), (reason.passage_span, source)):
            assert span is None or text[span.start : span.end].strip()
        assert reason.statement_span or reason.passage_span or reason.passage_id
    for figure in derivations(statement, [evidence]):
        assert any(char.isalnum() for char in statement[figure.span.start : figure.span.end])
        assert len(figure.operands) > 1
        for passage_id, span in figure.operands:
            assert passage_id == "p"
            assert source[span.start : span.end] in figure.formula


def test_words_that_the_source_does_not_have_are_not_carried():
    source = cited("Clients pay the fee.")
    other = "Bananas are a yellow tropical fruit."
    assert "NO_ENTAILMENT" in codes(other, source, min_coverage=MIN_COVERAGE)
    invented = "Clients pay the fee by wire through a Nordic clearing house."
    assert {"NO_ENTAILMENT", "ENTITY_MISMATCH"} & codes(invented, source, min_coverage=MIN_COVERAGE)


@pytest.mark.parametrize(
    "hostile",
    [
        *("a", "1 ", "1,", "(1) ", "not ", "if ", "unless ", "no one may ", "5 to 6 ", "half of "),
        *("$1 and ", "Articles 1, 2, ", "14 March 2024 ", "is by ", "one hundred and ", "; ", "¬"),
    ],
    ids=ascii,
)
def test_no_text_takes_more_than_linear_time(hostile):
    text = hostile * (10_000 // len(hostile))
    with ends_in_time():
        reasons(text, cited("The fee is 5 dollars for each client."))
        reasons("The fee is 5 dollars for each client if so.", cited(text))
