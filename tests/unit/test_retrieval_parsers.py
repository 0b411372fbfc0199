"""What a file is taken for, and how one that cannot be read is refused."""

import io
import zipfile

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from services.chassis.errors import InvalidInput
from services.retrieval.parsers import docx, parse, xlsx
from tests.office_files import a_docx, an_xlsx, zipped


def a_pdf(pages=("Hello there.",), **options):
    out = io.BytesIO()
    canvas = Canvas(out, **options)
    for words in pages:
        canvas.drawString(72, 700, words)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def refusal(data, name, content_type="", **options):
    with pytest.raises(InvalidInput) as caught:
        parse(data, name, content_type, **options)
    return caught.value.reason


PDF = a_pdf()
TEXT = b"Plain words."
PAGE = b"<!DOCTYPE html><title>A</title><p>words"
MAIL = b"From: a@b.example\r\nSubject: Limits\r\n\r\nThe limit is 5%.\r\n"
DOCX = a_docx("<w:p><w:r><w:t>Words</w:t></w:r></w:p>")
XLSX = an_xlsx({"Sheet1": '<row r="1"><c r="A1"><v>5</v></c></row>'})
# As Office writes a document that has a password: an old container around it.
LOCKED_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le")


@pytest.mark.parametrize(
    ("data", "name", "declared", "found"),
    [
        (PDF, "policy.pdf", "", "application/pdf"),
        (PDF, "policy.pdf", "application/pdf", "application/pdf"),
        (PDF, "no-suffix", "application/octet-stream", "application/pdf"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + PDF, "saved.pdf", "", "application/pdf"),
        (TEXT, "notes.txt", "", "text/plain"),
        (TEXT, "notes.TXT", "Text/Plain; charset=utf-8", "text/plain"),
        (TEXT, "Policy v4.2", "", "text/plain"),
        (TEXT, "log.csv", "text/csv", "text/plain"),
        (TEXT, "notes.md", "", "text/markdown"),
        (TEXT, "notes.md", "text/plain", "text/markdown"),
        (TEXT, "notes.txt", "text/markdown", "text/markdown"),
        (b"A PDF starts with\n%PDF-1.7\n", "about.md", "", "text/markdown"),
        (PAGE, "page.html", "", "text/html"),
        (PAGE, "page", "", "text/html"),
        (b"<p>a part of a page", "part.htm", "text/html; charset=utf-8", "text/html"),
        (PAGE.decode().encode("utf-16"), "page.html", "", "text/html"),
        (MAIL, "letter.eml", "", "message/rfc822"),
        (MAIL, "letter", "", "message/rfc822"),
        (MAIL, "letter.eml", "text/plain", "message/rfc822"),
        (MAIL, "letter.txt", "", "text/plain"),
        (DOCX, "policy.docx", "", docx.CONTENT_TYPE),
        (DOCX, "policy", "application/zip", docx.CONTENT_TYPE),
        (XLSX, "figures.xlsx", "application/octet-stream", xlsx.CONTENT_TYPE),
    ],
)
def test_the_bytes_say_what_a_file_is_and_its_name_which_kind_of_text(data, name, declared, found):
    assert parse(data, name, declared).content_type == found


