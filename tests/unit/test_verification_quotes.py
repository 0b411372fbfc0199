"""A quote is found where it stands, cut from the source, and nowhere else."""

from pathlib import Path

import pytest
import yaml

from services.verification.evidence import Match, Passage
from services.verification.quotes import closest, is_too_short, locate
from services.verification.source import Source

CASES = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "quotes.yaml").read_text(encoding="utf-8")
)


def source(text: str) -> Source:
    return Source(Passage("p", text))


def outcome(text: str, quote: str) -> str:
    there = source(text)
    if is_too_short(quote, there):
        return "short"
    found = locate(there, quote)
    if found is None:
        return "missing"
    return "governed" if found.is_cut else "found"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_quote_comes_out_as_the_case_says(case):
    assert outcome(case["source"], case["quote"]) == case["expect"]


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["expect"] == "found"], ids=lambda case: case["id"]
)
def test_a_found_quote_is_cut_from_the_source(case):
    found = locate(source(case["source"]), case["quote"])
    cut = case["source"][found.span.start : found.span.end]
    assert cut == case.get("cut", case["quote"])
    assert found.match is (Match.EXACT if cut == case["quote"].strip() else Match.FOLDED)


def test_the_cases_have_each_their_own_name():
    assert len({case["id"] for case in CASES}) == len(CASES)


def test_an_exact_place_wins_over_an_earlier_folded_one():
    text = "The  fee is due now. The fee is due later."
    assert locate(source(text), "The fee is due").span.start == 21


def test_the_closest_text_is_the_sentence_with_the_changed_digit():
    there = source("Clients sign. The fee is 25 euros for each client. Banks wait.")
    assert closest("The fee is 26 euros for each client", [there]) == (
        "The fee is 25 euros for each client."
    )


def test_nothing_is_close_to_words_of_another_kind():
    assert closest("zyzzyva qwerty", [source("The fee is 25 euros.")]) == ""
