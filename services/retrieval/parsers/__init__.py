"""What a file is, told by its bytes, and the file read into text with its layout."""

import re
from collections.abc import Collection
from pathlib import PurePosixPath

from services.chassis.errors import InvalidInput
from services.retrieval.document import ParsedDocument
from services.retrieval.parsers import encoding, limits, markdown, pdf, plain
from services.retrieval.parsers.characters import UNREADABLE

MAX_PAGES = 5000

_OFFICE = "application/vnd.openxmlformats-officedocument."
_ZIP = "application/zip"
_OLE = "application/x-ole-storage"
_HTML = "text/html"
_RTF = "application/rtf"
_MAIL = "message/rfc822"

_SIGNATURES = (
    (re.compile(rb"(?:\xef\xbb\xbf)?\s*%PDF-"), pdf.CONTENT_TYPE),
    (re.compile(rb"PK(?:\x03\x04|\x05\x06|\x07\x08)"), _ZIP),
    (re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), _OLE),
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"(?:II\*\x00|MM\x00\*)"), "image/tiff"),
    (re.compile(rb"\x1f\x8b"), "application/gzip"),
    (re.compile(rb"\{\\rtf"), _RTF),
    (re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)", re.IGNORECASE), _HTML),
)
# Some writers put other bytes before a PDF's header; readers look this far.
_PDF_HEADER_WITHIN = 1024

_BY_SUFFIX = {
    ".pdf": pdf.CONTENT_TYPE,
    ".txt": plain.CONTENT_TYPE,
    ".text": plain.CONTENT_TYPE,
    ".md": markdown.CONTENT_TYPE,
    ".markdown": markdown.CONTENT_TYPE,
    ".html": _HTML,
    ".htm": _HTML,
    ".rtf": _RTF,
    ".eml": _MAIL,
    ".doc": _OLE,
    ".xls": _OLE,
    ".ppt": _OLE,
    ".docx": _OFFICE + "wordprocessingml.document",
    ".xlsx": _OFFICE + "spreadsheetml.sheet",
    ".pptx": _OFFICE + "presentationml.presentation",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
    ".zip": _ZIP,
    ".gz": "application/gzip",
}
_ALIASES = {
    "application/x-pdf": pdf.CONTENT_TYPE,
    "text/x-markdown": markdown.CONTENT_TYPE,
    "text/rtf": _RTF,
    "application/msword": _OLE,
    "application/vnd.ms-excel": _OLE,
    "application/vnd.ms-powerpoint": _OLE,
}
_KNOWN = frozenset(_BY_SUFFIX.values())


def parse(
    data: bytes, source_name: str, content_type: str = "", *, max_pages: int = MAX_PAGES
) -> ParsedDocument:
    """Read a file.

    The bytes decide what it is; the name and the declared type only tell kinds of text apart, and
    are an error when the bytes deny them. It only computes, and can be run in a process of its
    own. In one process it must not run in two threads at once, nor beside `pages.render`: PDFium
    is not thread-safe.

    Args:
        data: The file.
        source_name: Its name, of which the ending counts.
        content_type: Declared media type; empty or application/octet-stream when none is.
        max_pages: More pages than this are refused.

    Raises:
        InvalidInput: With reason EMPTY_FILE, DAMAGED_FILE, ENCRYPTED_FILE, UNSUPPORTED_TYPE,
            TYPE_MISMATCH, TOO_LARGE or NO_TEXT.
    """
    if not data:
        raise InvalidInput("The file is empty.", reason="EMPTY_FILE")
    claims = _claims(source_name, content_type)
    found, written = _sniff(data, claims)
    for claim in claims:
        if found not in {claim, _carrier(claim)}:
            raise InvalidInput(
                f"The file is declared or named as {claim}, and its bytes are {found}.",
                reason="TYPE_MISMATCH",
            )
    kind = next((claim for claim in claims if claim != found), found)
    match kind:
        case pdf.CONTENT_TYPE:
            document = pdf.parse(data, max_pages)
        case markdown.CONTENT_TYPE:
            document = markdown.parse(written)
        case plain.CONTENT_TYPE:
            limits.check_page_count(1 + written.count("\f", 0, -1), max_pages)
            document = plain.parse(written)
        case _:
            raise InvalidInput(
                f"Files of type {kind} cannot be read; PDF, Markdown and plain text can.",
                reason="UNSUPPORTED_TYPE",
            )
    if not document.text.replace(UNREADABLE, "").strip():
        raise InvalidInput(
            "No page of the PDF has readable text; it looks scanned. Run text recognition on it."
            if kind == pdf.CONTENT_TYPE
            else "The file holds nothing but white space.",
            reason="NO_TEXT",
        )
    return document


def _claims(source_name: str, content_type: str) -> list[str]:
    """The known media types that the declaration and the name's ending stand for."""
    declared = content_type.partition(";")[0].strip().lower()
    declared = _ALIASES.get(declared, declared)
    if declared.startswith("text/") and declared not in _KNOWN:
        declared = plain.CONTENT_TYPE
    named = _BY_SUFFIX.get(PurePosixPath(source_name).suffix.lower(), "")
    return [claim for claim in (declared, named) if claim in _KNOWN]


def _carrier(media_type: str) -> str:
    """What the bytes of a media type look like."""
    if media_type.startswith(_OFFICE):
        return _ZIP
    if media_type in {markdown.CONTENT_TYPE, _MAIL, _HTML}:
        return plain.CONTENT_TYPE
    return media_type


def _sniff(data: bytes, claims: Collection[str]) -> tuple[str, str]:
    """The media type of the bytes, and what is written if they are text."""
    for signature, media_type in _SIGNATURES:
        if signature.match(data):
            return media_type, ""
    if pdf.CONTENT_TYPE in claims and b"%PDF-" in data[:_PDF_HEADER_WITHIN]:
        return pdf.CONTENT_TYPE, ""
    written = encoding.decode(data)
    return ("application/octet-stream", "") if written is None else (plain.CONTENT_TYPE, written)
