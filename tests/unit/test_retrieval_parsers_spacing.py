"""Paragraphs of a PDF are parted by blank lines, and every offset moves along."""

import io

from hypothesis import given
from hypothesis import strategies as st
from reportlab.pdfgen.canvas import Canvas

from services.retrieval.document import Heading, Line, Page, ParsedDocument
from services.retrieval.parsers import parse
from services.retrieval.parsers.spacing import spaced


@st.composite
def documents(draw):
    """Pages of lines; some lines begin paragraphs, some are headings, furniture or tables."""
    pages = draw(st.lists(st.lists(st.text("abc ", min_size=1), min_size=1), min_size=1))
    text, lines, bounds = "", [], []
    for number, page in enumerate(pages, start=1):
        start = len(text)
        for line in page:
            lines.append(Line(len(text), len(text) + len(line), number, None))
            text += line + "\n"
        text += "\f"
        bounds.append(Page(number, start, len(text)))
    some = st.lists(st.sampled_from(lines), unique=True).map(
        lambda chosen: sorted(chosen, key=lambda line: line.start)
    )
    first, last = sorted(draw(st.tuples(*[st.integers(0, len(lines) - 1)] * 2)))
    return ParsedDocument(
        text=text,
        pages=tuple(bounds),
        lines=tuple(lines),
        headings=tuple(Heading(one.start, one.end, 1, "", "") for one in draw(some)),
        furniture=tuple((one.start, one.end) for one in draw(some)),
        content_type="application/pdf",
        has_page_images=True,
        paragraphs=tuple(one.start for one in draw(some)),
        tables=draw(st.sampled_from([(), ((lines[first].start, lines[last].end),)])),
    )


@given(documents())
def test_everything_still_says_what_it_said(document):
    after = spaced(document)

    def words(one, spans):
        return [one.text[start:end] for start, end in spans]

    def of(items):
        return [(item.start, item.end) for item in items]

    for name in ("lines", "headings"):
        before = words(document, of(getattr(document, name)))
        assert words(after, of(getattr(after, name))) == before
    assert words(after, after.furniture) == words(document, document.furniture)
    assert [after.text[at] for at in after.paragraphs] == [
        document.text[at] for at in document.paragraphs
    ]
    squeezed = [text.replace("\n", "") for text in words(after, after.tables)]
    assert squeezed == [text.replace("\n", "") for text in words(document, document.tables)]


@given(documents())
def test_pages_still_follow_each_other_without_gap_or_overlap(document):
    after = spaced(document)

    assert after.pages[0].start == 0
    assert after.pages[-1].end == len(after.text)
    assert all(a.end == b.start for a, b in zip(after.pages, after.pages[1:], strict=False))


@given(documents())
def test_only_blank_lines_are_added_and_only_above_paragraphs_and_tables(document):
    after = spaced(document)

    assert after.text.replace("\n", "") == document.text.replace("\n", "")
    tables = [start for start, _ in after.tables]
    for at in {*after.paragraphs, *tables} - {0}:
        within = any(start < at < end for start, end in after.tables)
        assert within or after.text[at - 1] == "\n"
        assert within or after.text[at - 2] in "\n\f"
    assert len(after.text) - len(document.text) <= len(after.paragraphs) + len(tables)


def test_a_heading_of_a_pdf_does_not_run_into_its_text():
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    canvas.setFont("Helvetica-Bold", 16)
    canvas.drawString(72, 720, "5.1 Proof of funds that is not notarized")
    canvas.setFont("Helvetica", 10)
    canvas.drawString(72, 690, "The onboarding must be escalated to the")
    canvas.drawString(72, 678, "Senior Compliance Officer.")
    canvas.save()

    assert parse(buffer.getvalue(), "policy.pdf").text == (
        "5.1 Proof of funds that is not notarized\n\n"
        "The onboarding must be escalated to the\nSenior Compliance Officer."
    )
