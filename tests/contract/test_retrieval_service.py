"""RetrievalService over a real channel, with the real reader on the sample files."""

import asyncio
import hashlib
import io
import struct
import threading
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from observed import eventually
from opentelemetry.trace import SpanKind
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas
from retrieval_parts import WordEmbedder, everything, put_together, servicer
from retrieval_stores import edge
from verity.v1 import core_pb2 as core
from verity.v1 import retrieval_service_pb2 as pb
from verity.v1.retrieval_service_pb2_grpc import (
    RetrievalServiceStub,
    add_RetrievalServiceServicer_to_server,
)

from services.chassis.client import channel
from services.chassis.server import Service, serving
from services.chassis.settings import Settings
from services.retrieval.isolated_reader import IsolatedReader
from services.retrieval.isolation import Worker
from services.retrieval.servicer import DEADLINES

Code = grpc.StatusCode
SAMPLES = Path(__file__).parents[2] / "samples"
KYC = SAMPLES / "KYC_Packet_Halcyon_Trading.pdf"
NAME = "verity.v1.RetrievalService"
POLICY = b"# 4 Ownership\n\nA UBO above 25% must submit a notarized proof of funds.\n"
AMENDED = b"# 4 Ownership\n\nA UBO above 10% must submit a certified proof of funds.\n"


class Client:
    """The stub, with what tests do all the time made short."""

    def __init__(self, stub, parts):
        self.stub = stub
        self.parts = parts

    async def ingest(self, name, data, *, chunk=256 * 1024, **metadata):
        metadata = pb.IngestMetadata(source_name=name, **metadata)
        requests = [pb.IngestDocumentRequest(metadata=metadata)]
        requests += [
            pb.IngestDocumentRequest(chunk=data[start : start + chunk])
            for start in range(0, len(data), chunk)
        ]
        return [reply async for reply in self.stub.IngestDocument(iter_async(requests))]

    async def ingested(self, name, data, **metadata):
        """The document, when it is sure to be new or replaced."""
        *_, last = await self.ingest(name, data, **metadata)
        assert last.result.outcome != pb.IngestDocumentResponse.Result.OUTCOME_UNCHANGED
        return last.result.document

    async def retrieve(self, query, **fields):
        return await self.stub.Retrieve(pb.RetrieveRequest(query=query, **fields))

    async def texts(self, query, **fields):
        return [passage.text for passage in (await self.retrieve(query, **fields)).passages]

    async def stored(self):
        return await everything(self.parts, "default")


async def iter_async(items):
    for item in items:
        yield item


@pytest.fixture(scope="module")
def encrypted():
    file = io.BytesIO()
    canvas = Canvas(file, encrypt=StandardEncryption("secret", canPrint=0))
    canvas.drawString(72, 720, "hidden")
    canvas.save()
    return file.getvalue()


@asynccontextmanager
async def served(directory, embedder=None):
    async with (
        edge(directory) as index,
        Worker().running() as worker,
        put_together(
            index,
            directory,
            reader=IsolatedReader(worker, seconds=30, ocr_seconds=15),
            embedder=embedder,
            max_bytes=400_000,
        ) as parts,
        serving(
            Service(
                NAME,
                add_RetrievalServiceServicer_to_server,
                servicer(parts, worker),
                DEADLINES,
            ),
            Settings(max_in_flight=100),
        ) as running,
        channel(running.address, service=NAME, idempotent=[]) as opened,
    ):
        yield Client(RetrievalServiceStub(opened), parts)


@pytest.fixture
async def client(directory):
    async with served(directory) as client:
        yield client


