"""Documents with readers: to who is in none of their groups they are not there, by any RPC."""

import hashlib
from contextlib import asynccontextmanager

import grpc
import pytest
from issuer import EVERYTHING, Speaking
from retrieval_callers import called
from retrieval_stores import edge, local
from verity.v1 import retrieval_service_pb2 as pb

Code = grpc.StatusCode
NAME = "verity.v1.RetrievalService"
OPEN = "proof of funds must be notarized\n\fowners above 25% are named\n"
# The same first line, so that it would be a copy; and a line that only it has.
SECRET = "proof of funds must be notarized\nmerger with canary corp is planned\n"
CANARIES = (b"canary", b"merger", b"desk-group")
UNKNOWN = "00000000-0000-0000-0000-000000000007"
RESULT = pb.IngestDocumentResponse.Result


class Person:
    """Who calls."""

    def __init__(self, stub, issuer, subject, groups):
        caller = issuer.caller(subject, "acme", EVERYTHING, groups)
        self.stub = Speaking(stub, caller)

    async def ingest(self, name, text, **metadata):
        requests = [
            pb.IngestDocumentRequest(metadata={"source_name": name, **metadata}),
            pb.IngestDocumentRequest(chunk=text.encode()),
        ]
        *_, last = [reply async for reply in self.stub.IngestDocument(iter(requests))]
        return last.result

    async def sees(self, *ids):
        """What every RPC that reads says, by name; ids are tried where one is wanted."""
        retrieves = [
            pb.RetrieveRequest(query=query, limit=50, neighbours=3, **fields)
            for query in ("proof of funds", "merger with canary corp", '"canary corp"', "1.1")
            for fields in (
                {},
                {"include_out_of_force": True},
                {"filter": {"tags": ["t"]}},
                {"filter": {"document_ids": list(ids)}},
                {"as_of": "2020-01-01"},
            )
        ]
        lists = [
            pb.ListDocumentsRequest(**fields)
            for fields in (
                {},
                {"page_size": 1},
                {"name_contains": "a"},
                {"filter": {"tags": ["t"]}},
                *({"standing": standing, "as_of": "2026-01-01"} for standing in (1, 2, 3, 4)),
            )
        ]
        found = [await self.stub.Retrieve(request) for request in retrieves]
        found += [await self.stub.ListDocuments(request) for request in lists]
        for document in list(found[len(retrieves)].documents):
            own = {"document_id": document.id}
            found.append(await self.stub.GetDocument(pb.GetDocumentRequest(**own)))
        return found

    async def outcomes(self, document_id, passage_id):
        """How each RPC that takes an id ends."""
        return [
            await ended(self.stub.GetDocument(pb.GetDocumentRequest(document_id=document_id))),
            await ended(
                self.stub.DeleteDocument(pb.DeleteDocumentRequest(document_id=document_id))
            ),
            await ended(
                self.stub.RenderPage(pb.RenderPageRequest(document_id=document_id, page_number=1))
            ),
            await ended(
                self.stub.GetPassage(pb.GetPassageRequest(passage_id=passage_id, neighbours=1))
            ),
        ]


async def ended(call):
    try:
        await call
    except grpc.aio.AioRpcError as error:
        return error.code(), error.details()
    return Code.OK, ""


@asynccontextmanager
async def people(store):
    async with called(store, callers=2) as ((one, other), issuer):
        yield (
            Person(one, issuer, "ann", ["desk-group", "others"]),
            Person(other, issuer, "bob", ["others"]),
        )


stores = pytest.mark.parametrize("store", [edge, local])


@stores
async def test_nothing_of_a_document_is_there_for_who_may_not_read_it(store):
    async with people(store) as (ann, bob):
        await bob.ingest("open.txt", OPEN, tags=["t"])
        before = await bob.sees()
        secret = await ann.ingest(
            "canary.txt", SECRET, readers=["desk-group"], tags=["t"], supersedes=["open.txt"]
        )
        assert list(secret.document.readers) == ["desk-group"]
        id_ = secret.document.id
        reply = await ann.stub.Retrieve(pb.RetrieveRequest(query="merger with canary", limit=9))
        passage_id = next(p.id for p in reply.passages if p.document_id == id_)
        # Ann sees it, and that it takes the place of the other: there is a canary.
        assert any(CANARIES[0] in one.SerializeToString() for one in await ann.sees(id_))
        [excluded] = reply.report.exclusions
        assert (excluded.source_name, excluded.superseded_by_name) == ("open.txt", "canary.txt")
        # Bob does not, and for him the open one is in force.
        for one in await bob.sees(id_, UNKNOWN):
            _forget_what_was_asked(one)
            written = one.SerializeToString()
            assert not [c for c in (*CANARIES, passage_id.encode()) if c in written.lower()]
            named = {p.document_id for p in getattr(one, "passages", ())}
            assert id_ not in named
        assert [_without_scores(one) for one in await bob.sees()] == [
            _without_scores(one) for one in before
        ]
        assert await bob.outcomes(id_, passage_id) == await bob.outcomes(UNKNOWN, UNKNOWN)
        assert (await ann.outcomes(UNKNOWN, passage_id))[3][0] is Code.OK


