"""A file read into text with its layout, whatever it is."""

from dataclasses import replace

from services.chassis.errors import InvalidInput
from services.retrieval.document import OnPages, ParsedDocument
from services.retrieval.parsers import (
    docx,
    html,
    limits,
    mail,
    markdown,
    ocr,
    pdf,
    plain,
    pptx,
    sniffing,
    xlsx,
)
from services.retrieval.parsers.characters import UNREADABLE
from services.retrieval.parsers.ocr import Recognizer

MAX_PAGES = 5000


def parse(
    data: bytes,
    source_name: str,
    content_type: str = "",
    *,
    max_pages: int = MAX_PAGES,
    ocr_seconds: float = 0.0,
    ocr_languages: str = "eng",
    on_pages: OnPages | None = None,
) -> ParsedDocument:
    """Read a file.

    The bytes decide what it is; the name and the declared type only tell kinds of text apart, and
    are an error when the bytes deny them. A declared charset is that of text. It only computes, and
    can be run in a process of its own. In one process it must not run in two threads at once, nor
    beside `pages.render`: PDFium is not thread-safe.

    Args:
        data: The file.
        source_name: Its name, of which the ending counts.
        content_type: Declared media type; empty or application/octet-stream when none is.
        max_pages: More pages than this are refused.
        ocr_seconds: How long text may be recognized on pages that are pictures, where tesseract is
            installed; the document says which pages were read so, and which have no text.
        ocr_languages: What is written there, as tesseract names it.
        on_pages: Is told of the pages of a PDF as they are read, a hundred times at most.

    Raises:
        InvalidInput: With reason EMPTY_FILE, DAMAGED_FILE, ENCRYPTED_FILE, UNSUPPORTED_TYPE,
            TYPE_MISMATCH, TOO_LARGE or NO_TEXT.
    """
    if not data:
        raise InvalidInput("The file is empty.", reason="EMPTY_FILE")
    try:
        found = sniffing.find(data, source_name, content_type)
        recognizer = Recognizer(seconds=ocr_seconds, languages=ocr_languages)
        document = _parse(data, found, max_pages, recognizer, on_pages)
        document = replace(document, charset=found.charset)
    except RecursionError as error:
        raise InvalidInput(
            "The file is damaged: it is nested too deep.", reason="DAMAGED_FILE"
        ) from error
    if not document.text.replace(UNREADABLE, "").strip():
        says = "The file holds nothing but white space."
        if document.content_type == pdf.CONTENT_TYPE:
            why = ocr.lacking(ocr_languages) if ocr_seconds else "VERITY_OCR_SECONDS is 0"
            says = "No page of the PDF has readable text, and none was recognized in its pictures"
            says += f": {why}." if why else "."
        raise InvalidInput(says, reason="NO_TEXT")
    return document


def _parse(  # noqa: PLR0911 - one for each type
    data: bytes,
    found: sniffing.Found,
    max_pages: int,
    recognizer: Recognizer,
    on_pages: OnPages | None,
) -> ParsedDocument:
    match found.media_type:
        case pdf.CONTENT_TYPE:
            return pdf.parse(data, max_pages, recognizer, on_pages)
        case docx.CONTENT_TYPE:
            return docx.parse(data)
        case xlsx.CONTENT_TYPE:
            return xlsx.parse(data)
        case pptx.CONTENT_TYPE:
            return pptx.parse(data, max_pages)
        case html.CONTENT_TYPE:
            return html.parse(found.written)
        case mail.CONTENT_TYPE:
            return mail.parse(data)
        case markdown.CONTENT_TYPE:
            return markdown.parse(found.written)
        case plain.CONTENT_TYPE:
            limits.check_page_count(1 + found.written.count("\f", 0, -1), max_pages)
            return plain.parse(found.written)
        case kind:
            raise InvalidInput(
                f"Files of type {kind} cannot be read; PDF, DOCX, XLSX, PPTX, HTML, e-mail, "
                "Markdown and plain text can.",
                reason="UNSUPPORTED_TYPE",
            )
