"""GroundingService over real channels, with fake agents behind real servers and a real store."""

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager

import grpc
import pytest
from fakes import (
    FakeGeneration,
    FakeRetrieval,
    FakeVerification,
    draft,
    passage,
    statement,
)
from google.protobuf import descriptor_pool
from grpc_status import rpc_status
from stores import Store
from verity.v1 import core_pb2 as core
from verity.v1 import generation_service_pb2_grpc as generation_rpc
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import grounding_service_pb2_grpc as grounding_rpc
from verity.v1 import retrieval_service_pb2 as retrieval
from verity.v1 import retrieval_service_pb2_grpc as retrieval_rpc
from verity.v1 import verification_service_pb2 as verification
from verity.v1 import verification_service_pb2_grpc as verification_rpc

from services.chassis import telemetry
from services.chassis.client import channel
from services.chassis.server import Service, serving
from services.chassis.settings import Settings
from services.orchestrator.asking import Asker, Limits
from services.orchestrator.graph import Agents, Budgets, build
from services.orchestrator.measures import Measures
from services.orchestrator.redis_memory import Keeping, open_memory
from services.orchestrator.servicer import DEADLINES, GroundingServicer

Code = grpc.StatusCode
Answer = grounding.Answer

GOOD = statement("A UBO must submit proof.")
BAD = statement("A UBO must submit a passport.", "a certified passport")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with Store(tmp_path_factory.mktemp("s")) as running:
        yield running


class System:
    """The fakes, their servers, and a client of the orchestrator that calls them."""

    def __init__(self) -> None:
        self.retrieval = FakeRetrieval(passage())
        self.generation = FakeGeneration(draft(GOOD))
        self.verification = FakeVerification()
        self.client: grounding_rpc.GroundingServiceStub
        self.stops: dict[str, AsyncExitStack] = {}

    async def ask(self, question="What must a UBO submit?", *, timeout=10, **request) -> Answer:  # noqa: ASYNC109 - gRPC's own
        asked = grounding.AskRequest(question=question, **request)
        return (await self.client.Ask(asked, timeout=timeout)).answer

    async def ask_or_error(self, **request):
        try:
            return await self.ask(**request)
        except grpc.aio.AioRpcError as error:
            return error

    def stream(self, question="What must a UBO submit?", **request):
        asked = grounding.AskRequest(question=question, **request)
        return self.client.AskStream(grounding.AskStreamRequest(ask=asked), timeout=10)


AGENTS = {
    "retrieval": ("Retrieval", retrieval_rpc, ["Retrieve"]),
    "generation": ("Generation", generation_rpc, []),
    "verification": ("Verification", verification_rpc, ["Verify", "ScoreConfidence"]),
}


@asynccontextmanager
async def system(url, budgets=Budgets(5, 5, 5, 5)):  # noqa: B008 - frozen
    running = System()
    async with AsyncExitStack() as stack:
        stubs = {}
        for agent, (name, rpc, idempotent) in AGENTS.items():
            service = f"verity.v1.{name}Service"
            described = descriptor_pool.Default().FindServiceByName(service)
            served = await stack.enter_async_context(AsyncExitStack())
            server = await served.enter_async_context(
                serving(
                    Service(
                        service,
                        getattr(rpc, f"add_{name}ServiceServicer_to_server"),
                        getattr(running, agent),
                        dict.fromkeys(described.methods_by_name, 10.0),
                    ),
                    Settings(grace_seconds=0),
                )
            )
            running.stops[agent] = served
            opened = await stack.enter_async_context(
                channel(server.address, service=service, idempotent=idempotent)
            )
            stubs[agent] = getattr(rpc, f"{name}ServiceStub")(opened)
        memory = await stack.enter_async_context(
            open_memory(url, Keeping(60, turns=3), timeout_seconds=1, pause_seconds=0.05)
        )
        agents = Agents(
            **stubs, memory=memory, budgets=budgets, measures=Measures(telemetry.meter())
        )
        asker = Asker(build().compile(), agents, Limits(max_attempts=3, passages=8))
        server = await stack.enter_async_context(
            serving(
                Service(
                    "verity.v1.GroundingService",
                    grounding_rpc.add_GroundingServiceServicer_to_server,
                    GroundingServicer(asker, memory),
                    DEADLINES,
                ),
                Settings(grace_seconds=0, tenant="tenant"),
            )
        )
        opened = await stack.enter_async_context(
            channel(server.address, service="verity.v1.GroundingService", idempotent=[])
        )
        running.client = grounding_rpc.GroundingServiceStub(opened)
        yield running


@pytest.fixture
async def verity(store):
    with store.client() as inside:
        inside.flushall()
    async with system(store.url) as running:
        yield running


async def failure(call) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await call
    return raised.value


async def collect(call, events) -> None:
    async for event in call:
        events.append(event)


