"""The whole system under two tenants and two groups: no canary crosses by any way in or out."""

import asyncio
import json
import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import grpc
import httpx
import pytest
from google.protobuf.message_factory import GetMessageClass
from issuer import EVERYTHING, Issuer, Speaking
from retrieval_parts import put_together, servicer
from retrieval_stores import edge, quick_directory
from stores import Store
from verity.v1 import (
    generation_service_pb2_grpc as generation_rpc,
)
from verity.v1 import (
    grounding_service_pb2 as grounding,
)
from verity.v1 import (
    grounding_service_pb2_grpc as grounding_rpc,
)
from verity.v1 import (
    retrieval_service_pb2 as retrieval,
)
from verity.v1 import (
    retrieval_service_pb2_grpc as retrieval_rpc,
)
from verity.v1 import (
    verification_service_pb2_grpc as verification_rpc,
)

from services.chassis import authentication, telemetry
from services.chassis.client import channel
from services.chassis.server import Service, serving
from services.gateway.app import Draining, Edge, build
from services.gateway.server import Serving
from services.gateway.server import serving as http_serving
from services.gateway.twins import all_twins
from services.gateway.upstream import Deadlines, connected
from services.generation import __main__ as generation_main
from services.generation.servicer import GenerationServicer
from services.orchestrator import servicer as orchestrator
from services.orchestrator.asking import Asker, Limits
from services.orchestrator.graph import Agents, Budgets
from services.orchestrator.graph import build as graph
from services.orchestrator.measures import Measures
from services.orchestrator.quotas import Quotas
from services.orchestrator.redis_memory import Keeping, open_memory
from services.retrieval import servicer as retriever
from services.retrieval.isolation import Worker
from services.verification.entailment import MIN_COVERAGE
from services.verification.scoring import Weights
from services.verification.servicer import VerificationServicer
from services.verification.verifier import Verifier

Code = grpc.StatusCode
QUESTION = "What must a corporate entity submit?"
OPEN = "A corporate entity must submit a notarized proof of funds.\n"
# In the words of the question, so that it is found, cited and said where it may be.
SECRET = "A corporate entity must submit the canary ledger of Osprey Holdings.\n"
CANARIES = ("canary", "osprey", "secret-desk")


@dataclass
class System:
    issuer: Issuer
    client: httpx.AsyncClient
    grounding: grounding_rpc.GroundingServiceStub
    retrieval: retrieval_rpc.RetrievalServiceStub
    addresses: dict[str, str]

    def person(self, subject, tenant, *groups, scopes=EVERYTHING):
        return Person(self, self.issuer.caller(subject, tenant, scopes, groups))


class Person:
    """Who calls, over gRPC and over HTTP."""

    def __init__(self, system, caller):
        self.caller = caller
        self.grounding = Speaking(system.grounding, caller)
        self.retrieval = Speaking(system.retrieval, caller)
        self._system = system

    async def http(self, verb, path, **options):
        headers = {"authorization": f"Bearer {self.caller.token}"}
        return await self._system.client.request(verb, path, headers=headers, **options)

    async def ingest(self, name, text, **metadata):
        requests = [
            retrieval.IngestDocumentRequest(metadata={"source_name": name, **metadata}),
            retrieval.IngestDocumentRequest(chunk=text.encode()),
        ]
        *_, last = [reply async for reply in self.retrieval.IngestDocument(iter(requests))]
        return last.result.document

    async def ask(self, conversation="talk", question=QUESTION, **fields):
        asked = grounding.AskRequest(question=question, conversation_id=conversation, **fields)
        return (await self.grounding.Ask(asked)).answer

    async def everything(self, known):
        """What each RPC and each route says to it, with whatever ids of others it has."""
        said = []
        for twin in all_twins():
            if twin.rpc.name == "DeleteDocument":
                continue
            for fields in _requests(twin, known):
                said += await self._both_ways(twin, fields)
        for path in ("/grounded_query", "/grounded_query/stream"):
            asked = {"conversation_id": "talk", "query": QUESTION}
            said.append(await self.http("POST", path, json=asked))
        for document_id in known.documents:
            said.append(await self.http("GET", f"/v1/documents/{document_id}/pages/1.png"))
        return [one.text.lower() if isinstance(one, httpx.Response) else one for one in said]

    async def _both_ways(self, twin, fields):
        request = twin.request(**fields)
        kind = f"{'stream' if twin.rpc.client_streaming else 'unary'}_"
        kind += "stream" if twin.rpc.server_streaming else "unary"
        async with grpc.aio.insecure_channel(self._system.addresses[twin.service]) as opened:
            call = getattr(opened, kind)(
                f"/{twin.name}",
                request_serializer=twin.request.SerializeToString,
                response_deserializer=GetMessageClass(twin.output).FromString,
            )(
                iter([request]) if twin.rpc.client_streaming else request,
                metadata=(("authorization", f"Bearer {self.caller.token}"),),
                timeout=20,
            )
            said = []
            try:
                if twin.rpc.server_streaming:
                    said += [str(reply).lower() async for reply in call]
                else:
                    said.append(str(await call).lower())
            except grpc.aio.AioRpcError as error:
                said.append(f"{error.details()} {error.trailing_metadata()}".lower())
        if twin.rpc.client_streaming:
            return said
        path, rest = twin.path, dict(fields)
        for field in twin.path_fields:
            path = path.replace("{" + field + "}", str(rest.pop(field, "x")))
        options = {"json": fields} if twin.verb == "POST" else {"params": rest}
        return [*said, await self.http(twin.verb, path, **options)]


