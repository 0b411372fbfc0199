"""`verity ingest` and `verity documents` against a retrieval service on a real channel."""

import asyncio
import hashlib
import os
import signal
import sys

import psutil
import pytest
from verity.v1 import core_pb2 as core
from verity.v1 import retrieval_service_pb2 as pb
from verity.v1.retrieval_service_pb2_grpc import RetrievalServiceServicer

from services.chassis.errors import InvalidInput, NotFound, Overloaded
from tests.cli_command import served, verity

Reply = pb.IngestDocumentResponse


class FakeRetrieval(RetrievalServiceServicer):
    """Keeps what it is sent; refuses bytes that say so."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.metadata: list[pb.IngestMetadata] = []
        self.chunks: list[int] = []
        self.listed: list[pb.ListDocumentsRequest] = []

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
        self.listed.append(request)
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
            sha256=hashlib.sha256(content).hexdigest(),
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
            "ingest", "a.pdf", "b.pdf", "gone.pdf", "c.pdf", "again", "*.dpf", "--json",
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
    assert files["again/c.pdf"]["error"]["message"].startswith("c.pdf has this name too")
    assert files["*.dpf"]["error"]["message"] == "No file matches this."
    assert done.json["left_out"] == []
    assert done.json["failed"] == 5
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
    fake = FakeRetrieval()
    async with served("RetrievalService", fake) as address:
        listed = await verity("documents", "list", "--json", "--address", address, cwd=tmp_path)
        told = await verity(
            "documents", "list", "--type", "law", "--type", "policy", "--authority", "medium",
            "--tag", "eu", "--name", "act", "--standing", "superseded", "--as-of", "2026-01-02",
            "--address", address, cwd=tmp_path,
        )  # fmt: skip
    assert fake.listed[0] == pb.ListDocumentsRequest(page_size=1000, filter=pb.DocumentFilter())
    assert fake.listed[-1] == pb.ListDocumentsRequest(
        page_size=1000,
        page_token="3",
        filter=pb.DocumentFilter(
            document_types=["law", "policy"], min_authority=core.AUTHORITY_MEDIUM, tags=["eu"]
        ),
        name_contains="act",
        standing=pb.ListDocumentsRequest.STANDING_SUPERSEDED,
        as_of="2026-01-02",
    )
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


class BusyRetrieval(FakeRetrieval):
    """Has room for two files at a time, and holds each until two are there, if that many come."""

    def __init__(self) -> None:
        super().__init__()
        self.running = self.most = self.refused = 0
        self.two = asyncio.Event()

    async def IngestDocument(self, requests, context):
        if self.running == 2:
            self.refused += 1
            raise Overloaded("2 files are being ingested, which is the limit.", retry_after=1.0)
        self.running += 1
        self.most = max(self.most, self.running)
        if self.running == 2:
            self.two.set()
        try:
            await self.two.wait()
            async for reply in super().IngestDocument(requests, context):
                yield reply
        finally:
            self.running -= 1


async def test_several_files_are_on_their_way_at_once_and_those_without_room_wait(tmp_path):
    for number in range(6):
        (tmp_path / f"{number}.md").write_text(f"text {number}")
    fake = BusyRetrieval()
    async with served("RetrievalService", fake) as address:
        done = await verity(
            "ingest", ".", "--workers", "3", "--json", "--address", address, cwd=tmp_path
        )
    assert done.code == 0
    assert [file["path"] for file in done.json["files"]] == [f"{n}.md" for n in range(6)]
    assert {file["outcome"] for file in done.json["files"]} == {"CREATED"}
    assert fake.most == 2
    assert fake.refused >= 1


async def test_what_a_folder_says_of_its_documents_arrives_with_them(tmp_path):
    (tmp_path / "laws").mkdir()
    (tmp_path / "laws" / "a.md").write_text("a")
    (tmp_path / "laws" / "b.md").write_text("b")
    (tmp_path / "laws" / "corpus.yaml").write_text(
        "documents:\n"
        "  - {file: a.md, type: law, authority: high, published: 2026-01-02, tags: [x, y],\n"
        "     effective_to: null, supersedes: [b.md]}\n"
    )
    fake = FakeRetrieval()
    async with served("RetrievalService", fake) as address:
        done = await verity(
            "ingest", "laws", "--type", "note", "--effective-to", "2030-01-01", "--json",
            "--workers", "1", "--address", address, cwd=tmp_path,
        )  # fmt: skip
    assert done.code == 0
    a, b = sorted(fake.metadata, key=lambda metadata: metadata.source_name)
    assert (a.document_type, a.authority, a.published) == ("law", core.AUTHORITY_HIGH, "2026-01-02")
    assert (list(a.tags), list(a.supersedes), a.effective_to) == (["x", "y"], ["b.md"], "")
    assert (b.document_type, b.authority, b.effective_to) == (
        "note",
        core.AUTHORITY_STANDARD,
        "2030-01-01",
    )


class HalfThere(FakeRetrieval):
    """Has the first bytes of every file."""

    async def IngestDocument(self, requests, context):
        metadata = (await anext(requests)).metadata
        yield Reply(progress={"stage": "STAGE_RECEIVING", "bytes_received": 5})
        self.files[metadata.source_name] = b"".join([r.chunk async for r in requests])
        document = core.Document(id="d1", source_name=metadata.source_name)
        yield Reply(result={"outcome": "OUTCOME_METADATA_UPDATED", "document": document})


async def test_only_the_bytes_that_are_not_there_are_sent(tmp_path):
    (tmp_path / "a.md").write_text("12345678")
    fake = HalfThere()
    async with served("RetrievalService", fake) as address:
        done = await verity("ingest", "a.md", "--address", address, cwd=tmp_path)
    assert fake.files == {"a.md": b"678"}
    assert "✓ a.md metadata updated" in done.stdout


class InterruptingRetrieval(FakeRetrieval):
    """Takes the first file, and interrupts the command at the second."""

    async def IngestDocument(self, requests, context):
        if self.files:
            (child,) = [int(pid) for pid in self.pid()]
            os.kill(child, signal.SIGINT)
            await asyncio.Event().wait()
        async for reply in super().IngestDocument(requests, context):
            yield reply


async def test_an_interrupted_command_says_what_is_in_and_what_is_not(tmp_path):
    for name in ("a.md", "b.md", "c.md"):
        (tmp_path / name).write_text(name)
    fake = InterruptingRetrieval()
    fake.pid = lambda: [
        p.pid
        for p in psutil.process_iter()
        if p.status() != psutil.STATUS_ZOMBIE and _cwd(p) == str(tmp_path)
    ]
    async with served("RetrievalService", fake) as address:
        done = await verity(
            "ingest", ".", "--workers", "1", "--json", "--address", address, cwd=tmp_path
        )
    assert done.code == 130
    assert done.json["interrupted"] is True
    a, b, c = done.json["files"]
    assert a["outcome"] == "CREATED"
    assert b["error"]["code"] == c["error"]["code"] == "CANCELLED"
    assert done.stderr == ""


def _cwd(process):
    try:
        return process.cwd()
    except psutil.Error:
        return ""