async def refused(call, code):
    """The details of the status that a call must end with."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    assert caught.value.code() is code, caught.value.details()
    status = rpc_status.from_call(caught.value)
    found = {}
    for detail in status.details if status else ():
        for kind in (error_details_pb2.ErrorInfo, error_details_pb2.BadRequest):
            if detail.Is(kind.DESCRIPTOR):
                found[kind.__name__] = kind.FromString(detail.value)
    return found


async def test_a_pdf_goes_in_and_its_passages_come_out_with_page_and_place(client):
    events = await client.ingest(
        KYC.name,
        KYC.read_bytes(),
        document_type="kyc",
        authority=core.AUTHORITY_MEDIUM,
        tags=["b", "a", "b"],
        size_bytes=KYC.stat().st_size,
    )
    *progress, last = events
    stages = [event.progress.stage for event in progress]
    assert stages == sorted(stages)
    assert set(stages) == {1, 2, 3, 4}
    document = last.result.document
    assert last.result.outcome == pb.IngestDocumentResponse.Result.OUTCOME_CREATED
    assert document.page_count >= 12
    pages = [event.progress.pages_parsed for event in progress if event.progress.stage == 2]
    assert pages == list(range(document.page_count + 1))
    assert document.content_type == "application/pdf"
    assert document.tags == ["b", "a"]
    assert document.ingest_time.seconds > 1_700_000_000
    assert progress[-1].progress.passages_embedded == document.passage_count

    reply = await client.retrieve("proof of funds not notarized", limit=3)
    assert len(reply.passages) == 3
    assert len(reply.report.nearest_misses) == 5
    assert reply.report.document_count == 1
    assert reply.report.passage_count == document.passage_count
    assert reply.report.query == "proof of funds not notarized"
    for passage in reply.passages:
        assert passage.document_id == document.id
        assert passage.document_sha256 == document.sha256
        assert passage.document_type == "kyc"
        assert 1 <= passage.page_number <= document.page_count
        assert passage.span.end - passage.span.start == len(passage.text)
        assert passage.regions
        for region in passage.regions:
            assert 0 <= region.span.start < region.span.end <= len(passage.text)
            assert 0 <= region.box.left < region.box.right <= 612
        got = await client.stub.GetPassage(pb.GetPassageRequest(passage_id=passage.id))
        passage.score = 0
        assert got.passage == passage
    got = await client.stub.GetDocument(pb.GetDocumentRequest(document_id=document.id))
    assert got.document == document


async def test_a_document_says_which_of_its_pages_were_recognized_in_pictures(
    directory, tmp_path, monkeypatch
):
    program = tmp_path / "tesseract"
    word = "5\\t1\\t1\\t1\\t1\\t1\\t300\\t300\\t200\\t40\\t87.5\\tNotarized\\n"
    program.write_text(f"#!/bin/sh\n/bin/cat >/dev/null\nprintf '{word}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    file = io.BytesIO()
    canvas = Canvas(file)
    canvas.rect(72, 72, 100, 100, fill=1)
    canvas.showPage()
    canvas.drawString(72, 720, "Proof of funds")
    canvas.save()
    async with served(directory) as client:
        await client.ingested("scan.pdf", file.getvalue())
        (document,) = (await client.stub.ListDocuments(pb.ListDocumentsRequest())).documents
        assert document.ocr_pages == [core.OcrPage(page_number=1, confidence=0.875)]
        assert not document.pages_without_text
        passage = (await client.retrieve("Notarized")).passages[0]
        assert passage.page_number == 1
        assert passage.regions[0].box.left == pytest.approx(72, abs=1)


async def test_metadata_left_out_has_the_defaults_of_the_contract(client):
    document = await client.ingested("policy.md", POLICY)
    assert document.authority == core.AUTHORITY_STANDARD
    assert document.document_type == "document"
    assert document.version == 1


async def test_bytes_that_were_read_in_another_encoding_are_not_taken_for_what_is_sent(client):
    czech = "Smlouva zaniká uplynutím dvou let; účetní závěrka je přílohou."
    data, declared = czech.encode("cp1250"), "text/plain; charset=windows-1250"
    misread = await client.ingested("smlouva.txt", data)
    hashed = hashlib.sha256(data).hexdigest()
    for name, more in (("smlouva.txt", {}), ("copy.txt", {}), ("copy.txt", {"sha256": hashed})):
        call = client.ingest(name, data, content_type=declared, **more)
        await refused(call, grpc.StatusCode.FAILED_PRECONDITION)
    *_, last = await client.ingest("smlouva.txt", data)
    assert last.result.outcome == pb.IngestDocumentResponse.Result.OUTCOME_UNCHANGED
    await client.stub.DeleteDocument(pb.DeleteDocumentRequest(document_id=misread.id))
    await client.ingested("smlouva.txt", data, content_type=declared)
    *_, last = await client.ingest("smlouva.txt", data, content_type=declared)
    assert last.result.outcome == pb.IngestDocumentResponse.Result.OUTCOME_UNCHANGED
    assert await client.texts("smlouva", limit=1) == [czech]


async def test_the_same_file_twice_is_unchanged_and_another_replaces_it(client):
    first = await client.ingested("policy.md", POLICY)
    *_, last = await client.ingest("policy.md", POLICY)
    assert last.result.outcome == pb.IngestDocumentResponse.Result.OUTCOME_UNCHANGED
    assert last.result.document == first
    *_, last = await client.ingest("policy.md", AMENDED)
    assert last.result.outcome == pb.IngestDocumentResponse.Result.OUTCOME_REPLACED
    assert last.result.document.version == 2
    (text,) = await client.texts("notarized proof of funds")
    assert "certified" in text
    assert "notarized" not in text


@pytest.mark.parametrize(
    ("upload", "reason"),
    [
        (("empty.pdf", b"", {}), "EMPTY_FILE"),
        (("false.pdf", b"no PDF at all, just words", {}), "TYPE_MISMATCH"),
        (("cut.pdf", b"%PDF-1.7\n1 0 obj\n<<", {}), "DAMAGED_FILE"),
        (("locked.pdf", None, {}), "ENCRYPTED_FILE"),
        (("lies.pdf", None, {"content_type": "text/markdown"}), "TYPE_MISMATCH"),
        (("program", b"\x7fELF\x00\x01\x02\x00" * 20, {}), "UNSUPPORTED_TYPE"),
        (("blank.txt", b" \n\n ", {}), "NO_TEXT"),
        (("long.txt", b"word " * 100_000, {}), "TOO_LARGE"),
        (("announced.txt", b"word", {"size_bytes": 2_000_000_000}), "TOO_LARGE"),
        (("interrupted.txt", b"word", {"size_bytes": 400}), "DAMAGED_FILE"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
async def test_a_file_that_cannot_be_taken_is_refused_with_its_reason_and_changes_nothing(
    client, encrypted, upload, reason
):
    name, data, fields = upload
    await client.ingested("policy.md", POLICY)
    before = await client.stored()
    call = client.ingest(name, encrypted if data is None else data, **fields)
    details = await refused(call, Code.INVALID_ARGUMENT)
    assert details["ErrorInfo"].reason == reason
    assert await client.stored() == before


@pytest.mark.parametrize(
    ("requests", "field"),
    [
        ([], "metadata"),
        ([{"chunk": b"x"}], "metadata"),
        ([{"metadata": {"source_name": "a"}}, {"metadata": {"source_name": "b"}}], "metadata"),
        ([{}], "part"),
        ([{"metadata": {"source_name": "a/b"}}], "metadata.source_name"),
        ([{"metadata": {"source_name": ""}}], "metadata.source_name"),
        ([{"metadata": {"source_name": "a", "published": "2026-02-30"}}], "metadata.published"),
        (
            [
                {
                    "metadata": {
                        "source_name": "a",
                        "effective_from": "2026-02-01",
                        "effective_to": "2026-01-01",
                    }
                }
            ],
            "metadata.effective_to",
        ),
    ],
    ids=[
        "nothing",
        "bytes-first",
        "metadata-twice",
        "neither",
        "folder",
        "no-name",
        "no-date",
        "to-before-from",
    ],
)
async def test_a_malformed_upload_is_refused_by_field(client, requests, field):
    stream = iter_async([pb.IngestDocumentRequest(**request) for request in requests])

    async def upload():
        async for _ in client.stub.IngestDocument(stream):
            pass

    details = await refused(upload(), Code.INVALID_ARGUMENT)
    assert [violation.field for violation in details["BadRequest"].field_violations] == [field]


async def test_an_upload_that_breaks_off_leaves_nothing_and_frees_its_place(client):
    before = await client.stored()
    for _ in range(6):  # More than the places there are.
        call = client.stub.IngestDocument()
        await call.write(pb.IngestDocumentRequest(metadata={"source_name": "a.md"}))
        await call.write(pb.IngestDocumentRequest(chunk=POLICY))
        assert (await call.read()).progress.bytes_received == 0
        assert (await call.read()).progress.bytes_received == len(POLICY)
        call.cancel()
        assert await eventually(lambda: client.parts.ingestor._running == 0)
    assert await client.stored() == before
    await client.ingested("a.md", POLICY)


class GatedEmbedder(WordEmbedder):
    """Blocks its thread in each batch until the gate opens."""

    def __init__(self):
        super().__init__()
        self.gate = threading.Event()
        self.started = threading.Event()
        self.held = 0

    def encode(self, texts):
        self.held = len(texts)
        self.started.set()
        assert self.gate.wait(20)
        return super().encode(texts)


async def test_an_ingest_cancelled_while_it_embeds_leaves_the_old_version(directory):
    embedder = GatedEmbedder()
    embedder.gate.set()
    async with served(directory, embedder) as client:
        await client.ingested("policy.md", POLICY)
        before = await client.stored()
        embedder.gate.clear()
        embedder.started.clear()
        call = client.stub.IngestDocument()
        await call.write(pb.IngestDocumentRequest(metadata={"source_name": "policy.md"}))
        await call.write(pb.IngestDocumentRequest(chunk=AMENDED))
        await call.done_writing()
        await asyncio.to_thread(embedder.started.wait, 20)
        call.cancel()
        assert await eventually(lambda: client.parts.ingestor._running == 0)
        embedder.gate.set()
        assert await client.stored() == before
        (text,) = await client.texts("proof of funds")
        assert "notarized" in text


async def test_64_questions_at_once_are_embedded_in_a_few_batches(directory):
    embedder = GatedEmbedder()
    async with served(directory, embedder) as client:
        calls = [asyncio.create_task(client.texts(f"question {n}")) for n in range(64)]
        waiting = client.parts.batcher._lanes["query"]
        # Those that came first are at work, and all others wait for them.
        assert await eventually(lambda: embedder.held + len(waiting) == 64)
        embedder.gate.set()
        await asyncio.gather(*calls)
        assert len(embedder.batches) == 2


async def test_other_calls_are_answered_while_the_model_works(directory):
    embedder = GatedEmbedder()
    async with served(directory, embedder) as client:
        blocked = asyncio.create_task(client.texts("anything"))
        await asyncio.to_thread(embedder.started.wait, 20)
        async with asyncio.timeout(5):
            listed = await client.stub.ListDocuments(pb.ListDocumentsRequest())
        assert not listed.documents
        assert not blocked.done()
        embedder.gate.set()
        assert await blocked == []


async def test_a_question_whose_caller_left_is_never_embedded(directory):
    embedder = GatedEmbedder()
    async with served(directory, embedder) as client:
        first = asyncio.create_task(client.texts("first"))
        await asyncio.to_thread(embedder.started.wait, 20)
        gone = asyncio.create_task(client.texts("gone"))
        waiting = client.parts.batcher._lanes["query"]
        assert await eventually(lambda: len(waiting) == 1)
        gone.cancel()
        assert await eventually(waiting[0].done.done)
        embedder.gate.set()
        await first
        await client.texts("last")
        assert embedder.batches == [["first"], ["last"]]


async def test_documents_are_listed_in_pages_and_deleted_for_good(client):
    for name in ("c.md", "a.md", "b.md"):
        await client.ingested(name, f"# {name}\n\nText of {name}.\n".encode())
    names, token = [], ""
    while True:
        reply = await client.stub.ListDocuments(
            pb.ListDocumentsRequest(page_size=2, page_token=token)
        )
        names.append([document.source_name for document in reply.documents])
        if not (token := reply.next_page_token):
            break
    assert names == [["a.md", "b.md"], ["c.md"]]
    request = pb.DeleteDocumentRequest(document_id=reply.documents[0].id)
    assert (await client.stub.DeleteDocument(request)).passages_deleted == 1
    await refused(client.stub.DeleteDocument(request), Code.NOT_FOUND)
    assert all("c.md" not in text for text in await client.texts("text of c.md"))


async def test_what_is_unknown_is_not_found_and_ids_need_no_form(client):
    for id_ in ("nonsense", "5f0c4a7e-0000-4000-8000-000000000000", "../../etc", "é"):
        stub = client.stub
        await refused(stub.GetDocument(pb.GetDocumentRequest(document_id=id_)), Code.NOT_FOUND)
        await refused(
            stub.DeleteDocument(pb.DeleteDocumentRequest(document_id=id_)), Code.NOT_FOUND
        )
        await refused(stub.GetPassage(pb.GetPassageRequest(passage_id=id_)), Code.NOT_FOUND)
        render = pb.RenderPageRequest(document_id=id_, page_number=1)
        await refused(stub.RenderPage(render), Code.NOT_FOUND)
        assert await client.texts("x", filter=pb.DocumentFilter(document_ids=[id_])) == []


async def test_a_record_of_one_kind_is_not_found_as_another(client):
    document = await client.ingested("policy.md", POLICY)
    (passage,) = (await client.retrieve("funds")).passages
    stub = client.stub
    await refused(stub.GetPassage(pb.GetPassageRequest(passage_id=document.id)), Code.NOT_FOUND)
    await refused(stub.GetDocument(pb.GetDocumentRequest(document_id=passage.id)), Code.NOT_FOUND)


async def test_a_page_is_rendered_with_a_box_for_each_highlighted_line(client):
    await client.ingested(KYC.name, KYC.read_bytes())
    (passage, *_) = (await client.retrieve("proof of funds not notarized")).passages
    request = pb.RenderPageRequest(
        document_id=passage.document_id,
        page_number=passage.page_number,
        highlights=[passage.span],
        dpi=72,
    )
    reply = await client.stub.RenderPage(request)
    assert reply.png.startswith(b"\x89PNG")
    assert struct.unpack(">II", reply.png[16:24]) == (reply.width_pixels, reply.height_pixels)
    on_page = [r for r in passage.regions if r.page_number == passage.page_number]
    assert len(reply.boxes) == len([r for r in on_page if r.box.right > r.box.left])
    assert all(0 <= box.top < box.bottom <= reply.height_pixels + 1 for box in reply.boxes)

    request.page_number = 1000
    await refused(client.stub.RenderPage(request), Code.OUT_OF_RANGE)
    request.page_number, request.dpi = 1, 20
    details = await refused(client.stub.RenderPage(request), Code.INVALID_ARGUMENT)
    assert details["BadRequest"].field_violations[0].field == "dpi"


async def test_a_source_without_pages_cannot_be_rendered(client):
    document = await client.ingested("policy.md", POLICY)
    request = pb.RenderPageRequest(document_id=document.id, page_number=1)
    await refused(client.stub.RenderPage(request), Code.FAILED_PRECONDITION)


async def test_a_question_is_one_trace_over_model_and_search_without_a_word_of_it(
    observed, directory
):
    async with served(directory) as client:
        await client.ingested("policy.md", POLICY)
        await client.texts("zebra notarized")
        server_spans = await observed.ended(2, SpanKind.SERVER)
    (retrieve,) = [span for span in server_spans if span.name.endswith("Retrieve")]
    children = {
        span.name
        for span in observed.spans
        if span.parent and span.parent.span_id == retrieve.context.span_id
    }
    assert children == {"embedding", "search"}
    assert {"parsing"} <= {span.name for span in observed.spans}
    everything_said = "".join(span.to_json() for span in observed.spans)
    assert "zebra" not in everything_said
    assert "notarized" not in everything_said
    assert sum(p.value for p in observed.points("verity.ingest.passages")) == 1
    assert {p.attributes["verity.lane"] for p in observed.points("verity.queue.wait")} == {
        "query",
        "ingest",
    }


async def test_a_search_for_a_day_says_what_it_left_out_and_what_would_have_answered(client):
    old = await client.ingested("old.md", POLICY, effective_from="2025-01-01")
    new = await client.ingested("new.md", AMENDED, supersedes=["old.md"])
    reply = await client.retrieve(
        "a notarized proof of funds, Section 4",
        as_of="2026-02-01",
        filter=pb.DocumentFilter(authorities=[core.AUTHORITY_STANDARD]),
        neighbours=1,
        rerank=True,
    )
    assert {passage.document_id for passage in reply.passages} == {new.id}
    report = reply.report
    assert report.as_of == "2026-02-01"
    assert list(report.filter.authorities) == [core.AUTHORITY_STANDARD]
    assert [(v.source_name, v.version) for v in report.versions] == [("new.md", 1)]
    assert report.ranking
    assert report.reranking == report.RERANKING_NOT_CONFIGURED
    assert [(one.text, one.kind) for one in report.routed_terms] == [
        ("Section 4", report.RoutedTerm.KIND_SECTION)
    ]
    (left_out,) = report.exclusions
    assert report.excluded_document_count == 1
    assert left_out.document_id == old.id
    assert left_out.reason == report.Exclusion.REASON_SUPERSEDED
    assert (left_out.superseded_by_id, left_out.superseded_by_name) == (new.id, "new.md")
    assert left_out.effective_from == "2025-01-01"
    assert "notarized" in left_out.best.text
    both = await client.retrieve("proof of funds", include_out_of_force=True)
    assert {passage.document_id for passage in both.passages} == {old.id, new.id}
    assert both.report.included_out_of_force


@pytest.mark.parametrize(
    "fields",
    [
        {"as_of": "2026-13-01"},
        {"neighbours": 4},
        {"max_per_document": 51},
        {"filter": pb.DocumentFilter(authorities=[1, 2, 3, 1])},
    ],
)
async def test_a_search_that_breaks_its_rules_is_refused(client, fields):
    await refused(client.retrieve("x", **fields), Code.INVALID_ARGUMENT)
