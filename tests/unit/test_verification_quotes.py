"""A quote is found where it stands, cut from the source, and nowhere else."""

from pathlib import Path

import pytest
import yaml

from services.verification.citing import check_citation
from services.verification.evidence import (
    Citation,
    Code,
    DraftCitation,
    Match,
    Passage,
    Span,
)
from services.verification.hints import closest, differences
from services.verification.quotes import locate
from services.verification.source import Source

CASES = [
    case
    for path in sorted((Path(__file__).parents[1] / "cases" / "quotes").glob("*.yaml"))
    for case in yaml.safe_load(path.read_text(encoding="utf-8"))
]
OUTCOMES = {
    Code.QUOTE_TOO_SHORT: "TOO_SHORT",
    Code.QUOTE_NOT_FOUND: "NOT_FOUND",
    Code.MISATTRIBUTED: "FOUND_ELSEWHERE",
    Code.MISATTRIBUTED_BY_ELISION: "ELISION",
    Code.SCOPE_CUT: "SCOPE_CUT",
}


def source(text: str, id_: str = "p") -> Source:
    return Source(Passage(id_, text))


def checked(quote: str, *given: Source):
    """What comes of a quote that cites the first of some sources."""
    return check_citation(DraftCitation(given[0].passage.id, quote), given[0], given)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_quote_comes_out_as_the_case_says(case):
    given = [source(case["source"])]
    if "elsewhere" in case:
        given.append(source(case["elsewhere"], "elsewhere"))
    result = checked(case["quote"], *given)
    if isinstance(result, Citation):
        assert case["expect"] == "FOUND"
        assert result.quote == case["span_text"]
        assert result.match is (
            Match.EXACT if result.quote == case["quote"].strip() else Match.FOLDED
        )
    else:
        assert OUTCOMES[result.code] == case["expect"]


def test_the_cases_have_each_their_own_name():
    assert len({case["id"] for case in CASES}) == len(CASES)


def test_there_are_cases_in_seven_scripts_and_in_both_directions():
    assert len(CASES) >= 300
    scripts = {"latin", "cyrillic", "greek", "arabic", "hebrew", "cjk", "devanagari"}
    for script in scripts:
        expected = [case["expect"] for case in CASES if case["id"].startswith(script)]
        assert expected.count("FOUND") >= 20
        assert expected.count("NOT_FOUND") >= 19


def test_the_first_place_is_cited():
    text = "The  fee is due now. The fee is due later."
    assert locate(source(text), "The fee is due").span.start == 0


def neighbours(*texts: str, document: str = "d", **fields) -> list[Source]:
    """Passages that follow each other in one document."""
    starts = [sum(map(len, texts[:number])) for number in range(len(texts))]
    return [
        Source(Passage(f"p{n}", text, document_id=document, document_offset=start, **fields))
        for n, (text, start) in enumerate(zip(texts, starts, strict=True))
    ]


def test_a_quote_that_runs_on_into_the_next_passage_is_cited_in_its_parts():
    first, second = neighbours("The client signs. The bank\n", "pays the full fee. It waits.")
    reason = checked("The bank pays the full fee.", first, second)
    assert reason.code is Code.MISATTRIBUTED
    assert reason.passage_id == "p0"
    assert reason.passage_span == Span(18, 27)
    assert reason.closest_text == "The bank\npays the full fee."
    assert "p1" in reason.message


def test_a_quote_that_began_in_the_passage_before_is_found_there():
    first, second = neighbours("The client signs. The bank\n", "pays the full fee. It waits.")
    assert checked("The bank pays the full fee.", second, first).passage_id == "p0"


@pytest.mark.parametrize(
    "fields", [{"document": ""}, {"document_sha256": "one"}, {"document": "other"}]
)
def test_passages_that_do_not_follow_each_other_are_not_read_as_one(fields):
    first, _ = neighbours("The client signs. The bank\n", "pays the full fee.", **fields)
    _, second = neighbours("The client signs. The bank\n", "pays the full fee.")
    assert checked("The bank pays the full fee.", first, second).code is Code.QUOTE_NOT_FOUND


def test_a_quote_of_other_words_is_told_the_nearest_and_in_what_they_differ():
    there = source("Clients sign. The fee is 25 euros for each client. Banks wait.")
    reason = checked("The fee is 26 euros for every client.", there)
    assert reason.code is Code.QUOTE_NOT_FOUND
    assert reason.closest_text == "The fee is 25 euros for each client."
    assert '"26" for "25"' in reason.message
    assert '"every" for "each"' in reason.message


def test_words_that_were_added_and_left_out_are_named():
    assert differences("the fee is due", "the fee is not due") == '"not" left out'
    assert differences("the fee is not due", "the fee is due") == '"not" added'
    assert differences("fee is due", "the fee is due today") == ""


def test_a_cut_quote_is_offered_the_whole_sentence():
    text = "Clients sign. The client is not required to pay the fee. Banks wait."
    reason = checked("required to pay the fee", source(text))
    assert reason.closest_text == "The client is not required to pay the fee."


def test_nothing_is_close_to_words_of_another_kind():
    assert closest("zyzzyva qwerty", [source("The fee is 25 euros.")]) == ""


FURNITURE = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "furniture.yaml").read_text(encoding="utf-8")
)


def named(text: str, furniture) -> tuple[Span, ...]:
    """The lines of a text, or the spans, that a passage names as furniture."""
    starts = [text.index(f) if isinstance(f, str) else f[0] for f in furniture]
    ends = [
        start + len(f) if isinstance(f, str) else f[1]
        for start, f in zip(starts, furniture, strict=True)
    ]
    return tuple(map(Span, starts, ends))


@pytest.mark.parametrize("case", FURNITURE, ids=lambda case: case["id"])
def test_a_quote_over_furniture_comes_out_as_the_case_says(case):
    text = case["source"]
    passage = Passage("p", text, furniture=named(text, case["furniture"]))
    result = checked(case["quote"], Source(passage))
    if isinstance(result, Citation):
        assert case["expect"] == "FOUND"
        assert result.quote == case.get("span_text", text)
    else:
        assert OUTCOMES[result.code] == case["expect"]
