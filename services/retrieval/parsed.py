"""A parsed document as JSON, and back, so that it is parsed once."""

import json
from dataclasses import astuple

from services.retrieval.document import Box, Heading, Line, OcrPage, Page, ParsedDocument


def dump(document: ParsedDocument) -> bytes:
    """The document as JSON."""
    return json.dumps(
        {
            "text": document.text,
            "pages": [astuple(page) for page in document.pages],
            "lines": [
                [line.start, line.end, line.page_number, *(astuple(line.box) if line.box else ())]
                for line in document.lines
            ],
            "headings": [astuple(heading) for heading in document.headings],
            "furniture": document.furniture,
            "content_type": document.content_type,
            "has_page_images": document.has_page_images,
            "paragraphs": document.paragraphs,
            "tables": document.tables,
            "ocr_pages": [astuple(page) for page in document.ocr_pages],
            "unread_pictures": document.unread_pictures,
            "charset": document.charset,
        },
        ensure_ascii=True,  # Text may hold lone surrogates, which UTF-8 cannot.
        separators=(",", ":"),
    ).encode()


def load(data: bytes) -> ParsedDocument:
    """The document that was dumped."""
    fields = json.loads(data)
    return ParsedDocument(
        text=fields["text"],
        pages=tuple(Page(*page) for page in fields["pages"]),
        lines=tuple(
            Line(start, end, number, Box(*box) if box else None)
            for start, end, number, *box in fields["lines"]
        ),
        headings=tuple(Heading(*heading) for heading in fields["headings"]),
        furniture=tuple((start, end) for start, end in fields["furniture"]),
        content_type=fields["content_type"],
        has_page_images=fields["has_page_images"],
        paragraphs=tuple(fields["paragraphs"]),
        tables=tuple((start, end) for start, end in fields["tables"]),
        # Those that were kept before pictures were read have none.
        ocr_pages=tuple(OcrPage(*page) for page in fields.get("ocr_pages", ())),
        unread_pictures=tuple(fields.get("unread_pictures", ())),
        charset=fields.get("charset", ""),
    )
