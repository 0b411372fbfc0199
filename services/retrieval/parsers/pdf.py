"""PDF: the text of each page with its layout, headings, tables and running headers."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import pypdfium2
import pypdfium2.raw as pdfium

from services.chassis.errors import InvalidInput
from services.retrieval.document import Line, OcrPage, OnPages, Page, ParsedDocument
from services.retrieval.parsers import (
    furniture,
    limits,
    ocr,
    page_labels,
    pdf_forms,
    pdf_headings,
    pdf_layout,
    pdf_page,
)
from services.retrieval.parsers.characters import MADE_READABLE, UNREADABLE
from services.retrieval.parsers.spacing import spaced

CONTENT_TYPE = "application/pdf"
# Follows every page but the last; no page holds a form feed of its own.
_PAGE_BREAK = "\n\f"
_LONGEST_LABEL = 32


@dataclass(slots=True)
class _Reading:
    """All pages, one after the other."""

    text: str = ""
    pages: list[Page] = field(default_factory=list)
    heights: list[float] = field(default_factory=list)
    lines: list[pdf_layout.PlacedLine] = field(default_factory=list)
    ocr_pages: list[OcrPage] = field(default_factory=list)
    unread_pictures: list[int] = field(default_factory=list)


@contextmanager
def opened(data: bytes) -> Iterator[pypdfium2.PdfDocument]:
    """The PDF in these bytes.

    PDFium is not thread-safe, not even over different documents: one thread of a process at a time.
    """
    try:
        pdf = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code == pdfium.FPDF_ERR_PASSWORD:
            raise InvalidInput(
                "The PDF is encrypted; save it without its password and send it again.",
                reason="ENCRYPTED_FILE",
            ) from error
        raise _damaged("it cannot be opened") from error
    with pdf:
        pdf.init_forms()
        yield pdf


def parse(
    data: bytes, max_pages: int, recognizer: ocr.Recognizer, on_pages: OnPages | None = None
) -> ParsedDocument:
    """Read a PDF; see `opened` about threads. Pages are read in the order in which they print.

    Pages that are pictures, but for a stamp, are given to the recognizer.
    """
    with opened(data) as pdf:
        limits.check_page_count(len(pdf), max_pages)
        if not len(pdf):
            raise _damaged("it has no pages")
        bookmarks = tuple(pdf_headings.outline(pdf))
        reading = _read_all(pdf, recognizer, on_pages)
        stated = {page.number: _stated_label(pdf, page.number) for page in reading.pages}
    placed = reading.lines
    lines = tuple(Line(line.start, line.end, line.page_number, line.printed.box) for line in placed)
    running = furniture.find(reading.text, lines, reading.heights)
    labels = page_labels.printed(
        ((placed[index].page_number, placed[index].text) for index in sorted(running)),
        len(reading.pages),
    )
    body = [line for index, line in enumerate(placed) if index not in running]
    starts = pdf_layout.paragraph_starts(body)
    tables = pdf_layout.tables(body, starts)
    tabular = {index for first, end in tables for index in range(first, end)}
    headings = pdf_headings.find(body, starts, tabular, bookmarks)
    return spaced(
        ParsedDocument(
            text=reading.text,
            pages=tuple(
                replace(page, label=labels.get(page.number, stated[page.number]))
                for page in reading.pages
            ),
            lines=lines,
            headings=headings,
            furniture=tuple((lines[index].start, lines[index].end) for index in sorted(running)),
            content_type=CONTENT_TYPE,
            has_page_images=True,
            paragraphs=tuple(body[index].start for index in sorted(starts)),
            tables=tuple((body[first].start, body[end - 1].end) for first, end in tables),
            ocr_pages=tuple(reading.ocr_pages),
            unread_pictures=tuple(reading.unread_pictures),
        )
    )


@contextmanager
def page_of(
    pdf: pypdfium2.PdfDocument, number: int
) -> Iterator[tuple[pypdfium2.PdfPage, pdf_page.PrintedPage]]:
    """Page `number`, counted from 1, as it was read into the document's text but for pictures."""
    with _page(pdf, number) as page:
        yield page, pdf_forms.filled(page, pdf_page.read(page))


@contextmanager
def _page(pdf: pypdfium2.PdfDocument, number: int) -> Iterator[pypdfium2.PdfPage]:
    try:
        page = pdf[number - 1]
        try:
            yield page
        finally:
            page.close()
    except pypdfium2.PdfiumError as error:
        raise _damaged(f"its page {number} cannot be read") from error


def _read_all(
    pdf: pypdfium2.PdfDocument, recognizer: ocr.Recognizer, on_pages: OnPages | None
) -> _Reading:
    reading = _Reading()
    texts: list[str] = []
    start = 0
    for number in range(1, len(pdf) + 1):
        # The places of its characters are dropped with each page; only those of lines are kept.
        with _page(pdf, number) as opened_page:
            page = pdf_page.read(opened_page)
            if ocr.is_picture(opened_page, page):
                page = _with_picture(opened_page, page, number, recognizer, reading)
            page = pdf_forms.filled(opened_page, page)
        line_start = start
        for line in page.lines:
            reading.lines.append(pdf_layout.PlacedLine(line, line_start, number))
            line_start += len(line.text) + 1
        texts.append(page.text if number == len(pdf) else page.text + _PAGE_BREAK)
        reading.pages.append(Page(number, start, start + len(texts[-1])))
        reading.heights.append(page.frame.size[1])
        start += len(texts[-1])
        # Once for each hundredth, and a page.
        if on_pages and number * 100 // len(pdf) > (number - 1) * 100 // len(pdf):
            on_pages(number, len(pdf))
    reading.text = "".join(texts)
    return reading


def _with_picture(
    opened_page: pypdfium2.PdfPage,
    page: pdf_page.PrintedPage,
    number: int,
    recognizer: ocr.Recognizer,
    reading: _Reading,
) -> pdf_page.PrintedPage:
    """The page with the lines of its picture, between those that are printed above and below."""
    stamp = [line for line in page.lines if line.text.replace(UNREADABLE, "").strip()]
    recognized = recognizer.read(opened_page, stamp)
    if recognized is None:
        reading.unread_pictures.append(number)
        return page
    if not recognized.lines:
        return page
    reading.ocr_pages.append(OcrPage(number, recognized.confidence))
    top = min(line.box.top for line in recognized.lines)
    above = [line for line in stamp if line.box.top < top]
    below = [line for line in stamp if line.box.top >= top]
    return replace(page, lines=(*above, *recognized.lines, *below))


def _stated_label(pdf: pypdfium2.PdfDocument, number: int) -> str:
    """What the file itself calls a page."""
    try:
        label = pdf.get_page_label(number - 1)
    except (pypdfium2.PdfiumError, UnicodeDecodeError):
        return ""
    return " ".join(label.split()).translate(MADE_READABLE)[:_LONGEST_LABEL]


def _damaged(what: str) -> InvalidInput:
    return InvalidInput(
        f"The PDF is damaged: {what}. Open it, save it anew and send it again.",
        reason="DAMAGED_FILE",
    )
