"""What is cited is on the page it says, and the page says which number is printed on it."""

import io
from datetime import UTC, datetime
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from services.retrieval import messages as retrieval_messages
from services.retrieval import passage, payload
from services.retrieval.chunking import chunk
from services.retrieval.parsers import page_labels, parse
from services.verification import evidence
from services.verification import messages as verification_messages
from services.verification.quotes import locate
from services.verification.source import Source

WIDTH, HEIGHT = A4
ROMAN = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"]
NOUNS = ["account", "owner", "payment", "ledger", "branch", "office", "report", "review"]
VERBS = ["keeps", "opens", "closes", "reads", "files"]


@cache
def book(sentences, labels, footer="{}", *, bottom=30, header="", rotation=0):
    """A PDF with these sentences on its pages, and a label at the foot of each."""
    out = io.BytesIO()
    # reportlab turns the sheet, too, when a page is set to be displayed turned.
    canvas = Canvas(out, pagesize=A4 if rotation in {0, 180} else A4[::-1])
    for words, label in zip(sentences, labels, strict=True):
        canvas.setPageRotation(rotation)
        canvas.setFont("Helvetica", 10)
        canvas.drawString(72, HEIGHT - 40, header)
        for number, sentence in enumerate(words):
            canvas.drawString(72, HEIGHT - 100 - 14 * number, sentence)
        canvas.drawString(290, bottom, footer.format(label) if label else "")
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def passages(data, max_tokens=60):
    """As they are sent: cut, stored, read back."""
    parsed = parse(data, "book.pdf")
    chunks = chunk(parsed, count_tokens=lambda text: len(text.split()), max_tokens=max_tokens)
    stored = passage.StoredDocument(
        id=passage.document_id("tenant", "book.pdf"),
        metadata=passage.Metadata("book.pdf", "book", 1),
        version=1,
        sha256="ab" * 32,
        content_type=parsed.content_type,
        size_bytes=len(data),
        page_count=len(parsed.pages),
        passage_count=len(chunks),
        ingest_time=datetime(2026, 1, 1, tzinfo=UTC),
        pages_without_text=(),
    )
    for number in range(len(chunks)):
        cut = passage.cut("tenant", stored, parsed, chunks, number)
        kept = payload.to_passage(cut.id, payload.from_passage("tenant", cut))
        assert kept == cut
        yield retrieval_messages.from_passage(kept)


def cited(sources, quote):
    """Page and label of every citation of a quote."""
    known = map(verification_messages.to_passage, sources)
    found = [(source, locate(Source(source), quote)) for source in known]
    citations = [evidence.Citation(s, f.span, f.match) for s, f in found if f]
    return {(citation.page_number, citation.page_label) for citation in citations}


def sentence(page, number, spread):
    """Words that stand on one page only."""
    noun, verb = NOUNS[(page + number) % len(NOUNS)], VERBS[(page * 7 + number) % len(VERBS)]
    return f"Clerk{page}x{number} {verb} the {noun} of Mister{page}y{number * spread}."


@given(
    pages=st.integers(3, 9),
    lines=st.integers(1, 12),
    front=st.integers(0, 4),
    max_tokens=st.integers(8, 120),
    rotation=st.sampled_from([0, 90, 180, 270]),
)
@settings(max_examples=25, deadline=None)
def test_what_is_cited_is_on_the_page_it_says(pages, lines, front, max_tokens, rotation):
    sentences = tuple(tuple(sentence(p, n, 3) for n in range(lines)) for p in range(pages))
    labels = tuple(ROMAN[p] if p < front else str(p - front + 1) for p in range(pages))
    sources = list(passages(book(sentences, labels, rotation=rotation), max_tokens))
    for number, words in enumerate(sentences, start=1):
        for quote in words:
            assert {page for page, _ in cited(sources, quote)} == {number}


def test_a_page_keeps_the_number_that_is_printed_on_it_beside_its_own():
    sentences = tuple((sentence(p, 0, 1),) for p in range(10))
    labels = ("i", "ii", "iii", "", "1", "2", "3", "F-1", "F-2", "F-3")
    sources = list(passages(book(sentences, labels, header="Annual report 2022")))
    for number, (words, label) in enumerate(zip(sentences, labels, strict=True), start=1):
        assert cited(sources, words[0]) == {(number, label)}


