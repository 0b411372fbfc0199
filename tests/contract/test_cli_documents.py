"""`verity ingest` and `verity documents` against a retrieval service on a real channel."""

import sys

import pytest
from verity.v1 import core_pb2 as core
from verity.v1 import retrieval_service_pb2 as pb
from verity.v1.retrieval_service_pb2_grpc import RetrievalServiceServicer

from services.chassis.errors import InvalidInput, NotFound
from tests.cli_command import served, verity

Reply = pb.IngestDocumentResponse


class FakeRetrieval(RetrievalServiceServicer):
    """Keeps what it is sent; refuses bytes that say so."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.metadata: list[pb.IngestMetadata] = []
        self.chunks: list[int] = []
        self.cancelled = 0

    async def IngestDocument(self, requests, context):
        content = b""
        metadata = None
        async for request in requests:
            if request.WhichOneof("part") == "metadata":
                metadata = request.metadata
                yield Reply(progress={"stage": "STAGE_RECEIVING"})
            else:
                self.chunks.append(len(request.chunk))
                content += request.chunk
                yield Reply(progress={"stage": "STAGE_RECEIVING", "bytes_received": len(content)})
        if content == b"encrypted":
            raise InvalidInput(
                "The file is encrypted; remove its password.", reason="ENCRYPTED_FILE"
            )
        if not content:
            raise InvalidInput("The file is empty.", reason="EMPTY_FILE")
        yield Reply(progress={"stage": "STAGE_EMBEDDING", "passages_total": 2})
        known = metadata.source_name in self.files
        self.files[metadata.source_name] = content
        self.metadata.append(metadata)
        yield Reply(
            result={
                "outcome": "OUTCOME_UNCHANGED" if known else "OUTCOME_CREATED",
                "document": core.Document(id="d1", source_name=metadata.source_name, page_count=3),
            }
        )

    async def ListDocuments(self, request, context):
        page = int(request.page_token or 1)
        document = core.Document(id=f"d{page}", source_name=f"{page}[red].pdf")
        return pb.ListDocumentsResponse(
            documents=[document], next_page_token=str(page + 1) if page < 3 else ""
        )

    async def GetDocument(self, request, context):
        if request.document_id != "d1":
            raise NotFound("No document of this id.")
        return pb.GetDocumentResponse(document=core.Document(id="d1", source_name="a.pdf"))

    async def DeleteDocument(self, request, context):
        return pb.DeleteDocumentResponse(passages_deleted=7)


async def test_bytes_and_what_is_said_of_them_arrive_as_they_are(tmp_path):
    content = bytes(range(256)) * 2500  # 640 kB: three chunks.
    (tmp_path / "policy.pdf").write_bytes(content)
    fake = FakeRetrieval()
    async with served("RetrievalService", fake) as address:
        done = await verity(
            "ingest", "policy.pdf", "--json", "--type", "policy", "--authority", "high",
            "--published", "2025-11-27", "--effective-from", "2026-01-01", "--effective-to",
            "2027-01-01", "--tag", "aml", "--tag", "kyc", "--content-type", "application/pdf",
            "--address", address, cwd=tmp_path,
        )  # fmt: skip
    assert done.code == 0
    assert done.stderr == ""
    assert fake.files == {"policy.pdf": content}
    assert fake.chunks == [262144, 262144, 115712]
    assert fake.metadata == [
        pb.IngestMetadata(
            source_name="policy.pdf",
            document_type="policy",
            authority=core.AUTHORITY_HIGH,
            published="2025-11-27",
            effective_from="2026-01-01",
            effective_to="2027-01-01",
            tags=["aml", "kyc"],
            content_type="application/pdf",
            size_bytes=len(content),
        )
    ]
    (file,) = done.json["files"]
    assert file["outcome"] == "CREATED"
    assert file["document"]["document_id"] == "d1"
    assert done.json["failed"] == 0


async def test_a_file_that_fails_is_named_and_the_others_are_in(tmp_path):
    for name, content in (("a.pdf", b"encrypted"), ("b.pdf", b""), ("c.pdf", b"fine")):
        (tmp_path / name).write_bytes(content)
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "c.pdf").write_bytes(b"other words")
    fake = FakeRetrieval()
    async with served("RetrievalService", fake) as address:
        done = await verity(
            "ingest", "a.pdf", "b.pdf", "gone.pdf", "c.pdf", "again", "--json",
            "--address", address, cwd=tmp_path,
        )  # fmt: skip
        told = await verity("ingest", "a.pdf", "c.pdf", "--address", address, cwd=tmp_path)
    assert done.code == 1
    assert fake.files == {"c.pdf": b"fine"}
    files = {file["path"]: file for file in done.json["files"]}
    assert files["a.pdf"]["error"]["code"] == "INVALID_ARGUMENT"
    assert files["a.pdf"]["error"]["reason"] == "ENCRYPTED_FILE"
    assert files["b.pdf"]["error"]["reason"] == "EMPTY_FILE"
    assert files["gone.pdf"]["error"]["code"] == "UNREADABLE"
    assert files["c.pdf"]["outcome"] == "CREATED"
    assert files["again/c.pdf"]["error"]["code"] == "ALREADY_EXISTS"
    assert done.json["failed"] == 4
    assert told.code == 1
    assert "✗ a.pdf: error: The file is encrypted; remove its password. (ENCRYPTED" in told.stdout
    assert "✓ c.pdf unchanged" in told.stdout


async def test_a_wrong_date_is_refused_by_name(tmp_path):
    (tmp_path / "a.md").write_text("x")
    async with served("RetrievalService", FakeRetrieval()) as address:
        done = await verity(
            "ingest", "a.md", "--published", "soon", "--json", "--address", address, cwd=tmp_path
        )
    (violation,) = done.json["files"][0]["error"]["violations"]
    assert violation["field"] == "metadata.published"


async def test_a_folder_without_documents_is_an_error(tmp_path):
    done = await verity("ingest", ".", "--address", "127.0.0.1:1", cwd=tmp_path)
    assert done.code == 1
    assert "No file there ends in .docx, .eml, .htm, .html, .markdown, .md, .pdf," in done.stderr


async def test_a_service_that_is_down_fails_each_file_in_one_line(tmp_path):
    (tmp_path / "a.md").write_text("x")
    done = await verity("ingest", "a.md", "--address", "127.0.0.1:1", cwd=tmp_path)
    assert done.code == 1
    assert "Nothing answers for RetrievalService at 127.0.0.1:1." in done.stdout
    assert done.stderr == ""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file that opens and cannot be read")
async def test_a_file_that_breaks_off_while_it_is_read_is_not_ingested(tmp_path):
    fake = FakeRetrieval()
    async with served("RetrievalService", fake) as address:
        done = await verity(
            "ingest", "/proc/self/mem", "--json", "--address", address, cwd=tmp_path
        )
    assert done.code == 1
    assert done.json["files"][0]["error"]["message"] == "It cannot be read: Input/output error."
    assert fake.files == {}


async def test_the_pages_of_the_documents_are_one_list(tmp_path):
    async with served("RetrievalService", FakeRetrieval()) as address:
        listed = await verity("documents", "list", "--json", "--address", address, cwd=tmp_path)
        told = await verity("documents", "list", "--address", address, cwd=tmp_path)
    assert [one["document_id"] for one in listed.json["documents"]] == ["d1", "d2", "d3"]
    assert "2[red].pdf" in told.stdout


async def test_a_document_is_shown_and_an_unknown_one_is_an_error(tmp_path):
    async with served("RetrievalService", FakeRetrieval()) as address:
        environment = {"VERITY_RETRIEVAL_ADDRESS": address}
        shown = await verity("documents", "show", "d1", cwd=tmp_path, **environment)
        unknown = await verity("documents", "show", "d9", "--json", cwd=tmp_path, **environment)
    assert "a.pdf" in shown.stdout
    assert unknown.code == 1
    assert unknown.json["error"]["code"] == "NOT_FOUND"


async def test_a_document_is_deleted_and_that_is_said(tmp_path):
    async with served("RetrievalService", FakeRetrieval()) as address:
        done = await verity("documents", "delete", "d1", "--address", address, cwd=tmp_path)
    assert done.stdout == "Removed d1 with its 7 passages.\n"
