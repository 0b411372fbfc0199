"""A statement is supported when every citation stands and nothing it says disagrees."""

from pathlib import Path

import pytest
import yaml
from statements import verify

from services.verification import facts, grounding
from services.verification.citing import check_citation
from services.verification.evidence import (
    Box,
    Code,
    DraftCitation,
    Passage,
    Region,
    Span,
    Statement,
    Verdict,
)
from services.verification.verdict import conflicts_among, examine, sources_of

CASES = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "verdicts.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_statement_gets_the_verdict_the_case_says(case):
    texts = case["passages"]
    citations = tuple(
        DraftCitation(id_, texts[id_] if quote == "*" else quote) for id_, quote in case["cites"]
    )
    sources = sources_of([Passage(id_, text) for id_, text in texts.items()])
    finding = verify(Statement(case["statement"], citations), sources)
    assert finding.error is None
    assert finding.verdict == case["verdict"]
    assert [reason.code.value for reason in finding.reasons] == case.get("reasons", [])
    if "closest" in case:
        assert finding.reasons[0].closest_text == case["closest"]


def test_a_check_that_raises_makes_the_statement_unchecked(monkeypatch):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(facts, "disagreements", broken)
    sources = sources_of([Passage("p", "The fee is due on signing.")])
    finding = verify(
        Statement("On signing a fee is due.", (DraftCitation("p", "The fee is due on signing."),)),
        sources,
    )
    assert finding.verdict is Verdict.UNCHECKED
    assert [reason.code for reason in finding.reasons] == [Code.CHECK_FAILED]
    assert isinstance(finding.error, ZeroDivisionError)


def test_a_failed_citation_says_which_it_was():
    sources = sources_of([Passage("p", "The fee is due on signing.")])
    citations = (DraftCitation("p", "The fee is due"), DraftCitation("p", "The fee is never due"))
    finding = verify(Statement("The fee is due on signing.", citations), sources)
    assert [reason.citation_index for reason in finding.reasons] == [1]
    assert [citation.quote for citation in finding.citations] == ["The fee is due"]


def test_a_reason_points_into_statement_and_passage():
    text = "Clients sign. The fee is 25 euros for each client."
    sources = sources_of([Passage("p", text)])
    statement = "For each client the fee is 30 euros."
    finding = verify(
        Statement(statement, (DraftCitation("p", "The fee is 25 euros for each client."),)), sources
    )
    (reason,) = finding.reasons
    assert statement[reason.statement_span.start : reason.statement_span.end] == "30 euros"
    assert text[reason.passage_span.start : reason.passage_span.end] == "25 euros"


def test_a_citation_knows_its_page_its_lines_and_its_place_in_the_document():
    text = "First line of it.\nSecond line goes\non over the page."
    lines = [Span(0, 17), Span(18, 34), Span(35, 52)]
    pages = [4, 4, 5]
    regions = tuple(
        Region(line, page, Box(1, 2, 3, 4)) for line, page in zip(lines, pages, strict=True)
    )
    passage = Passage("p", text, page_number=4, document_offset=1000, regions=regions)
    sources = sources_of([passage])
    citation = check_citation(
        DraftCitation("p", "Second line goes on over"), sources["p"], sources.values()
    )
    assert citation.quote == "Second line goes\non over"
    assert citation.page_number == 4
    assert [region.span for region in citation.regions] == lines[1:]
    assert citation.document_span == Span(1018, 1042)
    late = check_citation(DraftCitation("p", "over the page"), sources["p"], sources.values())
    assert late.page_number == 5


def test_a_passage_without_lines_gives_its_own_page():
    sources = sources_of([Passage("p", "The fee is due.", page_number=7)])
    assert (
        check_citation(
            DraftCitation("p", "The fee is due"), sources["p"], sources.values()
        ).page_number
        == 7
    )


OUTSIDER = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "outsider.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("drafts", ["close", "free"])
@pytest.mark.parametrize("case", OUTSIDER["statements"], ids=lambda case: case["id"])
def test_what_an_outsider_wrote_gets_its_verdict(case, drafts):
    texts = case["passages"]
    citations = tuple(
        DraftCitation(id_, texts[id_] if quote == "*" else quote) for id_, quote in case["cites"]
    )
    sources = sources_of([Passage(id_, text) for id_, text in texts.items()])
    statement, conflicts = Statement(case["statement"], citations), conflicts_among(sources, "")
    finding = examine(statement, sources, conflicts, is_draft=drafts == "close").finding
    codes = sorted({reason.code.value for reason in finding.reasons})
    assert [finding.verdict.value, *codes] == case[drafts]


@pytest.mark.parametrize("case", OUTSIDER["texts"], ids=lambda case: case["id"])
def test_a_text_that_an_outsider_wrote_gets_its_verdicts(case):
    facts_ = [Passage(str(number), text) for number, text in enumerate(case["facts"])]
    claims = grounding.check(case["answer"], facts_, lambda: None)
    found = [claim.finding.verdict.value if claim.needs_check else "-" for claim in claims]
    assert found == case["verdicts"]
