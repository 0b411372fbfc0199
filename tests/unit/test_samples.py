"""The sample corpus says what the demonstration needs, where it needs it, and adds up."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pypdfium2 as pdfium
import pytest
import yaml

from samples.build import MovedError, build, check

SAMPLES = Path(__file__).parents[2] / "samples"
SOURCES = sorted((SAMPLES / "source").glob("*.md"))
STEMS = [source.stem for source in SOURCES]

POLICY = "Global_AML_Policy_2026"
PACKET = "KYC_Packet_Halcyon_Trading"
REPORT = "TechCorp_Q3_2024_Report"
TRANSCRIPT = "TechCorp_Q3_2024_Call_Transcript"
NOTE = "Northgate_Analyst_Note_TechCorp"
BLOG = "StreetWire_Blog_TechCorp"

SENTENCES = {
    42: "Section 4.2: Any corporate entity with a UBO holding more than 25% equity must submit a "
    "notarized proof of funds.",
    55: "Section 5.1: If proof of funds is not notarized, the onboarding must be escalated to the "
    "Senior Compliance Officer.",
}


def extracted(path: Path) -> list[str]:
    with pdfium.PdfDocument(path) as pdf:
        return [page.get_textpage().get_text_range() for page in pdf]


@cache
def pages(stem: str) -> list[str]:
    return extracted(SAMPLES / f"{stem}.pdf")


def prose(stem: str) -> str:
    return " ".join(" ".join(pages(stem)).split())


def amounts(stem: str, page: int, *labels: str) -> list[list[int]]:
    """The whole amounts in the first line with each label; parentheses mean a negative."""
    text = pages(stem)[page - 1].replace("$", "")
    lines = [re.search(rf"^{re.escape(label)} ([(\d].*)", text, re.MULTILINE) for label in labels]
    found = [re.findall(r"\(?\d[\d,]*\)?(?=\s|$)", line[1]) for line in lines if line]
    assert len(found) == len(labels)
    return [[int(re.sub(r"[,)]", "", cell).replace("(", "-")) for cell in row] for row in found]


@pytest.mark.parametrize("page", SENTENCES)
def test_the_policy_has_each_rule_on_its_physical_page_and_nowhere_else(page):
    found = [
        number
        for number, text in enumerate(pages(POLICY), start=1)
        if SENTENCES[page] in " ".join(text.split())
    ]
    assert found == [page]


@pytest.mark.parametrize(
    ("stem", "least", "most"), [(POLICY, 56, 62), (PACKET, 12, 20), (REPORT, 6, 9)]
)
def test_the_documents_are_as_long_as_promised(stem, least, most):
    assert least <= len(pages(stem)) <= most


def test_the_transcript_has_at_least_six_pages():
    assert len(pages(TRANSCRIPT)) >= 6


@pytest.mark.parametrize("stem", STEMS)
def test_every_page_carries_its_number(stem):
    total = len(pages(stem))
    for number, text in enumerate(pages(stem), start=1):
        assert f"Page {number} of {total}" in text


def test_section_numbers_ascend_and_each_section_opens_with_its_own_rule():
    with pdfium.PdfDocument(SAMPLES / f"{POLICY}.pdf") as pdf:
        titles = [bookmark.get_title() for bookmark in pdf.get_toc()]
    sections = [match[0] for title in titles if (match := re.match(r"\d+\.\d+", title))]
    order = [tuple(map(int, section.split("."))) for section in sections]
    assert order == sorted(set(order))
    assert re.findall(r"Section (\d+\.\d+):", prose(POLICY)) == sections


def test_the_packet_says_that_the_proof_of_the_30_percent_owner_is_not_notarized():
    text = prose(PACKET)
    assert (
        "Ms Elena Marchetti is the UBO of Halcyon Trading B.V. with a direct holding of 30%" in text
    )
    assert "The proof of funds submitted by Ms Elena Marchetti is not notarized." in text
    assert (
        "Proof of funds, Ms Marchetti (30%) 16 February 2026 Bank letter, not notarized Open"
        in text
    )


def test_the_owners_hold_one_hundred_percent():
    table = re.findall(r" ([\d,]+) (\d+)%\r?\n", pages(PACKET)[4])
    *owners, total = [(int(shares.replace(",", "")), int(percent)) for shares, percent in table]
    assert [percent for _, percent in owners] == [30, 22, 18, 16, 14]
    assert total == tuple(map(sum, zip(*owners, strict=True))) == (500_000, 100)
    assert all(shares * 100 == percent * total[0] for shares, percent in owners)


def test_the_report_states_revenue_and_growth_in_one_sentence():
    assert (
        "Revenue for the third quarter of 2024 was $2.45 billion, "
        "an increase of 18% year over year."
    ) in prose(REPORT)


def test_the_segments_add_up_and_grow_as_stated():
    labels = ("Cloud Platform", "Devices", "Services", "Total revenue")
    *segments, total = amounts(REPORT, 2, *labels)
    assert total == [2450, 2312, 2076] == [sum(column) for column in zip(*segments, strict=True)]
    growth = [round(100 * (row[0] / row[2] - 1)) for row in (*segments, total)]
    assert growth == [25, 8, 21, 18]
    for label, percent in zip(labels, growth, strict=True):
        assert re.search(rf"^{label} .* {percent}%\r?$", pages(REPORT)[1], re.MULTILINE)


def test_the_quarters_add_up_to_the_nine_months():
    quarters = amounts(REPORT, 7, "Q1 2024", "Q2 2024", "Q3 2024", "Q1 2023", "Q2 2023", "Q3 2023")
    assert all(sum(row[:3]) == row[3] for row in quarters)
    nine_months = [sum(row[3] for row in year) for year in (quarters[:3], quarters[3:])]
    assert nine_months == amounts(REPORT, 3, "Revenue")[0][3:] == [6960, 5954]


def test_the_income_statement_adds_up_in_every_period():
    statement = amounts(
        REPORT,
        3,
        "Revenue",
        "Cost of revenue",
        "Gross profit",
        "Research and development",
        "Sales and marketing",
        "General and administrative",
        "Total operating expenses",
        "Operating income",
        "Interest and other income, net",
        "Provision for income taxes",
        "Net income",
    )
    assert statement[0] == [2450, 2076, 2312, 6960, 5954]
    for period in zip(*statement, strict=True):
        revenue, cost, gross, research, sales, general, expenses, operating, other, tax, net = (
            period
        )
        assert revenue - cost == gross
        assert research + sales + general == expenses
        assert gross - expenses == operating
        assert operating + other - tax == net


def test_the_balance_sheet_balances():
    assets, liabilities, equity, both = amounts(
        REPORT,
        4,
        "Total assets",
        "Total liabilities",
        "Stockholders\N{RIGHT SINGLE QUOTATION MARK} equity",
        "Total liabilities and stockholders\N{RIGHT SINGLE QUOTATION MARK} equity",
    )
    assert assets == both == [sum(sides) for sides in zip(liabilities, equity, strict=True)]


def test_the_cash_flows_explain_the_change_in_cash():
    *flows, increase, beginning, end = amounts(
        REPORT,
        5,
        "Net cash provided by operating activities",
        "Net cash used in investing activities",
        "Net cash used in financing activities",
        "Effect of exchange rates on cash",
        "Increase in cash and cash equivalents",
        "Cash and cash equivalents, beginning of period",
        "Cash and cash equivalents, end of period",
    )
    assert sum(flow[0] for flow in flows) == increase[0] == end[0] - beginning[0]


def test_the_analyst_gives_the_consensus_and_the_blog_only_rounds():
    assert "Consensus revenue was $2.38 billion" in prose(NOTE)
    assert "nearly $2.5 billion in the quarter" in prose(BLOG)


@pytest.mark.parametrize("stem", STEMS)
def test_nothing_speaks_of_form_8832_or_of_filing_a_tax_form_late(stem):
    text = prose(stem).lower()
    assert "8832" not in text
    assert "late filing" not in text


@pytest.mark.parametrize("stem", STEMS)
def test_the_text_has_neither_broken_characters_nor_repeated_sentences(stem):
    assert not re.search(r"[\x00-\x08\xad\ufffd-\uffff]", prose(stem))
    sentences = re.findall(r"[A-Z][^.!?]{50,}[.!?]", prose(stem))
    assert [sentence for sentence, times in Counter(sentences).items() if times > 1] == []


def test_the_corpus_lists_every_file_once():
    documents = yaml.safe_load((SAMPLES / "corpus.yaml").read_text(encoding="utf-8"))["documents"]
    assert sorted(document["file"] for document in documents) == [f"{stem}.pdf" for stem in STEMS]
    assert {document["authority"] for document in documents} == {"HIGH", "MEDIUM", "STANDARD"}


@pytest.mark.parametrize("source", SOURCES, ids=STEMS)
def test_the_committed_file_carries_the_text_that_its_source_builds_to(source, tmp_path):
    assert extracted(build(source, tmp_path)) == pages(source.stem)


def test_the_build_fails_when_a_pinned_sentence_moves():
    with pytest.raises(MovedError, match="must be on page 41, is on \\[42\\]"):
        check(SAMPLES / f"{POLICY}.pdf", {41: SENTENCES[42]})