@dataclass
class Known:
    """Ids that somebody else may have learned, by mail or by mistake."""

    documents: list[str]
    passages: list[str]
    answers: list[str]
    hashes: list[str]


def _requests(twin, known):
    """Requests worth trying for an RPC, as its fields; an empty one for what knows of nobody."""
    only = {"filter": {"document_ids": known.documents}}
    talk = {"conversation_id": "talk"}
    documents = [{"document_id": id_} for id_ in known.documents]
    return {
        "Ask": [
            {"question": QUESTION, **talk},
            {"question": "And what of it?", **talk},
            {"question": QUESTION, "idempotency_key": "key", **talk},
            {"question": QUESTION, **only},
        ],
        "AskStream": [{"ask": {"question": QUESTION, **talk}}],
        "Retrieve": [
            {"query": query, **fields}
            for query in (QUESTION, "ledger", '"ledger of"')
            for fields in ({"limit": 50, "neighbours": 3}, {"include_out_of_force": True}, only)
        ],
        "GetAnswer": [{"answer_id": id_} for id_ in known.answers],
        "ListAnswers": [talk],
        "GetGroundingQuality": [talk],
        "GetDocument": documents,
        "RenderPage": [{**one, "page_number": 1} for one in documents],
        "GetPassage": [{"passage_id": id_, "neighbours": 2} for id_ in known.passages],
        "ListDocuments": [{}, {"name_contains": "a"}, {"standing": 2, "as_of": "2026-01-01"}],
        "IngestDocument": [
            {"metadata": {"source_name": "guess.txt", "sha256": sha256}} for sha256 in known.hashes
        ],
    }.get(twin.rpc.name, [{}])


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with Store(tmp_path_factory.mktemp("s")) as running:
        yield running


