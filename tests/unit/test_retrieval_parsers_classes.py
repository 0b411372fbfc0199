"""Each kind of file that breaks parsers ends in its text, or in a reason, on files made here."""

import io
import zlib

import PIL.Image
import pypdfium2
import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from services.chassis.errors import InvalidInput
from services.retrieval.document import ParsedDocument
from services.retrieval.reading import read
from services.verification.evidence import Passage
from services.verification.quotes import locate
from services.verification.source import Source
from tests.office_files import a_docx, an_xlsx, zipped

HEBREW = "שלום עולם"
# "Work and production"; the lam and alef of its second word are one glyph.
ARABIC = "العمل والإنتاج"
CHINESE = "客戶盡職審查必須完成"


def drawn(*lines, size=A4, **options):
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=size, **options)
    for number, line in enumerate(lines):
        canvas.drawString(72, size[1] - 90 - 14 * number, line)
    canvas.save()
    return out.getvalue()


def glyphs(letters, *, meanings=None):
    """A PDF whose glyphs, from left to right, stand for these letters, or for what is said."""
    meanings = meanings or letters
    codes = {letter: 0x21 + place for place, letter in enumerate(dict.fromkeys(letters))}
    known = dict(zip(letters, meanings, strict=True))
    lines = [
        f"<{code:02X}> <{known[letter].encode('utf-16-be').hex()}>"
        for letter, code in codes.items()
        if known[letter]
    ]
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def "
        "1 begincodespacerange <00> <FF> endcodespacerange "
        f"{len(lines)} beginbfchar {' '.join(lines)} endbfchar endcmap end end"
    )
    shown = "".join(f"{codes[letter]:02X}" for letter in letters)
    return pdf_of(f"BT /F 14 Tf 72 700 Td <{shown}> Tj ET", cmap)


def pdf_of(content, cmap="", *, filtered=b""):
    """A PDF of one page, written by hand."""
    streams = [content.encode("latin-1"), cmap.encode()]
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources 7 0 R>>",
        *(b"<</Length %d>>stream\n%s\nendstream" % (len(s), s) for s in streams),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 5 0 R>>"
        if cmap
        else b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        b"<</Font<</F 6 0 R>>>>",
    ]
    if filtered:
        objects[3] = b"<</Length %d/Filter[/FlateDecode]>>stream\n%s\nendstream" % (
            len(filtered),
            filtered,
        )
    out = b"%PDF-1.7\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj%s endobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1,
        start,
    )


def turned(data, rotation):
    with pypdfium2.PdfDocument(data) as pdf:
        pdf[0].set_rotation(rotation)
        out = io.BytesIO()
        pdf.save(out)
    return out.getvalue()


def scanned():
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.drawImage(ImageReader(PIL.Image.new("L", (40, 40), 128)), 72, 400, 200, 200)
    canvas.save()
    return out.getvalue()


def side_by_side():
    left = [f"The left column says in its line {n}," for n in range(8)]
    right = [f"and the right one says in line {n}," for n in range(8)]
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.setFont("Helvetica", 10)
    for number, (one, other) in enumerate(zip(left, right, strict=True)):
        canvas.drawString(60, 700 - 12 * number, one)
        canvas.drawString(320, 700 - 12 * number, other)
    canvas.save()
    return out.getvalue()


def a_form():
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.drawString(72, 700, "Name of the owner")
    canvas.acroForm.textfield(name="owner", value="Ada Low", x=200, y=690, width=100, height=20)
    canvas.save()
    return out.getvalue()


def running_on(pages):
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    for number in range(pages):
        canvas.drawString(72, 700, f"Page {number} is one of many.")
        canvas.showPage()
    canvas.save()
    return out.getvalue()


WORDS = "The owner gives proof."
PLAIN = drawn(WORDS)
MAIL = (
    b"From: =?utf-8?q?J=C3=BCrgen?= <j@b.example>\r\nSubject: Limits\r\nMIME-Version: 1.0\r\n"
    b'Content-Type: text/plain; charset="iso-8859-1"\r\n'
    b"Content-Transfer-Encoding: quoted-printable\r\n\r\nDie Geb=FChr ist 5%.\r\n"
)

