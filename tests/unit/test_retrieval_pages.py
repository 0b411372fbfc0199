"""Pages drawn with what is cited marked on them."""

import inspect
import io

import PIL.Image
import pypdfium2
import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from services.chassis.errors import FailedPrecondition, OutOfRange
from services.chassis.transport import MAX_MESSAGE_BYTES
from services.retrieval.document import Box
from services.retrieval.pages import render
from services.retrieval.parsers import parse

WIDTH, HEIGHT = 300, 200


def a_pdf(pages=(("The first line", "and the second."), ("Page two.",)), size=(WIDTH, HEIGHT)):
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=size)
    for lines in pages:
        canvas.setFont("Helvetica", 12)
        for number, line in enumerate(lines):
            canvas.drawString(40, size[1] - 50 - 20 * number, line)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def span(document, words):
    start = document.text.index(words)
    return start, start + len(words)


def image(page):
    return PIL.Image.open(io.BytesIO(page.png)).convert("RGB")


def is_marked(pixel):
    red, green, blue = pixel
    return red > 200 and green > 180 and blue < 190


def boxes_for(data, number, spans, document):
    return render(data, number, spans, document, 72).boxes


def marked_box(page):
    """Around all pixels that are yellow."""
    picture = image(page)
    mask = PIL.Image.new("1", picture.size)
    mask.putdata([is_marked(pixel) for pixel in picture.get_flattened_data()])
    return mask.getbbox()


@pytest.fixture
def data():
    return a_pdf()


@pytest.fixture
def document(data):
    return parse(data, "a.pdf")


def test_a_page_is_drawn_at_the_resolution_asked_for(data, document):
    page = render(data, 1, [], document, 144)
    assert (page.width, page.height) == image(page).size == (2 * WIDTH, 2 * HEIGHT)
    assert page.boxes == ()
    assert marked_box(page) is None


def test_a_span_over_two_lines_has_a_box_on_each_around_its_own_words(data, document):
    boxes = boxes_for(data, 1, [span(document, "line\nand")], document)
    first, second = document.lines[0].box, document.lines[1].box
    assert [(box.top, box.bottom) for box in boxes] == [
        (first.top, first.bottom),
        (second.top, second.bottom),
    ]
    before = 40 + stringWidth("The first ", "Helvetica", 12)
    assert [box.left for box in boxes] == [pytest.approx(before, abs=1), pytest.approx(40, abs=1)]
    assert [box.right for box in boxes] == [
        pytest.approx(before + stringWidth("line", "Helvetica", 12), abs=1),
        pytest.approx(40 + stringWidth("and", "Helvetica", 12), abs=1),
    ]


def test_a_span_of_a_whole_line_has_the_lines_box(data, document):
    assert boxes_for(data, 1, [span(document, "The first line")], document) == (
        document.lines[0].box,
    )


def test_white_space_other_pages_and_empty_spans_have_no_box(data, document):
    second = span(document, "Page two.")
    gap = document.text.index(" ")
    assert boxes_for(data, 1, [second, (gap, gap + 1), (3, 3)], document) == ()
    assert boxes_for(data, 2, [second], document) == (document.lines[2].box,)


def test_overlapping_spans_are_marked_once_and_boxes_come_in_reading_order(data, document):
    spans = [span(document, "second"), span(document, "first line"), span(document, "line")]
    boxes = boxes_for(data, 1, spans, document)
    assert len(boxes) == 2
    assert boxes[0].top < boxes[1].top


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", [None, (20, 60, 280, 190)])
def test_the_mark_on_the_image_is_on_the_words_however_the_page_is_turned_and_cut(rotation, crop):
    with pypdfium2.PdfDocument(a_pdf()) as pdf:
        page = pdf[0]
        page.set_rotation(rotation)
        if crop:
            page.set_cropbox(*crop)
        out = io.BytesIO()
        pdf.save(out)
    turned = out.getvalue()
    document = parse(turned, "a.pdf")
    bare = render(turned, 1, [], document, 72)
    marked = render(turned, 1, [span(document, "The first line")], document, 72)
    box = marked.boxes[0]
    left, top, right, bottom = marked_box(marked)
    assert (left, top) == (pytest.approx(box.left, abs=2), pytest.approx(box.top, abs=2))
    assert (right, bottom) == (pytest.approx(box.right, abs=2), pytest.approx(box.bottom, abs=2))
    # The page's other line has about as much ink: this line's is all under the mark.
    dark = image(bare).convert("L").point(lambda level: 255 if level < 128 else 0)
    all_ink = dark.histogram()[255]
    marked_ink = dark.crop((left, top, right, bottom)).histogram()[255]
    assert 0.3 < marked_ink / all_ink < 0.7


