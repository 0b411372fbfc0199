"""Any text is checked against any facts, sentence by sentence."""

from pathlib import Path

import pytest
import yaml

from services.chassis.errors import DeadlineExceeded
from services.verification import grounding
from services.verification.evidence import Passage, Verdict
from services.verification.markers import Naming, without_markers

CASES = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "grounding.yaml").read_text(encoding="utf-8")
)


def go_on() -> None:
    """Nobody has given up."""


def check(answer: str, *facts: str) -> list[grounding.Claim]:
    passages = [Passage(str(number), text) for number, text in enumerate(facts)]
    return grounding.check(answer, passages, go_on)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_text_is_checked_as_the_case_says(case):
    claims = check(case["answer"], *case["facts"])
    found = [
        [
            claim.finding.text,
            claim.finding.verdict.value if claim.needs_check else "-",
            [reason.code.value for reason in claim.finding.reasons],
        ]
        for claim in claims
    ]
    assert found == case["claims"]
    assert all(claim.finding.error is None for claim in claims)


def test_every_sentence_is_cut_from_the_answer_at_its_span():
    answer = "  Hello!  The fee is 25 euros [1].\n\n- One item. [2]\n"
    for claim in check(answer, "The fee is 25 euros.", "One item."):
        assert answer[claim.span.start : claim.span.end] == claim.finding.text


def test_support_is_the_share_of_supported_among_checked_sentences():
    claims = check("Hello! The fee is due. Bananas are yellow.", "The fee is due.")
    assert grounding.support(claims) == 0.5
    assert [claim.support for claim in claims] == [0.0, 1.0, 0.0]


def test_support_is_whole_when_nothing_needs_a_check():
    assert grounding.support(check("Hello!", "The fee is due.")) == 1.0


def test_the_citation_is_the_sentence_that_carries_the_claim():
    fact = "Clients sign. The fee is 25 euros for each client. Banks wait."
    (claim,) = check("Each client pays a fee of 25 euros.", "Bananas are yellow.", fact)
    (citation,) = claim.finding.citations
    assert (citation.passage.id, citation.quote) == ("1", "The fee is 25 euros for each client.")


def test_an_abandoned_check_stops_between_sentences():
    asked = []

    def give_up_after_three() -> None:
        asked.append(None)
        if len(asked) > 3:
            raise DeadlineExceeded("too late")

    with pytest.raises(DeadlineExceeded):
        grounding.check(
            "One fact. Two facts. Three facts.", [Passage("0", "One fact.")], give_up_after_three
        )
    assert len(asked) == 4


def test_a_check_that_raises_makes_its_sentence_unchecked(monkeypatch):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(grounding, "compare", broken)
    (claim,) = check("The fee is due.", "The fee is due.")
    assert claim.finding.verdict is Verdict.UNCHECKED


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Paid [1].", [0]),
        ("Paid [1, 2].", [0, 1]),
        ("Paid [1]-[2].", [0, 1]),
        ("Paid [1-3].", [0, 1, 2]),
        ("Paid [src_0].", [0]),
        ("Paid [source 2].", [2]),
        ("Paid [9].", [None]),
        ("Paid (p. 42) and [see below] in [2024].", []),
        ("Paid [b].", []),
    ],
)
def test_markers_name_facts_by_number(text, found):
    assert list(Naming(text, ["a", "b", "c"]).cited(text)) == found


def test_a_marker_names_a_fact_by_its_id_before_its_number():
    assert list(Naming("", ["2", "1"]).cited("Paid [2].")) == [0]


def test_bare_numbers_count_from_nought_in_an_answer_that_does():
    answer = "Paid [0]. Signed [1]."
    assert list(Naming(answer, ["0", "1"]).cited(answer)) == [0, 1]


def test_blanking_markers_keeps_every_offset():
    text = "Paid [1] on time (p. 42)."
    assert without_markers(text) == "Paid     on time        ."