@pytest.mark.parametrize("footer", ["Page {}", "- {} -", "Annual report 2022 | {}", "{} of 90"])
def test_the_number_is_found_in_its_line(footer):
    sentences = tuple((sentence(p, 0, 1),) for p in range(5))
    parsed = parse(book(sentences, ("86", "87", "88", "89", "90"), footer), "a.pdf")
    assert [page.label for page in parsed.pages] == ["86", "87", "88", "89", "90"]


@pytest.mark.parametrize("footer", ["Draft. Page {} of 2", "Seite {}/2", "{}", "- {} -"])
def test_of_two_pages_both_must_carry_a_running_head_and_their_numbers(footer):
    sentences = tuple((sentence(p, 0, 1),) for p in range(2))
    parsed = parse(book(sentences, ("1", "2"), footer, header="Hot tickers"), "a.pdf")
    assert [page.label for page in parsed.pages] == ["1", "2"]
    assert [parsed.text[start:end] for start, end in parsed.furniture] == [
        words for n in "12" for words in ("Hot tickers", footer.format(n))
    ]


def test_on_two_pages_a_number_that_is_not_said_to_be_a_pages_is_none():
    sentences = tuple((sentence(p, 0, 1),) for p in range(2))
    parsed = parse(book(sentences, ("1", "2"), "Exhibit {}"), "a.pdf")
    assert parsed.furniture == ()


def chapters(heads):
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    for page, head in enumerate(heads):
        canvas.drawString(72, HEIGHT - 40, head)
        canvas.drawString(72, HEIGHT - 100, sentence(page, 0, 1))
        canvas.showPage()
    canvas.save()
    return parse(out.getvalue(), "a.pdf")


def test_a_running_head_may_change_with_the_chapter():
    heads = [f"Chapter {number}: {NOUNS[number]}s" for number in (1, 1, 2, 2, 3, 4, 4, 5, 5)]
    parsed = chapters(heads)
    assert [parsed.text[start:end] for start, end in parsed.furniture] == heads
    assert parsed.headings == ()


def test_titles_at_the_top_of_each_page_are_no_running_heads():
    assert chapters([f"The {NOUNS[n]}" for n in (1, 2, 3, 4, 4, 5, 6, 7)]).furniture == ()


def test_a_number_below_the_text_of_a_page_that_ends_with_it_is_furniture_too():
    sentences = tuple((sentence(p, 0, 1), "Same words on every page.") for p in range(6))
    data = book(sentences, tuple(map(str, range(3, 9))), bottom=HEIGHT - 180)
    parsed = parse(data, "a.pdf")
    assert [page.label for page in parsed.pages] == ["3", "4", "5", "6", "7", "8"]
    assert [parsed.text[start:end] for start, end in parsed.furniture] == list("345678")


def test_a_passage_says_which_of_its_words_are_furniture():
    sentences = tuple((f"Part {p} of a sentence that goes on and",) for p in range(4))
    data = book(sentences, ("1", "2", "3", "4"), header="Running head")
    seen = [
        source.text[span.start : span.end] for source in passages(data) for span in source.furniture
    ]
    assert seen == [words for n in "1234" for words in ("Running head", n)]


def test_a_sentence_over_a_page_is_found_without_the_running_head_it_stands_around():
    pages = (("Clerks file the",), ("papers that each bank",), ("sends them every month.",))
    data = book(pages, ("1", "2", "3"), header="Running head")
    quote = "Clerks file the papers that each bank sends them every month."
    assert cited(list(passages(data)), quote) == {(1, "1")}


def test_a_row_of_figures_is_no_page_number():
    lines = [(page, f"Total {100 * page}") for page in range(1, 9)]
    assert page_labels.printed(lines, page_count=8) == {}


@pytest.mark.parametrize(
    ("line", "value"),
    [("iv", 4), ("- xii -", 12), ("XC", 90), ("i", 1), ("civil", 0), ("", 0), ("mix", 0)],
)
def test_roman_numbers(line, value):
    assert page_labels.roman(line) == value
