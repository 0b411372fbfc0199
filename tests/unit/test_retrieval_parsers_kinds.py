"""What holds of every kind of file: its passages are its text, and its spans are in order."""

import io
from email.message import EmailMessage
from html import escape
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.pdfgen.canvas import Canvas

from services.retrieval.chunking import chunk
from services.retrieval.parsed import dump, load
from services.retrieval.parsers import parse
from tests.office_files import a_docx, an_xlsx

WORDS = st.lists(
    st.sampled_from(
        ["owner", "25%", "Section 4.2:", "4.3", "Mr. Low", "shall.", "&<>", "漢字", "1."]
    ),
    min_size=1,
    max_size=12,
).map(" ".join)
BLOCKS = st.lists(
    st.one_of(
        st.tuples(st.just("heading"), WORDS),
        st.tuples(st.just("paragraph"), WORDS),
        st.tuples(st.just("item"), WORDS),
        st.tuples(st.just("table"), st.lists(WORDS, min_size=4, max_size=4)),
    ),
    min_size=1,
    max_size=12,
)


def as_docx(blocks):
    def paragraph(words, properties=""):
        return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{escape(words)}</w:t></w:r></w:p>"

    body = ""
    for kind, words in blocks:
        if kind == "table":
            cells = [f"<w:tc>{paragraph(cell)}</w:tc>" for cell in words]
            head = "<w:trPr><w:tblHeader/></w:trPr>"
            body += f"<w:tbl><w:tr>{head}{cells[0]}{cells[1]}</w:tr>"
            body += f"<w:tr>{cells[2]}{cells[3]}</w:tr></w:tbl>"
        else:
            body += paragraph(words, '<w:outlineLvl w:val="1"/>' if kind == "heading" else "")
    return a_docx(body)


def as_html(blocks):
    tags = {"heading": "<h2>{}</h2>", "paragraph": "<p>{}", "item": "<ul><li>{}</ul>"}
    page = "<!DOCTYPE html><meta charset=utf-8>"
    for kind, words in blocks:
        if kind == "table":
            row = "<tr><{0}>{1}<{0}>{2}"
            cells = [escape(cell) for cell in words]
            page += f"<table>{row.format('th', *cells[:2])}{row.format('td', *cells[2:])}</table>"
        else:
            page += tags[kind].format(escape(words))
    return page.encode()


def as_markdown(blocks):
    marks = {"heading": "## ", "paragraph": "", "item": "- "}
    return "\n\n".join(
        "| {} | {} |\n|---|---|\n| {} | {} |".format(*words)
        if kind == "table"
        else marks[kind] + words
        for kind, words in blocks
    ).encode()


def as_text(blocks):
    return "\n\n".join(
        "\t".join(words) if kind == "table" else words for kind, words in blocks
    ).encode()


def as_mail(blocks):
    message = EmailMessage()
    message["From"] = "jane@bank.example"
    message["Subject"] = "Owners"
    message.set_content(as_text(blocks).decode())
    return bytes(message)


def as_xlsx(blocks):
    rows = ""
    for kind, words in blocks:
        for cells in (words[:2], words[2:], ()) if kind == "table" else ((words,), ()):
            inside = "".join(f'<c t="inlineStr"><is><t>{escape(c)}</t></is></c>' for c in cells)
            rows += f"<row>{inside}</row>"
    return an_xlsx({"Sheet1": rows})


def as_pdf(blocks):
    out = io.BytesIO()
    canvas = Canvas(out)
    for number, (kind, words) in enumerate(blocks):
        canvas.setFont("Helvetica-Bold" if kind == "heading" else "Helvetica", 10)
        for column, cell in enumerate(words if kind == "table" else [words]):
            canvas.drawString(72 + 100 * column, 750 - 40 * (number % 5), cell)
        if number % 5 == 4:
            canvas.showPage()
    canvas.save()
    return out.getvalue()


KINDS = {
    "a.docx": as_docx,
    "a.html": as_html,
    "a.md": as_markdown,
    "a.txt": as_text,
    "a.eml": as_mail,
    "a.xlsx": as_xlsx,
    "a.pdf": as_pdf,
}


@pytest.mark.parametrize("name", KINDS)
@given(blocks=BLOCKS, max_tokens=st.integers(3, 40))
@settings(deadline=None, max_examples=30)
def test_passages_joined_are_the_text_and_every_span_is_in_order(name, blocks, max_tokens):
    document = parse(KINDS[name](blocks), name)
    text = document.text
    chunks = chunk(document, count_tokens=lambda words: len(words.split()), max_tokens=max_tokens)
    assert "".join(text[c.start : c.end] for c in chunks) == text
    assert document.pages[0].start == 0
    assert document.pages[-1].end == len(text)
    for spans in (
        [(line.start, line.end) for line in document.lines],
        [(heading.start, heading.end) for heading in document.headings],
        document.tables,
        document.furniture,
    ):
        assert all(start < end for start, end in spans)
        assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    assert list(document.paragraphs) == sorted(set(document.paragraphs))
    assert all(line.box is not None for line in document.lines) == (name == "a.pdf")
    assert load(dump(document)) == document


@pytest.mark.parametrize("name", [name for name in KINDS if name != "a.pdf"])
@given(blocks=BLOCKS)
@settings(deadline=None, max_examples=30)
def test_no_word_is_lost_and_none_is_put_in_another_order(name, blocks):
    text = parse(KINDS[name](blocks), name).text
    position = 0
    for kind, words in blocks:
        # Below a header its words are said again, so that only the order within a row is sure.
        for cell in words if kind == "table" else [words]:
            position = text.index(" ".join(cell.split()), position if kind != "table" else 0)