async def test_an_answer_is_stored_exactly_as_it_was_given(verity):
    answer = await verity.ask(conversation_id="c")
    assert answer.status == Answer.STATUS_ANSWERED
    stored = await verity.client.GetAnswer(grounding.GetAnswerRequest(answer_id=answer.id))
    assert stored.answer == answer
    listed = await verity.client.ListAnswers(grounding.ListAnswersRequest(conversation_id="c"))
    assert list(listed.answers) == [answer]
    assert listed.next_page_token == ""


async def test_a_streamed_answer_is_stored_exactly_as_it_was_given(verity):
    events = [event async for event in verity.stream(conversation_id="c")]
    answer = events[-1].answer
    sent = [e.statement_verified.statement for e in events if e.HasField("statement_verified")]
    assert sent == list(answer.statements) != []
    stored = await verity.client.GetAnswer(grounding.GetAnswerRequest(answer_id=answer.id))
    assert stored.answer == answer


async def test_an_answer_carries_its_trace_and_each_stage_is_a_span_with_its_call_inside(
    observed, store
):
    async with system(store.url) as verity:
        answer = await verity.ask()
    spans = {span.name: span for span in observed.spans}
    served = [s for s in observed.spans if s.name == "verity.v1.GroundingService/Ask"]
    assert {format(s.context.trace_id, "032x") for s in observed.spans} == {answer.trace_id}
    for stage in ("recall", "retrieve", "generate", "verify", "score", "remember"):
        assert spans[f"stage.{stage}"].parent.span_id in {s.context.span_id for s in served}
    for stage, method in (
        ("retrieve", "RetrievalService/Retrieve"),
        ("generate", "GenerationService/GenerateStream"),
        ("generate", "VerificationService/Verify"),
        ("verify", "VerificationService/Verify"),
        ("score", "VerificationService/ScoreConfidence"),
    ):
        parents = {s.parent.span_id for s in observed.spans if s.name == f"verity.v1.{method}"}
        assert spans[f"stage.{stage}"].context.span_id in parents
    assert {p.attributes["stage"] for p in observed.points("verity.stage.duration")} == {
        *("recall", "retrieve", "generate", "verify", "score", "remember")
    }


async def test_no_span_log_or_metric_carries_what_was_asked_or_answered(observed, store, caplog):
    async with system(store.url) as verity:
        verity.generation.drafts = [draft(BAD), draft(GOOD)]
        await verity.ask("Is the canary asked?")
    said = [span.to_json() for span in observed.spans]
    said += [observed.metric_reader.get_metrics_data().to_json(), caplog.text]
    assert all("verity" in one for one in said)
    for words in ("canary", "passport", "notarized", "UBO"):
        assert not any(words in one for one in said)


async def test_pages_of_answers_are_newest_first_and_never_twice(verity):
    given = [await verity.ask(f"q{n}?", conversation_id="c") for n in range(5)]
    seen, token = [], ""
    while True:
        page = await verity.client.ListAnswers(
            grounding.ListAnswersRequest(conversation_id="c", page_size=2, page_token=token)
        )
        seen += [answer.id for answer in page.answers]
        token = page.next_page_token
        if not token:
            break
    assert seen == [answer.id for answer in reversed(given)]


async def test_a_token_of_another_conversation_is_refused(verity):
    for n in range(3):
        await verity.ask(f"q{n}?", conversation_id="c")
        await verity.ask(f"q{n}?", conversation_id="d")
    page = await verity.client.ListAnswers(
        grounding.ListAnswersRequest(conversation_id="d", page_size=1)
    )
    for token in (page.next_page_token, "nonsense"):
        request = grounding.ListAnswersRequest(conversation_id="c", page_token=token)
        error = await failure(verity.client.ListAnswers(request))
        assert error.code() is Code.INVALID_ARGUMENT
        assert "page_token" in rpc_status.from_call(error).message


async def test_conversations_are_listed_in_pages(verity):
    for name in ("c1", "c2", "c3"):
        await verity.ask(f"Of {name}?", conversation_id=name)
    token, seen = "", []
    while token or not seen:
        page = await verity.client.ListConversations(
            grounding.ListConversationsRequest(page_size=2, page_token=token)
        )
        seen += [(one.id, one.first_question) for one in page.conversations]
        token = page.next_page_token
    assert seen == [("c3", "Of c3?"), ("c2", "Of c2?"), ("c1", "Of c1?")]


@pytest.mark.parametrize("token", ["nonsense", "0", "-1", "9" * 19, "\u0663"])
async def test_a_token_that_is_no_moment_is_refused(verity, token):
    request = grounding.ListConversationsRequest(page_token=token)
    error = await failure(verity.client.ListConversations(request))
    assert error.code() is Code.INVALID_ARGUMENT
    assert "page_token" in rpc_status.from_call(error).message


