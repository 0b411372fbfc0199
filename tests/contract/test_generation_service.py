"""GenerationService over a real channel, with each backend."""

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from observed import eventually
from scripted_model import Answer, ScriptedModel, said
from verity.v1 import core_pb2 as core
from verity.v1 import generation_service_pb2 as pb
from verity.v1 import generation_service_pb2_grpc as rpc

from cli.scripted_model import server as scripted
from cli.scripted_model.script import parse
from services.chassis.client import channel
from services.chassis.server import Service, serving
from services.generation.__main__ import METHODS, Settings, open_drafter, open_extractive
from services.generation.measured import Measured
from services.generation.servicer import GenerationServicer

Code = grpc.StatusCode
NAME = "verity.v1.GenerationService"
RULE = (
    "Section 5.1: If proof of funds is not notarized, the onboarding must be escalated to the"
    " Senior Compliance Officer."
)
QUESTION = "What must be done if proof of funds is not notarized?"


@asynccontextmanager
async def generating(**settings):
    """A stub of the service as its process builds it."""
    chosen = Settings(**settings)
    async with open_drafter(chosen) as drafter, open_extractive(chosen) as extractive:
        service = Service(
            NAME,
            rpc.add_GenerationServiceServicer_to_server,
            GenerationServicer(Measured(drafter), Measured(extractive)),
            dict.fromkeys(METHODS, 10.0),
        )
        async with (
            serving(service, chosen) as running,
            channel(running.address, service=NAME, idempotent=()) as opened,
        ):
            await running.warming
            yield rpc.GenerationServiceStub(opened)


@asynccontextmanager
async def modelling(answer, **settings):
    async with ScriptedModel().listening() as model:
        model.answer = answer
        chosen = {
            "backend": "openai",
            "model": "small",
            "openai_base_url": model.url,
            "structured_output": "json_schema",
            **settings,
        }
        async with generating(**chosen) as stub:
            yield stub, model


def passage(name="p55", text=RULE) -> core.Passage:
    return core.Passage(
        id=name,
        document_id="policy",
        source_name="Policy.pdf",
        authority=core.AUTHORITY_HIGH,
        text=text,
        span=core.Span(start=100, end=100 + len(text)),
    )


def request(**more) -> pb.GenerateRequest:
    return pb.GenerateRequest(**{"question": QUESTION, "passages": [passage()], **more})


async def test_the_extractive_backend_stands_in_for_a_model_that_is_down():
    async with modelling(Answer(status=500)) as (stub, model):
        made = await stub.Generate(request(extractive=True))
        assert made.generator == "extractive/1"
        assert [statement.text for statement in made.statements] == [RULE]
        asked = pb.GenerateStreamRequest(generate=request(extractive=True))
        *_, last = [reply async for reply in stub.GenerateStream(asked)]
        assert last.draft.generator == "extractive/1"
        assert model.requests == []


DRAFT = json.dumps(
    {
        "statements": [
            {
                "text": "The onboarding must be escalated.",
                "citations": [{"source": "src_0", "quote": "the onboarding must be escalated"}],
            }
        ],
        "insufficient": False,
        "compliance": "non_compliant",
    }
)


async def test_the_extractive_backend_answers_word_for_word_and_names_itself():
    async with generating() as stub:
        reply = await stub.Generate(request(), timeout=5)
    [statement] = reply.statements
    assert statement.text == RULE
    assert statement.citations == [core.DraftCitation(passage_id="p55", quote=RULE)]
    assert not reply.insufficient
    assert reply.compliance == core.COMPLIANCE_UNSPECIFIED
    assert reply.usage == pb.Usage()
    assert reply.generator == "extractive/1"


@pytest.mark.parametrize("passages", [[], [passage(text="The vault opens at nine in winter.")]])
async def test_the_extractive_backend_abstains_where_nothing_answers(passages):
    async with generating() as stub:
        reply = await stub.Generate(request(passages=passages), timeout=5)
    assert reply.insufficient
    assert not reply.statements
    assert reply.generator == "extractive/1"