@pytest.mark.parametrize(
    ("data", "name", "declared", "reason"),
    [
        (b"", "policy.pdf", "", "EMPTY_FILE"),
        (TEXT, "policy.pdf", "", "TYPE_MISMATCH"),
        (TEXT, "policy", "application/pdf", "TYPE_MISMATCH"),
        (PDF, "policy.txt", "", "TYPE_MISMATCH"),
        (PDF, "policy.pdf", "text/plain", "TYPE_MISMATCH"),
        (PDF, "policy.docx", "", "TYPE_MISMATCH"),
        (b"PK\x03\x04rest", "policy.pdf", "", "TYPE_MISMATCH"),
        (b"<!DOCTYPE html><p>words", "page.txt", "", "TYPE_MISMATCH"),
        (DOCX, "policy.xlsx", "", "TYPE_MISMATCH"),
        (XLSX, "policy.docx", "", "TYPE_MISMATCH"),
        (DOCX, "policy.pdf", "", "TYPE_MISMATCH"),
        (TEXT, "policy.docx", "", "TYPE_MISMATCH"),
        (TEXT, "letter.eml", "", "TYPE_MISMATCH"),
        (PDF, "page.html", "", "TYPE_MISMATCH"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest", "policy.docx", "", "TYPE_MISMATCH"),
        (a_docx("<w:p/>", macros=True), "policy.docx", "", "TYPE_MISMATCH"),
        (a_docx("<w:p/>", macros=True), "policy.docm", "", "UNSUPPORTED_TYPE"),
        (a_docx("<w:p/>", kind="presentationml.presentation"), "a.pptx", "", "NO_TEXT"),
        (a_docx("<w:p/>", kind="presentationml.presentation"), "a.docx", "", "TYPE_MISMATCH"),
        (zipped({"readme.txt": "words"}), "files.zip", "", "UNSUPPORTED_TYPE"),
        (zipped({"readme.txt": "words"}), "policy.docx", "", "TYPE_MISMATCH"),
        (LOCKED_OFFICE, "policy.docx", "", "ENCRYPTED_FILE"),
        (b"PK\x03\x04rest", "policy.docx", "", "DAMAGED_FILE"),
        (DOCX[: len(DOCX) // 2], "policy.docx", "", "DAMAGED_FILE"),
        (a_docx("<w:p><w:r></w:p>"), "policy.docx", "", "DAMAGED_FILE"),
        (a_docx("<w:p/>"), "policy.docx", "", "NO_TEXT"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest", "old.doc", "", "UNSUPPORTED_TYPE"),
        (b"{\\rtf1 words}", "letter.rtf", "", "UNSUPPORTED_TYPE"),
        (b"\x89PNG\r\n\x1a\nrest", "scan.png", "image/png", "UNSUPPORTED_TYPE"),
        (b"\x00\x01\x02 words", "notes", "", "UNSUPPORTED_TYPE"),
        (b"%PDF-1.7\nthat is all", "policy.pdf", "", "DAMAGED_FILE"),
        (PDF[: len(PDF) // 2], "policy.pdf", "", "DAMAGED_FILE"),
        (b"\xff\xfeodd", "notes.txt", "", "DAMAGED_FILE"),
        (b" \n\t\n", "notes.txt", "", "NO_TEXT"),
        (b"<html><script>words()</script>", "page.html", "", "NO_TEXT"),
        (a_pdf(["", ""]), "scan.pdf", "", "NO_TEXT"),
        (a_pdf(encrypt=StandardEncryption("secret")), "policy.pdf", "", "ENCRYPTED_FILE"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_cause(data, name, declared, reason):
    assert refusal(data, name, declared) == reason


def test_a_pdf_that_opens_without_a_password_is_read_though_its_printing_is_restricted():
    restricted = StandardEncryption("", ownerPassword="owner", canPrint=0, canCopy=0)
    assert parse(a_pdf(encrypt=restricted), "policy.pdf").text == "Hello there."


def test_a_file_of_as_many_pages_as_allowed_is_read_and_one_page_more_is_refused():
    assert len(parse(a_pdf(["a", "b"]), "a.pdf", max_pages=2).pages) == 2
    assert refusal(a_pdf(["a", "b", "c"]), "a.pdf", max_pages=2) == "TOO_LARGE"
    assert len(parse(b"a\fb", "a.txt", max_pages=2).pages) == 2
    assert refusal(b"a\fb\fc", "a.txt", max_pages=2) == "TOO_LARGE"


def test_a_refusal_says_nothing_of_what_is_in_the_file():
    with pytest.raises(InvalidInput) as caught:
        parse(b"my secret words", "policy.pdf")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", ["policy.odt", "policy.docx", "policy"])
def test_another_kind_of_zipped_document_is_refused_by_what_it_says_it_is(name):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", "<a/>")
    with pytest.raises(InvalidInput, match=r"application/vnd\.oasis\.opendocument\.text[ ;]"):
        parse(out.getvalue(), name)


@pytest.mark.parametrize(("count", "told"), [(1, 1), (3, 3), (250, 100)])
def test_the_pages_of_a_pdf_are_told_as_they_are_read_up_to_the_last(count, told):
    heard = []
    parse(a_pdf(["Words."] * count), "a.pdf", on_pages=lambda *pages: heard.append(pages))
    assert len(heard) == told
    assert heard == sorted(heard)
    assert heard[-1] == (count, count)


def test_text_in_an_encoding_that_cannot_be_told_is_refused_with_what_to_say():
    data = "手数料は五パーセントです。".encode("utf-16-le")
    with pytest.raises(InvalidInput, match=r"--content-type 'text/plain; charset=utf-16-le'"):
        parse(data, "notes.txt")
    assert parse(data, "notes.txt", "text/plain; charset=utf-16-le").text == data.decode(
        "utf-16-le"
    )