async def test_quality_is_that_of_the_last_answers(verity):
    await verity.ask("q1?", conversation_id="c")
    verity.generation.drafts = [draft(insufficient=True)]
    last = await verity.ask("q2?", conversation_id="c")
    quality = await verity.client.GetGroundingQuality(
        grounding.GetGroundingQualityRequest(conversation_id="c")
    )
    assert list(quality.recent) == [1.0, 0.0]
    assert quality.answer_count == 2
    assert quality.historical_quality == last.historical_quality == 0.5


async def test_quality_names_the_documents_that_fail_and_what_is_done_about_it(verity):
    verity.generation.drafts = [draft(GOOD, BAD), draft(GOOD, BAD)]
    for n in range(5):
        await verity.ask(f"q{n}?", conversation_id="c", max_attempts=1)
    quality = await verity.client.GetGroundingQuality(
        grounding.GetGroundingQualityRequest(conversation_id="c")
    )
    (failing,) = quality.failing_documents
    assert (failing.document_id, failing.source_name) == ("document-of-p1", "p1.pdf")
    assert (failing.failures, failing.answers) == (5, 5)
    assert [(r.code, r.count) for r in failing.reasons] == [(core.Reason.CODE_QUOTE_NOT_FOUND, 5)]
    assert quality.strategy.rerank
    assert [why.choice for why in quality.strategy.why] == ["passages", "rerank"]
    answer = await verity.ask("The next?", conversation_id="c")
    assert answer.strategy == quality.strategy


async def test_a_statement_arrives_while_the_next_is_drafted_and_leaving_stops_the_drafter(verity):
    going = verity.generation.pace()
    call = verity.stream()
    kinds = []
    async with asyncio.timeout(5):
        while "attempt_started" not in kinds:
            kinds.append((await call.read()).WhichOneof("event"))
        going.release()
        while "statement_verified" not in kinds:
            kinds.append((await call.read()).WhichOneof("event"))
        call.cancel()
        await verity.generation.cancelled.wait()


async def test_a_caller_whose_time_ends_gets_what_was_verified_by_then(verity):
    verity.generation.drafts = [draft(GOOD, BAD)]
    verity.generation.pace().release()
    answer = await verity.ask(timeout=1)
    assert answer.status == Answer.STATUS_PARTIAL
    assert [s.text for s in answer.statements] == [GOOD.text]
    assert [a.outcome for a in answer.attempt_log] == [grounding.Attempt.OUTCOME_UNAVAILABLE]
    stored = await verity.client.GetAnswer(grounding.GetAnswerRequest(answer_id=answer.id))
    assert stored.answer == answer
    async with asyncio.timeout(5):
        await verity.generation.cancelled.wait()


async def test_a_corpus_alone_is_an_invalid_argument_that_names_the_other(verity):
    error = await failure(verity.ask(facts=retrieval.DocumentFilter()))
    assert error.code() is Code.INVALID_ARGUMENT
    error = await failure(verity.ask(as_of="next Tuesday"))
    assert error.code() is Code.INVALID_ARGUMENT


async def test_what_is_unknown_is_not_found(verity):
    client = verity.client
    for call in (
        client.GetAnswer(grounding.GetAnswerRequest(answer_id="nothing")),
        client.ListAnswers(grounding.ListAnswersRequest(conversation_id="nothing")),
        client.GetGroundingQuality(grounding.GetGroundingQualityRequest(conversation_id="nothing")),
    ):
        assert (await failure(call)).code() is Code.NOT_FOUND


@pytest.mark.parametrize("question", ["", "  ", "x" * 100_000])
async def test_a_question_that_breaks_its_rules_is_refused_before_anything_is_called(
    verity, question
):
    error = await failure(verity.ask(question))
    assert error.code() is Code.INVALID_ARGUMENT
    assert verity.retrieval.requests == []


@pytest.mark.parametrize("agent", list(AGENTS))
async def test_a_service_that_is_gone_is_unavailable_within_the_deadline(verity, agent):
    await verity.stops[agent].aclose()
    error = await failure(verity.ask(timeout=60))
    assert error.code() is Code.UNAVAILABLE
    events = []
    error = await failure(collect(verity.stream(), events))
    assert error.code() is Code.UNAVAILABLE
    assert not {e.WhichOneof("event") for e in events} & {"statement_verified", "answer"}


async def test_a_stage_over_its_budget_ends_the_call(store):
    async with system(store.url, Budgets(5, 5, 0.1, 5)) as verity:
        verity.verification.hold()
        error = await failure(verity.ask())
        assert error.code() is Code.DEADLINE_EXCEEDED
        async with asyncio.timeout(5):
            await verity.verification.cancelled.wait()