def test_words_stay_readable_under_the_mark(data, document):
    page = render(data, 1, [span(document, "The first line")], document, 144)
    left, top, right, bottom = (round(2 * edge) for edge in astuple(page.boxes[0]))
    inside = image(page).crop((left, top, right, bottom)).convert("L")
    darkest, lightest = inside.getextrema()
    assert lightest - darkest > 100


def astuple(box: Box):
    return box.left, box.top, box.right, box.bottom


@pytest.mark.parametrize("number", [0, 3, 4_000_000_000])
def test_a_page_that_the_document_does_not_have_is_out_of_range(data, document, number):
    with pytest.raises(OutOfRange, match="1 to 2"):
        render(data, number, [], document, 72)


def test_a_source_without_pages_cannot_be_drawn():
    text = b"Plain words."
    with pytest.raises(FailedPrecondition):
        render(text, 1, [], parse(text, "a.txt"), 72)


def test_a_poster_is_drawn_at_fewer_dots_per_inch():
    poster = a_pdf([("Poster",)], size=(14_000, 7_000))
    document = parse(poster, "a.pdf")
    page = render(poster, 1, [span(document, "Poster")], document, 300)
    assert page.width * page.height < 16_100_000
    assert page.width == pytest.approx(2 * page.height, abs=2)


@pytest.mark.parametrize(
    "size", [(120, 2_000_000), (2_000_000, 120), (1_000_000_000, 1_000_000_000)]
)
def test_no_page_is_too_long_or_too_large_to_be_drawn(size):
    strip = a_pdf([("Strip",)], size=size)
    document = parse(strip, "a.pdf")
    page = render(strip, 1, [(0, len(document.text))], document, 300)
    assert page.width * page.height < 16_100_000
    assert max(page.width, page.height) <= 16_001
    assert min(page.width, page.height) >= 1


def test_a_page_whose_image_would_have_too_many_bytes_is_drawn_at_fewer_dots_per_inch():
    scan = io.BytesIO()
    noise = PIL.Image.effect_noise((2 * WIDTH, 2 * HEIGHT), 100)
    canvas = Canvas(scan, pagesize=(WIDTH, HEIGHT))
    canvas.drawInlineImage(noise, 0, 0, WIDTH, HEIGHT)
    canvas.setFont("Helvetica", 12)
    canvas.drawString(40, HEIGHT - 50, "Words on a scan.")
    canvas.save()
    document = parse(scan.getvalue(), "a.pdf")
    whole, small = (
        render(scan.getvalue(), 1, [(0, 5)], document, 144, max_bytes=most)
        for most in (10**7, 100_000)
    )
    assert (whole.width, whole.height) == (2 * WIDTH, 2 * HEIGHT)
    assert 50_000 < len(small.png) <= 100_000 < len(whole.png)
    assert image(small).size == (small.width, small.height)
    assert small.boxes == whole.boxes
    (box,) = small.boxes
    left, top, *_ = marked_box(small)
    scale = small.width / WIDTH
    assert (left, top) == (
        pytest.approx(box.left * scale, abs=2),
        pytest.approx(box.top * scale, abs=2),
    )


def test_an_image_and_its_boxes_fit_into_a_message():
    assert inspect.signature(render).parameters["max_bytes"].default < MAX_MESSAGE_BYTES


def test_each_word_is_marked_by_itself_not_its_line(data, document):
    words = ["The", "first", "line"]
    boxes = [boxes_for(data, 1, [span(document, word)], document)[0] for word in words]
    left = 40.0
    for word, box in zip(words, boxes, strict=True):
        assert box.left == pytest.approx(left, abs=1)
        left += stringWidth(word, "Helvetica", 12)
        assert box.right == pytest.approx(left, abs=1)
        left += stringWidth(" ", "Helvetica", 12)


def test_whole_lines_are_marked_when_the_page_no_longer_reads_as_it_did(data, document):
    other = a_pdf([("Something else", "altogether."), ("Page two.",)])
    assert boxes_for(other, 1, [span(document, "first")], document) == (document.lines[0].box,)
