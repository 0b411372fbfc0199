"""What a file is, told by its bytes; its name and what is declared tell kinds of text apart."""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from services.chassis.errors import InvalidInput
from services.retrieval.parsers import (
    docx,
    encoding,
    html,
    mail,
    markdown,
    office,
    pdf,
    plain,
    pptx,
    xlsx,
)

_ZIP = "application/zip"
_OLE = "application/x-ole-storage"
_RTF = "application/rtf"
_BINARY = "application/octet-stream"

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
)
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--[^>]{0,2000}-->\s*)*<(?:!doctype\s+html|html)\b",
    re.IGNORECASE,
)
# Other kinds of document that are zipped begin with their media type, as OpenDocument does.
_ZIP_OF = re.compile(rb"PK\x03\x04.{26}mimetype(application/[a-z0-9.+-]+)", re.DOTALL)
# Some writers put other bytes before a PDF's header; readers look this far.
_PDF_HEADER_WITHIN = 1024
_HTML_WITHIN = 2048
# The name of the stream in which Office keeps a document that has a password.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")

_BY_SUFFIX = {
    ".pdf": pdf.CONTENT_TYPE,
    ".txt": plain.CONTENT_TYPE,
    ".text": plain.CONTENT_TYPE,
    ".md": markdown.CONTENT_TYPE,
    ".markdown": markdown.CONTENT_TYPE,
    ".html": html.CONTENT_TYPE,
    ".htm": html.CONTENT_TYPE,
    ".xhtml": html.CONTENT_TYPE,
    ".rtf": _RTF,
    ".eml": mail.CONTENT_TYPE,
    ".doc": _OLE,
    ".xls": _OLE,
    ".ppt": _OLE,
    ".docx": docx.CONTENT_TYPE,
    ".xlsx": xlsx.CONTENT_TYPE,
    ".pptx": pptx.CONTENT_TYPE,
    ".docm": office.WITH_MACROS,
    ".xlsm": office.WITH_MACROS,
    ".pptm": office.WITH_MACROS,
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
    "application/xhtml+xml": html.CONTENT_TYPE,
    "text/x-markdown": markdown.CONTENT_TYPE,
    "text/rtf": _RTF,
    "application/msword": _OLE,
    "application/vnd.ms-excel": _OLE,
    "application/vnd.ms-powerpoint": _OLE,
    "application/vnd.ms-word.document.macroenabled.12": office.WITH_MACROS,
    "application/vnd.ms-excel.sheet.macroenabled.12": office.WITH_MACROS,
    "application/vnd.ms-powerpoint.presentation.macroenabled.12": office.WITH_MACROS,
}
_KNOWN = frozenset(_BY_SUFFIX.values())
# By a word of the media type that an office file gives its main part.
_OFFICE = {
    "wordprocessingml": docx.CONTENT_TYPE,
    "spreadsheetml": xlsx.CONTENT_TYPE,
    "presentationml": pptx.CONTENT_TYPE,
}
_ZIPPED = frozenset({_ZIP, office.WITH_MACROS, *_OFFICE.values()})
# What these are written in does not show which of them it is.
_KINDS_OF_TEXT = frozenset({markdown.CONTENT_TYPE, html.CONTENT_TYPE})


@dataclass(frozen=True, slots=True)
class Found:
    """A media type, and what is written if it is a kind of text, and in which encoding."""

    media_type: str
    written: str = ""
    charset: str = ""


def find(data: bytes, source_name: str, content_type: str) -> Found:
    """What the bytes are, held against what is claimed.

    Raises InvalidInput with TYPE_MISMATCH when they deny it, and with ENCRYPTED_FILE or
    DAMAGED_FILE when that is why it cannot be told.
    """
    claims = _claims(source_name, content_type)
    found = _sniff(data, claims, encoding.declared_in(content_type))
    for claim in claims:
        if found.media_type != claim and not _may_be(found.media_type, claim):
            raise _mismatch(claim, found.media_type)
    kind = next((claim for claim in claims if claim in _KINDS_OF_TEXT), found.media_type)
    return replace(found, media_type=kind)


def _mismatch(claim: str, found: str) -> InvalidInput:
    is_text = claim == plain.CONTENT_TYPE or claim in _KINDS_OF_TEXT
    return InvalidInput(
        f"The file is declared or named as {claim}, and its bytes are {found}; "
        + (
            f"if it is text, say in which encoding: --content-type '{claim}; charset=utf-16-le'."
            if found == _BINARY and is_text
            else "name it as what it is."
        ),
        reason="TYPE_MISMATCH",
    )


def _claims(source_name: str, content_type: str) -> list[str]:
    """The known media types that the declaration and the name's ending stand for."""
    declared = content_type.partition(";")[0].strip().lower()
    declared = _ALIASES.get(declared, declared)
    if declared.startswith("text/") and declared not in _KNOWN:
        declared = plain.CONTENT_TYPE
    named = _BY_SUFFIX.get(PurePosixPath(source_name).suffix.lower(), "")
    return [claim for claim in (declared, named) if claim in _KNOWN]


def _may_be(found: str, claim: str) -> bool:
    """Whether bytes of one type may be claimed to be of another."""
    match found:
        case plain.CONTENT_TYPE:
            return claim in _KINDS_OF_TEXT
        case mail.CONTENT_TYPE:
            return claim == plain.CONTENT_TYPE
        case _:
            return claim == _ZIP and found in _ZIPPED


def _sniff(data: bytes, claims: Collection[str], declared: str) -> Found:
    for signature, media_type in _SIGNATURES:
        if signature.match(data):
            return Found(_kind_within(data, media_type, claims))
    if pdf.CONTENT_TYPE in claims and b"%PDF-" in data[:_PDF_HEADER_WITHIN]:
        return Found(pdf.CONTENT_TYPE)
    # A message that is kept as a text file is text.
    if (not claims or mail.CONTENT_TYPE in claims) and mail.looks_like_mail(data):
        return Found(mail.CONTENT_TYPE)
    if not declared and (html.CONTENT_TYPE in claims or _HTML.match(data)):
        declared = html.declared_charset(data)
    written = encoding.read(data, declared)
    if written is None:
        return Found(_BINARY)
    is_page = _HTML.match(written.text[:_HTML_WITHIN].encode())
    return Found(html.CONTENT_TYPE if is_page else plain.CONTENT_TYPE, *written)


def _kind_within(data: bytes, media_type: str, claims: Collection[str]) -> str:
    """What is in a file that may hold many things."""
    if media_type == _OLE and _ENCRYPTED in data:
        raise InvalidInput(
            "The file is encrypted; save it without its password and send it again.",
            reason="ENCRYPTED_FILE",
        )
    if media_type != _ZIP or (claims and not _ZIPPED.intersection(claims)):
        return media_type
    if named := _ZIP_OF.match(data):
        return named[1].decode()
    with office.opened(data) as package:
        if package.has_macros:
            return office.WITH_MACROS
        return next((kind for word, kind in _OFFICE.items() if word in package.main_type), _ZIP)
