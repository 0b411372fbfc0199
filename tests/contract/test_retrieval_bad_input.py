"""Bad input of every kind, over a real channel: a typed error, and the store is as it was."""

import hashlib
import io
from base64 import b64encode
from contextlib import AsyncExitStack

import grpc
import pytest
import pytest_asyncio
from observed import eventually
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas
from verity.v1 import core_pb2 as core
from verity.v1 import retrieval_service_pb2 as pb

from tests.contract.test_retrieval_bombs import MIB, a_million_pages, nested_filters, understated
from tests.contract.test_retrieval_service import KYC, POLICY, refused, served
from tests.office_files import a_docx
from tests.retrieval_stores import quick_directory

pytestmark = pytest.mark.asyncio(loop_scope="module")

Code = grpc.StatusCode
SHA256 = hashlib.sha256(POLICY).hexdigest()
OTHER_SHA256 = hashlib.sha256(b"other").hexdigest()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def client():
    async with AsyncExitStack() as stack:
        directory = stack.enter_context(quick_directory())
        client = await stack.enter_async_context(served(directory))
        await client.ingested("policy.md", POLICY, supersedes=["old.md"])
        await client.ingested("old.md", b"# 3 Before\n\nAs it was.\n")
        yield client


@pytest_asyncio.fixture(loop_scope="module", autouse=True)
async def as_it_was(client):
    """Every test ends with the store byte for byte as it began."""
    before = await client.stored()
    assert len(before.documents) == 2
    yield
    assert await eventually(lambda: client.parts.ingestor._running == 0)
    after = await client.stored()
    assert after == before
    # The lot is in the snapshot: records, passages, leases and the files' bytes.
    assert all((after.documents, after.passages, after.files))


def encrypted():
    file = io.BytesIO()
    canvas = Canvas(file, encrypt=StandardEncryption("secret", canPrint=0))
    canvas.drawString(72, 720, "hidden")
    canvas.save()
    return file.getvalue()


FILES = {
    "a PDF that unpacks to 1 GiB": (
        "bomb.pdf",
        nested_filters,
        {"DAMAGED_FILE", "TOO_LARGE", "NO_TEXT"},
    ),
    "a PDF that says it has a million pages": (
        "pages.pdf",
        lambda: a_million_pages()[:350_000] + b"]>>",
        {"DAMAGED_FILE", "TOO_LARGE"},
    ),
    "a DOCX that unpacks to 100 MiB": ("bomb.docx", lambda: a_docx(" " * 100 * MIB), {"TOO_LARGE"}),
    "a DOCX that lies about what it unpacks to": ("lies.docx", understated, {"DAMAGED_FILE"}),
    "10,000 nested HTML tags": (
        "nested.html",
        lambda: b"<div>" * 10_000 + b"deep",
        {"TOO_LARGE"},
    ),
    "HTML that says it is a PDF": (
        "page.pdf",
        lambda: b"<html><body><p>words</p></body></html>",
        {"TYPE_MISMATCH"},
    ),
    "a PDF that says it is a DOCX": ("packet.docx", KYC.read_bytes, {"TYPE_MISMATCH"}),
    "a DOCX that says it is a text": (
        "letter.txt",
        lambda: a_docx("<w:p/>"),
        {"TYPE_MISMATCH", "UNSUPPORTED_TYPE"},
    ),
    "a program": ("program.md", lambda: b"\x7fELF\x02\x01\x01" + bytes(90), {"TYPE_MISMATCH"}),
    "a program without a type": ("run", lambda: b"\x7fELF\x02" + bytes(90), {"UNSUPPORTED_TYPE"}),
    "an encrypted PDF": ("locked.pdf", encrypted, {"ENCRYPTED_FILE"}),
    "a PDF that is cut short": ("cut.pdf", lambda: KYC.read_bytes()[:2000], {"DAMAGED_FILE"}),
    "no bytes": ("empty.md", bytes, {"EMPTY_FILE"}),
    "nothing but white space": ("blank.md", lambda: b" \n\n", {"NO_TEXT"}),
    "more bytes than are allowed": ("long.md", lambda: b"word " * 100_000, {"TOO_LARGE"}),
}


@pytest.mark.parametrize("case", FILES)
async def test_a_file_that_cannot_be_taken_is_refused_with_a_reason(client, case):
    name, build, reasons = FILES[case]
    details = await refused(client.ingest(name, build()), Code.INVALID_ARGUMENT)
    assert details["ErrorInfo"].reason in reasons


NAMES = {
    "a path": "folder/file.md",
    "a path of another system": "folder\\file.md",
    "the folder above": "..",
    "this folder": ".",
    "the folder above, in spaces": " .. ",
    "a NUL": "a\x00.md",
    "a line feed": "a\n.md",
    "an escape": "a\x1b[31m.md",
    "a delete": "a\x7f.md",
    "a C1 control": "a\x9b31m.md",
    "a right-to-left override": "invoice\u202efdp.exe",
    "an isolate": "a\u2066b.md",
    "a right-to-left mark": "a\u200fb.md",
    "a zero-width space": "a\u200bb.md",
    "a byte order mark": "\ufeffa.md",
    "a line separator": "a\u2028b.md",
    "a tag character": "a\U000e0041.md",
    "300 characters": "a" * 300,
    "nothing": "",
    "blanks": "  ",
}