READ = {
    "hyphenation": (drawn("The third-party pro-", "vider signs."), "a.pdf", "pro-\nvider signs."),
    "two columns": (side_by_side(), "a.pdf", "in its line 0,\nThe left column says in its line 1,"),
    "right to left": (glyphs(HEBREW[::-1]), "a.pdf", HEBREW),
    "CJK": (glyphs(CHINESE), "a.pdf", CHINESE),
    "ligatures": (glyphs("f@ce", meanings=["o", "\ufb03", "c", "e"]), "a.pdf", "office"),
    "a ligature from right to left": (
        glyphs("جاتن@او لمعلا", meanings=[*"جاتن", "\u0644\u0625", *"او لمعلا"]),
        "a.pdf",
        ARABIC,
    ),
    "private use": (glyphs("abc", meanings=["a", "\ue000", "c"]), "a.pdf", "a\ue000c"),
    "no meaning": (glyphs("1x4", meanings=["1", "\x01", "4"]), "a.pdf", "1\ufffd4"),
    "turned by 90": (turned(PLAIN, 90), "a.pdf", WORDS),
    "turned by 180": (turned(PLAIN, 180), "a.pdf", WORDS),
    "turned by 270": (turned(PLAIN, 270), "a.pdf", WORDS),
    "restricted": (
        drawn(WORDS, encrypt=StandardEncryption("", ownerPassword="o", canCopy=0)),
        "a.pdf",
        WORDS,
    ),
    "form": (a_form(), "a.pdf", "Name of the owner\nAda Low"),
    "bytes before the header": (b"\x00\x00junk\n" + PLAIN, "a.pdf", WORDS),
    "cross-reference table lost": (PLAIN.replace(b"startxref", b"startxxxx"), "a.pdf", WORDS),
    "long": (running_on(120), "a.pdf", "Page 119 is one of many."),
    "DOCX": (a_docx(f"<w:p><w:r><w:t>{WORDS}</w:t></w:r></w:p>"), "a.docx", WORDS),
    "XLSX": (an_xlsx({"S": '<row r="1"><c r="A1"><v>5</v></c></row>'}), "a.xlsx", "5"),
    "HTML": (f"<!DOCTYPE html><p>{WORDS}</p>".encode("utf-16"), "a.html", WORDS),
    "EML": (MAIL, "a.eml", "Die Gebühr ist 5%."),
    "Markdown": (f"# 4.2 Owners\n\n{WORDS}\n".encode(), "a.md", WORDS),
    "text in an old encoding": ("Gebühr für Prüfung".encode("cp1252"), "a.txt", "Gebühr für"),
}

REFUSED = {
    "encrypted": (drawn(WORDS, encrypt=StandardEncryption("secret")), "a.pdf", "ENCRYPTED_FILE"),
    "scanned": (scanned(), "a.pdf", "NO_TEXT"),
    "garbled": (glyphs("abc", meanings=["\ufffd"] * 3), "a.pdf", "NO_TEXT"),
    "cut off": (PLAIN[: len(PLAIN) // 2], "a.pdf", "DAMAGED_FILE"),
    "nothing but a header": (b"%PDF-1.7\n", "a.pdf", "DAMAGED_FILE"),
    "PDF bomb": (
        pdf_of("", filtered=zlib.compress(b" " * 50_000_000, 9)),
        "a.pdf",
        "NO_TEXT",
    ),
    "zip bomb": (
        zipped({"word/document.xml": b"0" * 300_000_000, "[Content_Types].xml": "<Types/>"}),
        "a.docx",
        "TYPE_MISMATCH",
    ),
    "nested without end": (
        b"<!DOCTYPE html>" + b"<div>" * 10_000 + b"words" + b"</div>" * 10_000,
        "a.html",
        "TOO_LARGE",
    ),
    "RTF": (b"{\\rtf1 words}", "a.rtf", "UNSUPPORTED_TYPE"),
    "a picture": (b"\x89PNG\r\n\x1a\nrest", "a.png", "UNSUPPORTED_TYPE"),
    "a type that lies": (WORDS.encode(), "a.pdf", "TYPE_MISMATCH"),
}


def whole(document: ParsedDocument, chunks) -> bool:
    return "".join(document.text[c.start : c.end] for c in chunks) == document.text


@pytest.mark.parametrize("kind", READ)
def test_a_file_of_this_kind_is_read_whole_and_can_be_quoted(kind):
    data, name, words = READ[kind]
    reading = read(data, name, "")
    assert words in reading.document.text
    assert whole(reading.document, reading.chunks)
    if any(map(str.isalpha, words)):
        assert locate(Source(Passage("p", reading.document.text)), words)


@pytest.mark.parametrize("kind", REFUSED)
def test_a_file_of_this_kind_is_refused_with_a_reason(kind):
    data, name, reason = REFUSED[kind]
    with pytest.raises(InvalidInput) as caught:
        read(data, name, "")
    assert caught.value.reason == reason
