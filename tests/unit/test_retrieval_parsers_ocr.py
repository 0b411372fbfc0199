"""Pages that are pictures, read by a tesseract that is a script."""

import io

import PIL.Image
import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from services.chassis.errors import InvalidInput
from services.retrieval.document import OcrPage
from services.retrieval.pages import render
from services.retrieval.parsed import dump, load
from services.retrieval.parsers import parse

# At 300 dots an inch: a point is 4 1/6 dots.
DOTS = 300 / 72
WORDS = [
    # block, paragraph, line, left, top, width, height, confidence, word
    (1, 1, 1, 300, 300, 200, 40, 96.0, "Section"),
    (1, 1, 1, 520, 300, 80, 40, 90.0, "4.2:"),
    (1, 1, 2, 300, 360, 300, 40, 84.0, "Owners"),
    (1, 1, 2, 0, 0, 10, 10, -1.0, " "),
]


STAMP = "DocuSign Envelope ID: 8F2C"


def a_scan(pages=("scan",)):
    """A PDF of pages that are pictures, pictures that are stamped, printed words, or blank."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    for page in pages:
        if page == "scan":
            picture = PIL.Image.new("L", (100, 100), 128)
            canvas.drawImage(ImageReader(picture), 72, 72, 400, 600)
        elif page == "stamped":
            canvas.drawImage(ImageReader(PIL.Image.new("L", (100, 100), 128)), 0, 0, *A4)
            canvas.drawString(30, A4[1] - 20, STAMP)
            canvas.drawString(30, 20, "Page 1")
        elif page:
            canvas.drawString(72, 700, page)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def table(words):
    names = "level page_num block_num par_num line_num word_num left top width height conf text"
    rows = [
        f"5\t1\t{b}\t{p}\t{n}\t1\t{x}\t{y}\t{w}\t{h}\t{c}\t{t}"
        for b, p, n, x, y, w, h, c, t in words
    ]
    return "\n".join(
        [names.replace(" ", "\t"), "1\t1\t0\t0\t0\t0\t0\t0\t2480\t3508\t-1\t", *rows, ""]
    )


@pytest.fixture
def tesseract(tmp_path, monkeypatch):
    """Puts a program of that name, and no other, on the path."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def put(script):
        program = tmp_path / "tesseract"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    put.says = lambda words: put(
        f'/bin/cat > {tmp_path}/picture\necho "$@" > {tmp_path}/arguments\n'
        f"/bin/cat <<'END'\n{table(words)}\nEND"
    )
    put.folder = tmp_path
    return put


def test_a_picture_is_read_into_lines_with_boxes_and_the_page_says_how_surely(tesseract):
    tesseract.says(WORDS)
    document = parse(a_scan(), "scan.pdf", ocr_seconds=10, ocr_languages="eng+deu")
    assert document.text == "Section 4.2:\nOwners"
    assert document.ocr_pages == (OcrPage(1, pytest.approx(0.9)),)
    assert document.pages_without_text == ()
    box = document.lines[0].box
    assert (box.left, box.right) == (pytest.approx(300 / DOTS), pytest.approx(600 / DOTS))
    assert (box.top, box.bottom) == (pytest.approx(300 / DOTS), pytest.approx(340 / DOTS))
    assert (tesseract.folder / "picture").read_bytes().startswith(b"P5 2481 3508 255\n")
    assert "-l eng+deu" in (tesseract.folder / "arguments").read_text()
    assert load(dump(document)) == document
    assert render(a_scan(), 1, [(0, 7)], document, 72).boxes == (box,)


def test_only_pages_without_words_that_are_not_blank_are_given_to_it(tesseract):
    tesseract.says(WORDS)
    document = parse(a_scan(("Printed.", "scan", "")), "scan.pdf", ocr_seconds=10)
    assert document.text.startswith("Printed.\n\f")
    assert [page.number for page in document.ocr_pages] == [2]
    assert document.pages_without_text == (3,)


@pytest.mark.parametrize(
    "script",
    ["exit 1", "exec /bin/sleep 60", "echo nonsense", f"/bin/cat >/dev/null; echo '{table([])}'"],
)
def test_what_it_cannot_read_is_left_without_text(tesseract, script):
    tesseract(script)
    document = parse(a_scan(("Printed.", "scan")), "scan.pdf", ocr_seconds=0.5)
    assert document.pages_without_text == (2,)
    assert document.ocr_pages == ()


def test_when_its_time_is_used_up_the_other_pages_are_left_without_text(tesseract):
    tesseract("exec /bin/sleep 60")
    document = parse(a_scan(("Printed.", "scan", "scan", "scan")), "scan.pdf", ocr_seconds=0.5)
    assert document.pages_without_text == (2, 3, 4)


@pytest.mark.parametrize(
    ("seconds", "script", "why"),
    [
        (10, "", "tesseract is not installed"),
        (0, "echo eng", "VERITY_OCR_SECONDS is 0"),
        (10, "echo eng; echo osd", "tesseract has no data for deu, fra"),
        (10, "exit 1", "tesseract does not run"),
        (10, '[ "$1" != --list-langs ] || echo "eng deu fra"', "in its pictures."),
    ],
)
def test_a_scan_of_which_nothing_is_read_is_refused_with_the_reason(
    tesseract, seconds, script, why
):
    if script:
        tesseract(script)
    with pytest.raises(InvalidInput, match=why) as caught:
        parse(a_scan(), "scan.pdf", ocr_seconds=seconds, ocr_languages="eng+deu+fra")
    assert caught.value.reason == "NO_TEXT"


def test_a_stamped_picture_is_read_too_and_keeps_its_stamp_once(tesseract):
    read_again = [(2, 1, 1, 130, 50, 200, 40, 90.0, "DocuSign")]
    tesseract.says([*read_again, *WORDS])
    document = parse(a_scan(("Printed.", "stamped")), "scan.pdf", ocr_seconds=10)
    page = document.pages[1]
    assert document.text[page.start : page.end].split("\n\n") == [
        f"\n{STAMP}",
        "Section 4.2:\nOwners",
        "Page 1",
    ]
    assert document.ocr_pages == (OcrPage(2, pytest.approx(0.9)),)
    assert document.pages_without_text == ()


def test_words_below_a_mark_that_runs_across_the_page_are_read(tesseract):
    tesseract.says(WORDS)
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.drawImage(ImageReader(PIL.Image.new("L", (100, 100), 128)), 0, 0, *A4)
    canvas.setFont("Helvetica", 200)
    canvas.drawString(20, 600, "COPY")
    canvas.save()
    document = parse(out.getvalue(), "scan.pdf", ocr_seconds=10)
    assert document.text.split() == ["COPY", "Section", "4.2:", "Owners"]


def test_a_stamped_picture_that_cannot_be_read_counts_as_without_text(tesseract):
    document = parse(a_scan(("Printed.", "stamped")), "scan.pdf", ocr_seconds=10)
    assert STAMP in document.text
    assert document.pages_without_text == (2,)
    assert load(dump(document)) == document