@pytest.mark.parametrize("case", NAMES)
@pytest.mark.parametrize("field", ["source_name", "supersedes"])
async def test_a_name_that_is_a_path_or_hides_what_it_is_is_refused(client, field, case):
    if field == "supersedes":
        said = {"source_name": "a.md", "supersedes": ["fine.md", NAMES[case]]}
        wrong = "metadata.supersedes[1]"
    else:
        said, wrong = {"source_name": NAMES[case]}, "metadata.source_name"
    details = await refused(upload(client, {"metadata": said}), Code.INVALID_ARGUMENT)
    assert {v.field for v in details["BadRequest"].field_violations} == {wrong}


@pytest.mark.parametrize(
    "name",
    ["Bericht (endgültig).md", "報告.md", "\u0645\u06cc\u200c\u062e.md", "...", "a..b"],
)
async def test_a_name_in_any_script_is_a_name(client, name):
    # Refused for its bytes, after its name was accepted.
    details = await refused(client.ingest(name, b""), Code.INVALID_ARGUMENT)
    assert details["ErrorInfo"].reason == "EMPTY_FILE"


async def upload(client, *requests):
    stream = iterate([pb.IngestDocumentRequest(**request) for request in requests])
    return [reply async for reply in client.stub.IngestDocument(stream)]


async def iterate(items):
    for item in items:
        yield item


def said(**metadata):
    return {"metadata": {"source_name": "a.md", **metadata}}


UPLOADS = {
    "nothing at all": ([], "metadata"),
    "bytes before the metadata": ([{"chunk": b"x"}, said()], "metadata"),
    "metadata twice": ([said(), {"chunk": b"x"}, said()], "metadata"),
    "a request of neither": ([said(), {}], "part"),
    "a chunk over 1 MiB": ([said(), {"chunk": bytes(MIB + 1)}], "chunk"),
    "a date that is none": ([said(published="2026-02-30")], "metadata.published"),
    "a date in another order": ([said(published="01/02/2026")], "metadata.published"),
    "a date without hyphens": ([said(effective_from="20260102")], "metadata.effective_from"),
    "a date with a time": ([said(effective_to="2026-01-02T00:00")], "metadata.effective_to"),
    "effective_to before effective_from": (
        [said(effective_from="2026-02-01", effective_to="2026-01-01")],
        "metadata.effective_to",
    ),
    "effective_to on effective_from": (
        [said(effective_from="2026-02-01", effective_to="2026-02-01")],
        "metadata.effective_to",
    ),
    "an authority that is none": ([said(authority=9)], "metadata.authority"),
    "a type that is no word": ([said(document_type="Two Words")], "metadata.document_type"),
    "too many tags": ([said(tags=[str(n) for n in range(33)])], "metadata.tags"),
    "a tag that is too long": ([said(tags=["x" * 65])], "metadata.tags[0]"),
    "a document that supersedes itself": ([said(supersedes=["a.md"])], "metadata.supersedes"),
    "documents that supersede each other": (
        [{"metadata": {"source_name": "old.md", "supersedes": ["policy.md"]}}, {"chunk": b"x"}],
        "metadata.supersedes",
    ),
    "a hash that is none": ([said(sha256="x" * 64)], "metadata.sha256"),
    "an offset without a hash": ([said(offset=5)], "metadata.sha256"),
}


@pytest.mark.parametrize("case", UPLOADS)
async def test_an_upload_that_breaks_a_rule_is_refused_by_field(client, case):
    requests, field = UPLOADS[case]
    details = await refused(upload(client, *requests), Code.INVALID_ARGUMENT)
    assert [violation.field for violation in details["BadRequest"].field_violations] == [field]


async def test_two_gigabytes_are_refused_before_a_byte_is_sent(client):
    details = await refused(upload(client, said(size_bytes=2 * 10**9)), Code.INVALID_ARGUMENT)
    assert details["ErrorInfo"].reason == "TOO_LARGE"


@pytest.mark.parametrize("more", [{}, {"sha256": OTHER_SHA256}], ids=["no hash", "a hash"])
async def test_an_upload_that_is_ended_early_is_damaged(client, more):
    call = upload(client, said(size_bytes=100, **more), {"chunk": b"not a hundred"})
    details = await refused(call, Code.INVALID_ARGUMENT)
    assert details["ErrorInfo"].reason == "DAMAGED_FILE"


async def test_an_upload_whose_client_dies_changes_nothing(client):
    for after in range(3):
        call = client.stub.IngestDocument()
        await call.write(pb.IngestDocumentRequest(**said(size_bytes=100, sha256="a" * 64)))
        for _ in range(after):
            await call.read()
            await call.write(pb.IngestDocumentRequest(chunk=b"x"))
        call.cancel()
        assert await eventually(lambda: client.parts.ingestor._running == 0)