def _forget_what_was_asked(reply):
    if isinstance(reply, pb.RetrieveResponse):
        for field in ("query", "routed_terms", "filter"):
            reply.report.ClearField(field)


def _without_scores(reply):
    """Term weights are those of the tenant: they say that there is more, and not what."""
    for passage in (*getattr(reply, "passages", ()), *_misses(reply)):
        passage.score = 0
    return reply


def _misses(reply):
    return reply.report.nearest_misses if isinstance(reply, pb.RetrieveResponse) else ()


@stores
async def test_who_may_read_is_changed_for_all_passages_at_once(store):
    async with people(store) as (ann, bob):
        for readers, seen in ((["desk-group"], 0), ([], 2), (["desk-group"], 0), (["others"], 2)):
            await ann.ingest("canary.txt", SECRET, readers=readers)
            reply = await bob.stub.Retrieve(pb.RetrieveRequest(query="merger", limit=9))
            assert len(reply.passages) == seen
            assert reply.report.passage_count == seen
            listed = await bob.stub.ListDocuments(pb.ListDocumentsRequest())
            assert len(listed.documents) == bool(seen)


async def test_bytes_that_one_may_not_read_are_not_known_by_their_hash_or_under_another_name():
    async with people(edge) as (ann, bob):
        await ann.ingest("canary.txt", SECRET, readers=["desk-group"])
        sha256 = hashlib.sha256(SECRET.encode()).hexdigest()
        call = bob.stub.IngestDocument()
        metadata = {"source_name": "mine.txt", "sha256": sha256}
        await call.write(pb.IngestDocumentRequest(metadata=metadata))
        first = await call.read()
        assert first.progress.bytes_received == 0
        call.cancel()
        result = await bob.ingest("mine.txt", SECRET)
        assert result.outcome == RESULT.OUTCOME_CREATED
        assert not result.document.readers


async def test_a_name_that_one_may_not_read_cannot_be_written_over_or_opened_up():
    async with people(edge) as (ann, bob):
        await ann.ingest("canary.txt", SECRET, readers=["desk-group"])
        for text in (SECRET, "other words\n"):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await bob.ingest("canary.txt", text)
            assert caught.value.code() is Code.PERMISSION_DENIED
            assert "desk" not in (caught.value.details() or "")
        [document] = (await ann.stub.ListDocuments(pb.ListDocumentsRequest())).documents
        assert (document.version, list(document.readers)) == (1, ["desk-group"])


async def test_what_a_later_contract_says_of_readers_is_not_passed_over():
    async with people(edge) as (ann, _):
        later = pb.IngestMetadata(source_name="a.txt").SerializeToString() + b"\xca\x3e\x01x"
        metadata = pb.IngestMetadata.FromString(later)
        call = ann.stub.IngestDocument(iter([pb.IngestDocumentRequest(metadata=metadata)]))
        assert await call.code() is Code.INVALID_ARGUMENT


async def test_an_upload_that_broke_off_is_continued_by_its_readers_alone():
    async with people(edge) as (ann, bob):
        sha256 = hashlib.sha256(SECRET.encode()).hexdigest()
        metadata = {"source_name": "canary.txt", "sha256": sha256, "readers": ["desk-group"]}
        call = ann.stub.IngestDocument()
        await call.write(pb.IngestDocumentRequest(metadata=metadata))
        await call.read()
        await call.write(pb.IngestDocumentRequest(chunk=SECRET.encode()[:10]))
        await call.read()
        call.cancel()
        for readers, received in ((["desk-group"], 10), ([], 0)):
            other = bob.stub.IngestDocument()
            said = {"source_name": "mine.txt", "sha256": sha256, "readers": readers}
            await other.write(pb.IngestDocumentRequest(metadata=said))
            assert (await other.read()).progress.bytes_received == received
            other.cancel()


@pytest.mark.parametrize("readers", [["*"], [""], ["a\nb"], ["x" * 256], ["g"] * 33])
async def test_a_group_that_is_none_is_refused(readers):
    async with people(edge) as (ann, _):
        metadata = {"source_name": "a.txt", "readers": readers}
        # A client that still writes when it is refused may not hear why.
        refused = ann.stub.IngestDocument(iter([pb.IngestDocumentRequest(metadata=metadata)]))
        assert await refused.code() is Code.INVALID_ARGUMENT
