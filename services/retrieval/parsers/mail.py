"""E-mail: its headers and its body; what is attached is named and not opened."""

import codecs
import email
import email.errors
import email.header
import re
from collections.abc import Iterator
from email.message import Message

from services.retrieval.document import ParsedDocument
from services.retrieval.parsers import encoding, html, plain
from services.retrieval.parsers.flow import Flow

CONTENT_TYPE = "message/rfc822"

# Subject is the heading, the others stand below it as a reader finds them.
_SHOWN = ("From", "To", "Cc", "Date")
_HEADER = re.compile(
    rb"(?:from|to|cc|date|subject|message-id|mime-version|received|return-path|delivered-to|"
    rb"reply-to|sender|content-type|x-[\w-]+):",
    re.IGNORECASE,
)
_ANY_HEADER = re.compile(rb"(?:[!-9;-~]+:[^\n]*|[ \t][^\n]*|From [^\n]*)\r?\n")
_HEADERS_WITHIN = 64 * 1024
_FEW = 2
_SEEN = {plain.CONTENT_TYPE, html.CONTENT_TYPE}
_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")


def looks_like_mail(data: bytes) -> bool:
    """Whether the bytes begin with the headers of a message, two at least that are well known."""
    data = _begun(data)
    position, known = 0, 0
    while position < _HEADERS_WITHIN and (line := _ANY_HEADER.match(data, position)):
        known += _HEADER.match(data, position) is not None
        position = line.end()
    return known >= _FEW


def parse(data: bytes) -> ParsedDocument:
    """Read a message: subject, sender, recipients and date, then its text.

    Of a body that is sent twice the plain text is read, unless that says far less than the HTML.
    Attachments are named at the end, and so are messages that are attached.
    """
    message = email.message_from_bytes(_begun(data))
    flow = Flow()
    if subject := _words(_header(message, "Subject")):
        flow.heading(f"Subject: {subject}", 1)
    for name in _SHOWN:
        if value := _words(_header(message, name)):
            flow.item(f"{name}: {value}")
    names: list[str] = []
    for part in _chosen(message, names):
        _write(part, flow)
    if names:
        flow.paragraph("Attachments: " + ", ".join(names))
    return flow.document(CONTENT_TYPE)


def _begun(data: bytes) -> bytes:
    """The message without the blank lines that some programs save above its headers."""
    return data.removeprefix(codecs.BOM_UTF8).lstrip(b" \t\r\n")


def _chosen(message: Message, names: list[str]) -> Iterator[Message]:
    """The parts to be read, in order; attachments go to `names` instead."""
    waiting = [message]
    while waiting:
        part = waiting.pop()
        kind = part.get_content_type()
        is_whole = part is message
        if (_is_attachment(part) and not is_whole) or not (
            kind.startswith(("text/", "multipart/")) or (is_whole and part.is_multipart())
        ):
            names.append(_attachment_name(part))
        elif kind == "multipart/alternative":
            waiting += _best(part)
        elif part.is_multipart():
            waiting += reversed(_parts(part))
        else:
            yield part


def _best(alternative: Message) -> list[Message]:
    """Of what says the same, the plain text; else the last, which is the writer's favourite.

    Some programs send a plain text that is blank, or says no more than that there is a page.
    """
    parts = _parts(alternative)[::-1]
    said = {id(part): _length(part) for part in parts}
    enough = max(said.values(), default=0) / 2
    return sorted(
        (part for part in parts if said[id(part)] >= enough),
        key=lambda part: part.get_content_type() != plain.CONTENT_TYPE,
    )[:1]


def _length(part: Message) -> int:
    """How many letters a reader sees of it."""
    flow = Flow()
    for inner in part.walk():
        if inner.get_content_type() in _SEEN and not _is_attachment(inner):
            _write(inner, flow)
    return len("".join(flow.document(CONTENT_TYPE).text.split()))


def _is_attachment(part: Message) -> bool:
    return part.get_content_disposition() == "attachment"


def _parts(part: Message) -> list[Message]:
    payload = part.get_payload()
    return (
        [inner for inner in payload if isinstance(inner, Message)]
        if isinstance(payload, list)
        else []
    )


def _attachment_name(part: Message) -> str:
    name = _words(part.get_filename())
    if not name and part.get_content_type() == CONTENT_TYPE:
        name = next((_words(_header(inner, "Subject")) for inner in _parts(part)), "")
    return name or part.get_content_type()


def _write(part: Message, flow: Flow) -> None:
    text = _text(part)
    if part.get_content_type() == html.CONTENT_TYPE:
        html.write(text, flow)
    else:
        for paragraph in _PARAGRAPH.split(text):
            flow.paragraph(paragraph)


def _text(part: Message) -> str:
    """What is written in a part, which is text because it says so."""
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    declared = str(part.get_content_charset() or "")
    if part.get_content_type() == html.CONTENT_TYPE:
        declared = declared or html.declared_charset(data)
    return encoding.text(data, declared)


def _header(message: Message, name: str) -> str:
    """A header as it was sent; bytes beyond ASCII are lone surrogates."""
    values = (str(value) for key, value in message.raw_items() if key.lower() == name.lower())
    return next(values, "")


def _words(header: str | None) -> str:
    """A header's value with its encoded words decoded, on one line."""
    try:
        pieces = email.header.decode_header(header or "")
    except email.errors.HeaderParseError:
        pieces = [(header or "", None)]
    # A header that has no encoded words comes as text.
    decoded = (
        encoding.decode(
            piece.encode("utf-8", "surrogateescape") if isinstance(piece, str) else piece,
            charset or "",
        )
        for piece, charset in pieces
    )
    return " ".join("".join(filter(None, decoded)).split())