async def test_an_objection_over_the_wire_takes_its_sentence_away():
    objection = core.Objection(
        attempt=1,
        statement=core.DraftStatement(text=RULE),
        verdict=core.VERDICT_UNSUPPORTED,
        reasons=[core.Reason(code=core.Reason.CODE_NO_ENTAILMENT, message="It does not follow.")],
    )
    async with generating() as stub:
        reply = await stub.Generate(request(objections=[objection]), timeout=5)
    assert reply.insufficient


async def test_a_stream_gives_each_statement_and_then_the_whole_draft():
    async with generating() as stub:
        asked = pb.GenerateStreamRequest(generate=request())
        *statements, last = [event async for event in stub.GenerateStream(asked, timeout=5)]
    assert [event.statement for event in statements] == list(last.draft.statements)
    assert last.draft.statements[0].text == RULE
    assert last.draft.generator == "extractive/1"


async def test_a_models_statement_is_streamed_and_leaving_closes_the_request_to_it():
    statement = json.loads(DRAFT)["statements"][0]
    cited = {"source": "{src_0}", "quote": statement["citations"][0]["quote"]}
    one = {"text": statement["text"], "cite": [cited]}
    # Half a minute of them: the model is at it when the caller leaves, however busy the machine is.
    script = {"default": {"do": "draft", "statements": [one] * 50, "tokens_per_second": 200}}
    async with scripted.ScriptedModel(parse(script)).listening() as model:
        settings = {"model": "scripted", "openai_base_url": model.url}
        async with generating(**settings, structured_output="json_schema") as stub:
            call = stub.GenerateStream(pb.GenerateStreamRequest(generate=request()), timeout=10)
            first = await call.read()
            assert first.statement.text == statement["text"]
            assert first.statement.citations[0].passage_id == "p55"
            call.cancel()
            async with asyncio.timeout(5):
                await model.seen.abandoned.wait()


async def test_what_is_kept_is_not_drafted_again():
    kept = core.DraftStatement(text=RULE)
    async with generating() as stub:
        reply = await stub.Generate(request(kept=[kept]), timeout=5)
    assert reply.insufficient
    assert not reply.statements


async def test_a_follow_up_is_resolved_from_the_questions_before():
    turn = pb.Turn(question="What was Acme's revenue in 2024?", answer="It was 7.")
    asked = pb.ResolveQuestionRequest(question="And the year before?", history=[turn])
    async with generating() as stub:
        resolved = await stub.ResolveQuestion(asked, timeout=5)
        alone = await stub.ResolveQuestion(
            pb.ResolveQuestionRequest(question=QUESTION, history=[turn]), timeout=5
        )
    assert resolved.standalone_question == "What was Acme's revenue in 2023?"
    assert resolved.resolver == "rules/1"
    assert (alone.standalone_question, alone.resolver) == (QUESTION, "")


async def test_a_models_draft_comes_with_usage_and_judgement():
    async with modelling(said(DRAFT)) as (stub, _):
        reply = await stub.Generate(request(), timeout=5)
    [statement] = reply.statements
    assert statement.citations[0].passage_id == "p55"
    assert reply.compliance == core.COMPLIANCE_NON_COMPLIANT
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (120, 30)
    assert reply.generator == "openai:small/prompt-2"


async def test_history_and_objections_reach_the_model():
    objection = core.Objection(
        statement=core.DraftStatement(
            text="Call the police.",
            citations=[core.DraftCitation(passage_id="p55", quote="call them")],
        ),
        reasons=[
            core.Reason(
                code=core.Reason.CODE_QUOTE_NOT_FOUND,
                message="The quote is nowhere.",
                closest_text="must be escalated to the Senior",
            )
        ],
    )
    turn = pb.Turn(question="Which form?", answer="A notarial act.")
    async with modelling(said(DRAFT)) as (stub, model):
        await stub.Generate(request(objections=[objection], history=[turn]), timeout=5)
    for told in (
        "Call the police.",
        "QUOTE_NOT_FOUND",
        "must be escalated to the Senior",
        "A notarial act.",
        RULE,
    ):
        assert told in model.prompt


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (said(None, refusal="No."), "REFUSED"),
        (said(DRAFT, finish="length"), "TRUNCATED"),
        (said(f"Sure! {DRAFT}"), "NOT_JSON"),
        (said(""), "EMPTY"),
        (Answer(b"<html>", headers={"content-type": "text/html"}), "MALFORMED"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_reply_that_is_no_draft_says_why_and_has_no_statements(answer, failure):
    async with modelling(answer) as (stub, model):
        reply = await stub.Generate(request(), timeout=5)
    assert pb.GenerateResponse.Failure.Name(reply.failure) == f"FAILURE_{failure}"
    assert not reply.statements
    assert not reply.insufficient
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer(b"{}", 401), Code.UNAVAILABLE),
        (Answer(b"{}", 500), Code.UNAVAILABLE),
        (Answer(b"{}", 429, {"retry-after": "7"}), Code.RESOURCE_EXHAUSTED),
    ],
    ids=["401", "500", "429"],
)
async def test_an_endpoint_that_fails_is_a_status_and_never_a_draft(answer, code):
    async with modelling(answer) as (stub, model):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.Generate(request(), timeout=5)
    assert caught.value.code() is code
    assert len(model.requests) == 1


