"""Two tenants in one store: nothing that one of them does can be seen by the other, by any RPC."""

import asyncio
import hashlib
import itertools
import uuid
from contextlib import suppress

import grpc
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from issuer import Speaking
from retrieval_callers import called
from retrieval_stores import edge
from verity.v1 import retrieval_service_pb2 as pb

NAME = "verity.v1.RetrievalService"
NAMES = ["policy.txt", "other.txt", "third.txt"]
TEXTS = [
    "proof of funds must be notarized\nowners above 25% are named\fcash rose by 2%\n",
    "proof of funds need not be notarized\n",
    "funds funds funds\nproof\n",
    "notarized\n" * 20,
]
QUERIES = ["proof of funds", "notarized", "owners above 25%", "?!"]
FILTERS = [{"document_types": ["policy"]}, {"min_authority": 3}, {"tags": ["t"]}]
UNKNOWN = str(uuid.UUID(int=7))


class Tenant:
    """One tenant's way in, over a real channel of its own."""

    def __init__(self, stub):
        self.stub = stub

    def becomes(self, caller):
        self.stub = Speaking(self.stub, caller)

    async def ingest(self, name, text, **metadata):
        """The outcome, when there is one."""
        requests = [
            pb.IngestDocumentRequest(metadata={"source_name": name, **metadata}),
            pb.IngestDocumentRequest(chunk=text.encode()),
        ]
        *_, last = [reply async for reply in self.stub.IngestDocument(iterate(requests))]
        return last.result

    async def starts(self, sha256):
        """How many bytes of an upload are there; it is given up at once."""
        call = self.stub.IngestDocument()
        await call.write(
            pb.IngestDocumentRequest(metadata={"source_name": "upload.txt", "sha256": sha256})
        )
        received = (await call.read()).progress.bytes_received
        call.cancel()
        return received

    async def breaks_off(self, text):
        """Sends half of a file."""
        call = self.stub.IngestDocument()
        data = text.encode()
        await call.write(
            pb.IngestDocumentRequest(
                metadata={"source_name": "upload.txt", "sha256": hashlib.sha256(data).hexdigest()}
            )
        )
        first = await call.read()
        half = data[first.progress.bytes_received : len(data) // 2]
        with suppress(asyncio.InvalidStateError):  # It has ended: the bytes are known already.
            await call.write(pb.IngestDocumentRequest(chunk=half))
            await call.read()
        call.cancel()

    async def documents(self, **fields):
        return (await self.stub.ListDocuments(pb.ListDocumentsRequest(**fields))).documents

    async def passages(self):
        found = {}
        for query in QUERIES:
            reply = await self.stub.Retrieve(pb.RetrieveRequest(query=query, limit=50))
            found.update({passage.id: passage for passage in reply.passages})
        return found

    async def sees(self):
        """All that each RPC which reads says to it."""
        documents = await self.documents()
        calls = [
            *(self.stub.Retrieve(pb.RetrieveRequest(query=query, limit=3)) for query in QUERIES),
            *(
                self.stub.Retrieve(pb.RetrieveRequest(query="funds", filter=narrow))
                for narrow in (
                    {"document_types": ["policy"]},
                    {"min_authority": 3},
                    {"tags": ["t"]},
                )
            ),
            self.stub.ListDocuments(pb.ListDocumentsRequest(page_size=1)),
            self.stub.ListDocuments(pb.ListDocumentsRequest(standing=2, as_of="2026-01-01")),
            *(self.stub.GetDocument(pb.GetDocumentRequest(document_id=d.id)) for d in documents),
            *(
                self.stub.RenderPage(pb.RenderPageRequest(document_id=d.id, page_number=1))
                for d in documents
            ),
            *(
                self.stub.GetPassage(pb.GetPassageRequest(passage_id=id_, neighbours=2))
                for id_ in sorted(await self.passages())
            ),
        ]
        return [document.id for document in documents], [await said(call) for call in calls]


async def iterate(items):
    for item in items:
        yield item


async def said(call):
    """A reply, or the status that came instead."""
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        return (
            error.code(),
            error.details(),
            error.trailing_metadata().get("grpc-status-details-bin"),
        )


metadata = st.fixed_dictionaries(
    {},
    optional={
        "document_type": st.just("policy"),
        "authority": st.sampled_from([1, 3]),
        "tags": st.just(["t"]),
        "supersedes": st.just(["absent.txt", "upload.txt"]),
    },
)
ingests = st.tuples(st.just("ingest"), st.sampled_from(NAMES), st.sampled_from(TEXTS), metadata)
deeds = st.one_of(
    ingests,
    st.tuples(st.just("delete"), st.sampled_from(NAMES)),
    st.tuples(st.just("breaks off"), st.sampled_from(TEXTS)),
)


async def do(tenant, deed):
    match deed:
        case ("ingest", name, text, said_of_it):
            await tenant.ingest(name, text, **said_of_it)
        case ("delete", name):
            for document in await tenant.documents():
                if document.source_name == name:
                    await tenant.stub.DeleteDocument(
                        pb.DeleteDocumentRequest(document_id=document.id)
                    )
        case ("breaks off", text):
            await tenant.breaks_off(text)


async def sees_nothing_by_ids_of(mine, other, own_ids):
    """Whatever is known of the other's, its ids are no better than one that nobody has."""
    documents = [document.id for document in await other.documents()]
    for method, request, field, ids in (
        ("GetDocument", pb.GetDocumentRequest(), "document_id", documents),
        ("DeleteDocument", pb.DeleteDocumentRequest(), "document_id", documents),
        ("RenderPage", pb.RenderPageRequest(page_number=1), "document_id", documents),
        ("GetPassage", pb.GetPassageRequest(neighbours=1), "passage_id", await other.passages()),
    ):
        answers = []
        for id_ in (UNKNOWN, *ids):
            setattr(request, field, id_)
            answers.append(await said(getattr(mine.stub, method)(request)))
        assert answers[0][0] is grpc.StatusCode.NOT_FOUND
        assert all(answer == answers[0] for answer in answers)
    if documents:
        request = pb.RetrieveRequest(query="funds", filter={"document_ids": documents})
        reply = await mine.stub.Retrieve(request)
        assert not reply.passages
        assert not reply.report.nearest_misses
        assert (reply.report.document_count, reply.report.passage_count) == (0, 0)
    page = await other.stub.ListDocuments(pb.ListDocumentsRequest(page_size=1))
    if page.next_page_token:
        shown = await mine.documents(page_token=page.next_page_token)
        assert {document.id for document in shown} <= set(own_ids)
    for text in TEXTS:
        assert await mine.starts(hashlib.sha256(text.encode()).hexdigest()) == 0


async def test_a_tenant_sees_the_same_whatever_another_does_and_nothing_by_its_ids():
    number = itertools.count()
    loop = asyncio.get_running_loop()
    async with called(edge, callers=2) as (stubs, issuer):
        mine, other = map(Tenant, stubs)

        async def example(own, deeds):
            run = next(number)
            mine.becomes(issuer.caller(tenant=f"mine-{run}"))
            other.becomes(issuer.caller(tenant=f"other-{run}"))
            for deed in own:
                await do(mine, deed)
            before = await mine.sees()
            for deed in deeds:
                await do(other, deed)
            assert await mine.sees() == before
            await sees_nothing_by_ids_of(mine, other, before[0])
            assert await mine.sees() == before
            # And all of it the other way round: the other keeps what it has.
            theirs = await other.sees()
            for name in NAMES:
                await do(mine, ("delete", name))
            assert await other.sees() == theirs

        @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
        @given(own=st.lists(ingests, max_size=3), deeds=st.lists(deeds, min_size=1, max_size=4))
        def examples(own, deeds):
            asyncio.run_coroutine_threadsafe(example(own, deeds), loop).result(60)

        await asyncio.to_thread(examples)
