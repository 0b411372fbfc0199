"""A page of a PDF as an image, with boxes around spans of the document's text."""

import io
import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import PIL.Image
import PIL.ImageDraw
import pypdfium2

from services.chassis.errors import FailedPrecondition, OutOfRange
from services.chassis.transport import MAX_MESSAGE_BYTES
from services.retrieval.document import Box, Line, Page, ParsedDocument
from services.retrieval.parsers import pdf
from services.retrieval.parsers.pdf_page import PrintedPage

_YELLOW = (255, 214, 0, 96)
_POINTS_PER_INCH = 72
# A wall poster at 300 dpi would fill the memory; larger pages are drawn at fewer dots per inch.
_MAX_PIXELS = 16_000_000
# And a strip of paper would make an image that no viewer shows.
_MAX_SIDE = 16_000
# The image travels in one message, with its boxes. A scan of noise takes three bytes a pixel.
_MAX_BYTES = MAX_MESSAGE_BYTES - 1024 * 1024

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """A PNG image, its size in pixels, and the boxes drawn on it, in points and reading order."""

    png: bytes
    width: int
    height: int
    boxes: tuple[Box, ...]


def render(
    data: bytes,
    page_number: int,
    spans: Sequence[Span],
    document: ParsedDocument,
    dpi: int,
    *,
    max_bytes: int = _MAX_BYTES,
) -> RenderedPage:
    """Draws a page, with a box around each line of each span.

    Like `parsers.parse` it must not run in two threads of a process at once.

    Args:
        data: The file that `document` was parsed from.
        page_number: From 1.
        spans: In any order; what overlaps is taken as one, what is on other pages is passed over.
        document: The file as it was parsed.
        dpi: Pixels per inch; fewer on a page so large that the image would not fit in memory, or
            whose image would have too many bytes.
        max_bytes: The most that the image may have.

    Raises:
        OutOfRange: The document has no such page.
        FailedPrecondition: Its pages cannot be drawn: it is not a PDF.
    """
    page = _page(document, page_number)
    with pdf.opened(data) as opened, pdf.page_of(opened, page_number) as (drawn, printed):
        width, height = printed.frame.size
        scale = min(
            dpi / _POINTS_PER_INCH,
            math.sqrt(_MAX_PIXELS / (width * height)),
            _MAX_SIDE / max(width, height),
        )
        boxes = tuple(_boxes(printed, document, page, spans))
        image, png = _image(drawn, scale, boxes)
        while len(png) > max_bytes:
            scale *= 0.95 * math.sqrt(max_bytes / len(png))
            image, png = _image(drawn, scale, boxes)
    return RenderedPage(png, image.width, image.height, boxes)


def _image(
    page: pypdfium2.PdfPage, scale: float, boxes: Iterable[Box]
) -> tuple[PIL.Image.Image, bytes]:
    image = page.render(scale=scale).to_pil().convert("RGBA")
    marks = PIL.Image.new("RGBA", image.size)
    pen = PIL.ImageDraw.Draw(marks)
    for box in boxes:
        edges = (box.left, box.top, box.right, box.bottom)
        pen.rectangle([edge * scale for edge in edges], fill=_YELLOW)
    png = io.BytesIO()
    PIL.Image.alpha_composite(image, marks).convert("RGB").save(png, "PNG")
    return image, png.getvalue()


def _page(document: ParsedDocument, number: int) -> Page:
    if not document.has_page_images:
        raise FailedPrecondition("Only the pages of a PDF can be drawn.")
    if not 1 <= number <= len(document.pages):
        raise OutOfRange(f"The document has pages 1 to {len(document.pages)}, not {number}.")
    return document.pages[number - 1]


def _boxes(
    printed: PrintedPage, document: ParsedDocument, page: Page, spans: Sequence[Span]
) -> Iterator[Box]:
    lines = _lines_of(document.lines, page)
    # Another version of PDFium may read the page otherwise than it was read when it was parsed.
    # Then its characters are not those of the document, and whole lines are marked where they
    # stood.
    same = [line.text for line in printed.lines] == [
        document.text[line.start : line.end] for line in lines
    ]
    merged = _merged(spans)
    for index, line in enumerate(lines):
        for start, end in merged:
            first, last = max(start, line.start), min(end, line.end)
            if not document.text[first:last].strip():
                continue
            box = printed.box_of(index, first - line.start, last - line.start) if same else line.box
            if box is not None:
                yield box


def _lines_of(lines: Sequence[Line], page: Page) -> Sequence[Line]:
    first = bisect_left(lines, page.start, key=lambda line: line.start)
    last = bisect_left(lines, page.end, key=lambda line: line.start)
    return lines[first:last]


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