async def test_the_callers_deadline_ends_the_work_downstream(verity):
    verity.generation.hold()
    error = await failure(verity.ask(timeout=0.3))
    assert error.code() is Code.DEADLINE_EXCEEDED
    async with asyncio.timeout(5):
        await verity.generation.cancelled.wait()


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_caller_who_goes_away_ends_the_work_downstream_and_frees_the_key(verity, streamed):
    request = {"conversation_id": "c", "idempotency_key": "k"}
    released = verity.generation.hold()
    if streamed:
        call = verity.stream(**request)
        async with asyncio.timeout(5):
            await call.read()
            await verity.generation.asked_once.wait()
        call.cancel()
    else:
        task = asyncio.create_task(verity.ask(**request))
        async with asyncio.timeout(5):
            await verity.generation.asked_once.wait()
        task.cancel()
    async with asyncio.timeout(5):
        await verity.generation.cancelled.wait()
        released.set()
        while isinstance(answer := await verity.ask_or_error(**request), grpc.aio.AioRpcError):
            assert answer.code() is Code.ABORTED  # The cancelled call has not ended yet.
            await asyncio.sleep(0.01)
    assert answer.status == Answer.STATUS_ANSWERED


async def test_a_repeated_call_gets_the_first_answer(verity):
    first = await verity.ask(idempotency_key="k")
    assert await verity.ask(idempotency_key="k") == first
    assert len(verity.generation.requests) == 1
    error = await failure(verity.ask("Another question?", idempotency_key="k"))
    assert error.code() is Code.FAILED_PRECONDITION


async def test_ten_calls_at_once_under_one_key_are_answered_once(verity):
    released = verity.generation.hold()
    calls = [asyncio.create_task(verity.ask(idempotency_key="k")) for _ in range(10)]
    async with asyncio.timeout(5):
        await verity.generation.asked_once.wait()
        done, _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        while len(done) < 9:
            done, _ = await asyncio.wait(calls, timeout=0.01)
        released.set()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
    answers = [o for o in outcomes if isinstance(o, Answer)]
    assert len(answers) == 1
    assert {o.code() for o in outcomes if o not in answers} == {Code.ABORTED}


async def test_thirty_questions_at_once_in_one_conversation_are_all_kept(verity):
    answers = await asyncio.gather(*(verity.ask(f"q{n}?", conversation_id="c") for n in range(30)))
    listed = await verity.client.ListAnswers(
        grounding.ListAnswersRequest(conversation_id="c", page_size=100)
    )
    assert {a.id for a in listed.answers} == {a.id for a in answers}
    for answer in answers:
        stored = await verity.client.GetAnswer(grounding.GetAnswerRequest(answer_id=answer.id))
        assert stored.answer == answer


async def test_answers_come_while_the_store_is_down_and_are_kept_again_when_it_is_back(tmp_path):
    with Store(tmp_path) as store:
        async with system(store.url) as verity:
            before = await verity.ask(conversation_id="c")
            store.stop()
            degraded = await verity.ask(conversation_id="c", idempotency_key="k")
            assert degraded.status == Answer.STATUS_ANSWERED
            assert degraded.memory_degraded
            assert not degraded.HasField("historical_quality")
            client = verity.client
            for call in (
                client.GetAnswer(grounding.GetAnswerRequest(answer_id=before.id)),
                client.ListAnswers(grounding.ListAnswersRequest(conversation_id="c")),
                client.ListConversations(grounding.ListConversationsRequest()),
                client.GetGroundingQuality(
                    grounding.GetGroundingQualityRequest(conversation_id="c")
                ),
            ):
                assert (await failure(call)).code() is Code.UNAVAILABLE
            store.start()
            async with asyncio.timeout(5):
                while (await verity.ask(conversation_id="c")).memory_degraded:
                    pass
            stored = await client.GetAnswer(grounding.GetAnswerRequest(answer_id=before.id))
            assert stored.answer == before


async def test_a_full_store_degrades_and_does_not_fail(tmp_path):
    with Store(tmp_path) as store, store.client() as inside:
        async with system(store.url) as verity:
            inside.config_set("maxmemory", 1)
            answer = await verity.ask(conversation_id="c", idempotency_key="k")
            assert answer.status == Answer.STATUS_ANSWERED
            assert answer.memory_degraded


async def test_a_verifier_that_contradicts_itself_releases_nothing(verity):
    def careless(request):
        verified = core.VerifiedStatement(text=GOOD.text, verdict=core.VERDICT_SUPPORTED)
        return verification.VerifyResponse(statements=[verified])

    verity.verification.answering = careless
    answer = await verity.ask()
    assert answer.status == Answer.STATUS_ABSTAINED
    assert answer.abstention.type == core.Abstention.TYPE_UNVERIFIABLE
    assert not answer.statements
    assert GOOD.text not in answer.text