async def test_a_busy_model_says_when_to_come_back():
    async with modelling(Answer(b"{}", 429, {"retry-after": "7"})) as (stub, _):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.Generate(request(), timeout=5)
    info = error_details_pb2.RetryInfo()
    assert rpc_status.from_call(caught.value).details[0].Unpack(info)
    assert info.retry_delay.seconds == 7


async def test_the_callers_deadline_closes_the_request_to_the_model():
    async with modelling(Answer(hangs=True)) as (stub, model):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.Generate(request(), timeout=0.5)
        async with asyncio.timeout(5):
            await model.abandoned.wait()
    assert caught.value.code() is Code.DEADLINE_EXCEEDED


async def test_a_caller_that_goes_away_closes_the_request_to_the_model():
    async with modelling(Answer(hangs=True)) as (stub, model):
        call = stub.Generate(request(), timeout=10)
        await model.asked.wait()
        call.cancel()
        async with asyncio.timeout(5):
            await model.abandoned.wait()


async def test_a_slow_model_is_unavailable_before_the_callers_deadline():
    async with modelling(Answer(hangs=True), model_total_seconds=0.2) as (stub, _):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.Generate(request(), timeout=5)
    assert caught.value.code() is Code.UNAVAILABLE


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        ({"question": " "}, "question"),
        ({"question": "x" * 4001}, "question"),
        ({"passages": [core.Passage(id="p")]}, "passages[0].text"),
        ({"passages": [passage()] * 51}, "passages"),
    ],
)
async def test_a_request_that_breaks_its_rules_never_reaches_the_model(bad, field):
    async with modelling(said(DRAFT)) as (stub, model):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.Generate(request(**bad), timeout=5)
    assert caught.value.code() is Code.INVALID_ARGUMENT
    found = error_details_pb2.BadRequest()
    assert rpc_status.from_call(caught.value).details[0].Unpack(found)
    assert [violation.field for violation in found.field_violations] == [field]
    assert not model.requests


async def test_outcomes_are_counted_by_generator(observed):
    async with modelling(said("no JSON")) as (stub, model):
        await stub.Generate(request(), timeout=5)
        model.answer = said(DRAFT)
        await stub.Generate(request(), timeout=5)
    counted = {
        point.attributes["verity.outcome"]: point.value
        for resource in observed.metric_reader.get_metrics_data().resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == "verity.generation.drafts"
        for point in metric.data.data_points
    }
    assert counted == {"not_json": 1, "answered": 1}


async def test_the_process_starts_answers_and_ends_in_peace(tmp_path):
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "services.generation",
            stderr=output,
            env={"PATH": os.environ["PATH"], "VERITY_BIND": "127.0.0.1:0"},
        )
    try:
        address = await eventually(lambda: _address(log.read_text()), seconds=20)
        async with grpc.aio.insecure_channel(address) as opened:
            reply = await rpc.GenerationServiceStub(opened).Generate(request(), timeout=5)
        assert reply.statements[0].text == RULE
    finally:
        process.terminate()
        async with asyncio.timeout(10):
            assert await process.wait() == 0
    assert "notarized" not in log.read_text()


def _address(log: str) -> str:
    events = map(json.loads, log.splitlines())
    return next((one["address"] for one in events if one["event"] == "listening"), "")