@asynccontextmanager
async def running_system(store, quotas=None):
    with store.client() as inside:
        inside.flushall()
    async with AsyncExitStack() as stack:
        directory = stack.enter_context(quick_directory())
        issuer = Issuer(directory)
        settings = issuer.settings(grace_seconds=1)
        index = await stack.enter_async_context(edge(directory))
        parts = await stack.enter_async_context(put_together(index, directory))
        worker = await stack.enter_async_context(Worker().running())
        executor = stack.enter_context(ThreadPoolExecutor(1))
        drafter = await stack.enter_async_context(
            generation_main.open_extractive(generation_main.Settings())
        )
        addresses, stubs = {}, {}

        async def served(name, rpc, servicer, deadlines):
            service = f"verity.v1.{name}Service"
            add = getattr(rpc, f"add_{name}ServiceServicer_to_server")
            running = await stack.enter_async_context(
                serving(Service(service, add, servicer, deadlines), settings)
            )
            await running.warming
            addresses[service] = running.address
            opened = channel(running.address, service=service, idempotent=[])
            stubs[name] = getattr(rpc, f"{name}ServiceStub")(
                await stack.enter_async_context(opened)
            )

        await served(
            "Retrieval",
            retrieval_rpc,
            servicer(parts, worker),
            retriever.DEADLINES,
        )
        drafts = GenerationServicer(drafter)
        await served(
            "Generation", generation_rpc, drafts, dict.fromkeys(generation_main.METHODS, 20.0)
        )
        checks = VerificationServicer(Verifier(executor, MIN_COVERAGE), Weights())
        methods = ("Verify", "CheckGrounding", "ScoreConfidence")
        await served("Verification", verification_rpc, checks, dict.fromkeys(methods, 20.0))
        memory = await stack.enter_async_context(
            open_memory(store.url, Keeping(60, turns=3), timeout_seconds=5, pause_seconds=1)
        )
        agents = Agents(
            retrieval=stubs["Retrieval"],
            generation=stubs["Generation"],
            verification=stubs["Verification"],
            memory=memory,
            budgets=Budgets(20, 20, 20, 20),
            measures=Measures(telemetry.meter()),
        )
        asker = Asker(graph().compile(), agents, Limits(max_attempts=2, passages=8))
        front = orchestrator.GroundingServicer(asker, memory, quotas)
        await served("Grounding", grounding_rpc, front, orchestrator.DEADLINES)
        upstream = await stack.enter_async_context(connected(addresses, Deadlines()))
        authenticator = await stack.enter_async_context(authentication.opened(settings))
        await authenticator.ready()
        draining = Draining()
        app = build(upstream, Edge(rate_per_second=0), Path("/none"), draining, authenticator)
        address = await stack.enter_async_context(
            http_serving(app, Serving("127.0.0.1:0", 0, 5), draining)
        )
        client = await stack.enter_async_context(
            httpx.AsyncClient(base_url=f"http://{address}", trust_env=False, timeout=30)
        )
        yield System(issuer, client, stubs["Grounding"], stubs["Retrieval"], addresses)


async def learned(person, document, answers):
    """All ids of a document and of answers."""
    reply = await person.retrieval.Retrieve(retrieval.RetrieveRequest(query="ledger", limit=50))
    passages = [one.id for one in reply.passages if one.document_id == document.id]
    assert passages
    return Known([document.id], passages, answers, [document.sha256])


def leaks(said, own=()):
    return [one for one in said if any(c in one for c in CANARIES if c not in own)]