async def test_bytes_of_another_hash_than_was_announced_are_damaged(client):
    call = upload(client, said(sha256=OTHER_SHA256, offset=0), {"chunk": b"some bytes"})
    details = await refused(call, Code.INVALID_ARGUMENT)
    assert details["ErrorInfo"].reason == "DAMAGED_FILE"


async def test_an_upload_that_goes_on_where_it_did_not_break_off_is_out_of_range(client):
    await refused(upload(client, said(sha256="b" * 64, offset=7)), Code.OUT_OF_RANGE)


async def test_a_message_over_the_limit_is_refused(client):
    request = said(), {"chunk": bytes(20 * MIB)}
    await refused(upload(client, *request), Code.RESOURCE_EXHAUSTED)


def with_unknown(message, number=99):
    """The message as a later contract would have it, with one field more."""
    key = number << 3  # A varint.
    more = bytes([key & 0x7F | 0x80, key >> 7, 1])
    return type(message).FromString(message.SerializeToString() + more)


def query(**fields):
    return pb.RetrieveRequest(query="funds", **fields)


REQUESTS = {
    "Retrieve": {
        "no query": (pb.RetrieveRequest(), "query"),
        "more passages than are allowed": (query(limit=51), "limit"),
        "an authority that is none": (query(filter={"min_authority": 9}), "filter.min_authority"),
        "an authority that is not said": (
            query(filter={"authorities": [core.AUTHORITY_HIGH, core.AUTHORITY_UNSPECIFIED]}),
            "filter.authorities[1]",
        ),
        "too many documents": (
            query(filter={"document_ids": ["x"] * 101}),
            "filter.document_ids",
        ),
        "a tag that is too long": (query(filter={"tags": ["x" * 65]}), "filter.tags[0]"),
        "a filter that is not known": (
            query(filter=with_unknown(pb.DocumentFilter())),
            "filter.99",
        ),
        "a way of narrowing that is not known": (with_unknown(query()), "99"),
        "a day that is none": (query(as_of="2026-13-01"), "as_of"),
    },
    "ListDocuments": {
        "a page that is too large": (pb.ListDocumentsRequest(page_size=1001), "page_size"),
        "a page token that is none": (pb.ListDocumentsRequest(page_token="x"), "page_token"),
        "a page token of brackets": (
            pb.ListDocumentsRequest(page_token=b64encode(b"[" * 1400).decode()),
            "page_token",
        ),
        "an authority that is not said": (
            pb.ListDocumentsRequest(filter={"authorities": [core.AUTHORITY_UNSPECIFIED]}),
            "filter.authorities[0]",
        ),
        "a standing that is none": (pb.ListDocumentsRequest(standing=9), "standing"),
        "a day that is none": (pb.ListDocumentsRequest(as_of="tomorrow"), "as_of"),
        "a name that is too long": (
            pb.ListDocumentsRequest(name_contains="x" * 256),
            "name_contains",
        ),
        "a filter that is not known": (
            pb.ListDocumentsRequest(filter=with_unknown(pb.DocumentFilter())),
            "filter.99",
        ),
        "a way of narrowing that is not known": (with_unknown(pb.ListDocumentsRequest()), "99"),
    },
    "GetPassage": {
        "no id": (pb.GetPassageRequest(), "passage_id"),
        "more neighbours than are allowed": (
            pb.GetPassageRequest(passage_id="x", neighbours=11),
            "neighbours",
        ),
    },
    "GetDocument": {
        "an id that is too long": (pb.GetDocumentRequest(document_id="x" * 101), "document_id")
    },
    "DeleteDocument": {"no id": (pb.DeleteDocumentRequest(), "document_id")},
    "RenderPage": {
        "page 0": (pb.RenderPageRequest(document_id="x"), "page_number"),
        "a picture that is too small": (
            pb.RenderPageRequest(document_id="x", page_number=1, dpi=20),
            "dpi",
        ),
        "too many highlights": (
            pb.RenderPageRequest(document_id="x", page_number=1, highlights=[core.Span()] * 101),
            "highlights",
        ),
    },
}


@pytest.mark.parametrize(
    ("method", "case"), [(method, case) for method, cases in REQUESTS.items() for case in cases]
)
async def test_a_request_that_breaks_a_rule_is_refused_by_field(client, method, case):
    request, field = REQUESTS[method][case]
    details = await refused(getattr(client.stub, method)(request), Code.INVALID_ARGUMENT)
    assert [violation.field for violation in details["BadRequest"].field_violations] == [field]


@pytest.mark.parametrize("id_", ["x", "../../etc/passwd", "\u202e", "0" * 100, "' OR 1=1"])
async def test_an_id_that_nothing_has_is_not_found(client, id_):
    for call in (
        client.stub.GetDocument(pb.GetDocumentRequest(document_id=id_)),
        client.stub.DeleteDocument(pb.DeleteDocumentRequest(document_id=id_)),
        client.stub.GetPassage(pb.GetPassageRequest(passage_id=id_)),
        client.stub.RenderPage(pb.RenderPageRequest(document_id=id_, page_number=1)),
    ):
        await refused(call, Code.NOT_FOUND)