async def test_nothing_of_a_tenant_is_told_to_another_by_any_rpc_route_stream_or_message(
    store, caplog
):
    caplog.set_level(logging.INFO)
    async with running_system(store) as system:
        ann, eve = system.person("ann", "acme"), system.person("ann", "other")
        document = await ann.ingest("canary-file.txt", SECRET, supersedes=["osprey.txt"])
        answer = await ann.ask()
        assert "osprey" in answer.text.lower()  # It is told where it may be.
        await ann.ask(idempotency_key="key")
        known = await learned(ann, document, [answer.id])
        assert leaks(await ann.everything(known))
        await eve.ingest("open.txt", OPEN)
        assert leaks(await eve.everything(known)) == []
        told = await eve.ask()
        assert "notarized" in told.text
        assert told.search.document_count == 1
        for method, request in (
            (
                eve.retrieval.DeleteDocument,
                retrieval.DeleteDocumentRequest(document_id=document.id),
            ),
            (eve.grounding.GetAnswer, grounding.GetAnswerRequest(answer_id=answer.id)),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await method(request)
            assert caught.value.code() is Code.NOT_FOUND
        assert (await ann.ask()).statements  # All of hers is still there.
    logged = str([record.__dict__ for record in caplog.records]).lower()
    assert not [c for c in CANARIES if c in logged]
    with store.client() as inside:
        keys = list(inside.scan_iter("*"))
    assert keys
    assert all("{acme" in key or "{other" in key for key in keys)


async def test_nothing_of_a_document_with_readers_is_told_to_others_of_its_tenant(store):
    async with running_system(store) as system:
        ann, bob = system.person("ann", "acme", "secret-desk"), system.person("bob", "acme")
        document = await ann.ingest("canary-file.txt", SECRET, readers=["secret-desk"])
        answer = await ann.ask()
        await bob.ingest("open.txt", OPEN)
        assert "osprey" in answer.text.lower()
        assert [list(one.any_of) for one in answer.readers] == [["secret-desk"]]
        known = await learned(ann, document, [answer.id])
        assert leaks(await ann.everything(known))
        assert leaks(await bob.everything(known)) == []
        # What bob asked is for all of the tenant; ann's answer for who may read what it is made of.
        told = await bob.ask("own")
        assert not told.readers
        for reader in (ann, system.person("cat", "acme", "secret-desk")):
            request = grounding.GetAnswerRequest(answer_id=answer.id)
            assert (await reader.grounding.GetAnswer(request)).answer == answer
        # Ann left the desk: her own conversation shows her no more of it, nor leans on it.
        left = system.person("ann", "acme")
        assert leaks(await left.everything(known)) == []
        request = grounding.ListAnswersRequest(conversation_id="talk")
        shown = (await left.grounding.ListAnswers(request)).answers
        assert answer.id not in {one.id for one in shown}


async def test_a_conversation_is_its_subjects_own_and_another_of_its_name_begins_anew(store):
    async with running_system(store) as system:
        ann, bob = system.person("ann", "acme"), system.person("bob", "acme")
        await ann.ingest("open.txt", OPEN)
        first = await ann.ask(idempotency_key="key")
        assert (await ann.ask(idempotency_key="key")).id == first.id
        request = grounding.ListAnswersRequest(conversation_id="talk")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await bob.grounding.ListAnswers(request)
        assert caught.value.code() is Code.NOT_FOUND
        assert (await bob.ask(idempotency_key="key")).id != first.id
        assert len((await bob.grounding.ListAnswers(request)).answers) == 1


async def test_over_http_each_subject_lists_and_opens_its_own_conversations_alone(store):
    async with running_system(store) as system:
        ann, bob = system.person("ann", "acme"), system.person("bob", "acme")
        await ann.ingest("open.txt", OPEN)
        await ann.ask("of-ann")
        await bob.ask("of-bob", "What must an entity of bob submit?")

        async def status(person, path):
            return (await person.http("GET", f"/v1/conversations{path}")).status_code

        for person, own, other in ((ann, "of-ann", "of-bob"), (bob, "of-bob", "of-ann")):
            reply = await person.http("GET", "/v1/conversations")
            assert [one["id"] for one in reply.json()["conversations"]] == [own]
            assert other not in reply.text
            for part in ("answers", "quality"):
                assert await status(person, f"/{own}/{part}") == HTTPStatus.OK
                assert await status(person, f"/{other}/{part}") == HTTPStatus.NOT_FOUND
        # One of the same name elsewhere has none, and nobody has any.
        eve = system.person("ann", "other")
        reply = await eve.http("GET", "/v1/conversations")
        assert reply.json()["conversations"] == []
        reply = await system.client.get("/v1/conversations")
        assert reply.status_code == HTTPStatus.UNAUTHORIZED


async def test_a_tenants_quota_is_a_429_with_a_time_and_another_tenant_is_served(store):
    async with running_system(store, Quotas(per_minute=1)) as system:
        ann, eve = system.person("ann", "acme"), system.person("eve", "other")
        await ann.ask()
        asked = {"conversation_id": "talk", "query": QUESTION}
        reply = await ann.http("POST", "/grounded_query", json=asked)
        assert reply.status_code == 429
        assert 0 < int(reply.headers["retry-after"]) <= 60
        assert reply.json()["code"] == "RESOURCE_EXHAUSTED"
        await eve.ask()


async def test_callers_at_the_same_time_are_each_told_their_own(store):
    async with running_system(store) as system:
        ann, eve = system.person("ann", "acme"), system.person("eve", "other")
        await asyncio.gather(ann.ingest("a.txt", SECRET), eve.ingest("b.txt", OPEN))
        answers = await asyncio.gather(
            *(person.ask(f"talk-{n}") for n in range(4) for person in (ann, eve))
        )
        for number, answer in enumerate(answers):
            said = json.dumps(str(answer)).lower()
            assert ("osprey" in said) is (number % 2 == 0)
            assert ("notarized" in said) is (number % 2 == 1)
