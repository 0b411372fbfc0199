"""Models that misbehave, through the whole loop: bounded, typed, and nothing of it released."""

from contextlib import asynccontextmanager

import grpc
import pytest
from fakes import FakeMemory, FakeRetrieval, passage
from verity.v1 import core_pb2 as core
from verity.v1 import generation_service_pb2 as generation
from verity.v1 import grounding_service_pb2 as grounding

from benchmarks.in_process import system
from cli.scripted_model.script import parse
from cli.scripted_model.server import ScriptedModel
from services.generation.__main__ import Settings
from services.orchestrator.graph import Budgets

RULE = "Any corporate entity with a UBO above 25% equity must submit a notarized proof of funds."
ASKED = grounding.AskRequest(question="Who must submit a notarized proof of funds?")
IN_GERMAN = "Jede Gesellschaft muss einen notariell beglaubigten Nachweis vorlegen."
Failure = generation.GenerateResponse
Abstention = core.Abstention


def say(text, quote):
    statement = f'{{"text": "{text}", "citations": [{{"source": "src_0", "quote": "{quote}"}}]}}'
    rest = '"insufficient": false, "compliance": "not_asked", "suggested_query": ""'
    return {"do": "say", "text": f'{{"statements": [{statement}], {rest}}}'}


@asynccontextmanager
async def asking(behaviour, *passages, **settings):
    """A system whose model does one thing, and what it was asked."""
    script = parse({"default": behaviour})
    found = passages or (passage(text=RULE),)
    async with ScriptedModel(script).listening() as model:
        chosen = Settings(
            backend="openai",
            model="scripted",
            openai_base_url=f"{model.url}/v1",
            openai_api_key="none",
            structured_output="json_schema",
            **settings,
        )
        budgets = Budgets(10, 10, 10, 10, answer=20)
        retrieval = FakeRetrieval(*found)
        async with system(retrieval, chosen, FakeMemory(), budgets=budgets) as stub:
            yield stub, model.seen


async def answered(stub):
    """The same from Ask and from AskStream, which sends nothing before it."""
    events = [e async for e in stub.AskStream(grounding.AskStreamRequest(ask=ASKED))]
    asked = (await stub.Ask(ASKED)).answer
    sent = [e.statement_verified.statement.text for e in events if e.HasField("statement_verified")]
    assert sent == [one.text for one in events[-1].answer.statements]
    assert sent == [one.text for one in asked.statements]
    return asked


@pytest.mark.parametrize(
    ("behaviour", "failure"),
    [
        ({"do": "huge"}, Failure.FAILURE_TOO_LARGE),
        ("many_citations", Failure.FAILURE_TOO_LARGE),
        ({"do": "malformed", "kind": "utf8"}, Failure.FAILURE_MALFORMED),
        ({"do": "malformed", "kind": "half"}, Failure.FAILURE_MALFORMED),
        ("deep", Failure.FAILURE_WRONG_SHAPE),
        ("truncate", Failure.FAILURE_TRUNCATED),
        ("refuse", Failure.FAILURE_REFUSED),
        ("prose_around", Failure.FAILURE_NOT_JSON),
    ],
    ids=str,
)
async def test_a_reply_that_is_no_draft_is_asked_for_once_more_and_then_there_is_no_answer(
    behaviour, failure
):
    async with asking(behaviour) as (stub, seen):
        answer = await answered(stub)
    assert answer.abstention.type == Abstention.TYPE_UNVERIFIABLE
    assert [one.failure for one in answer.attempt_log] == [failure, failure]
    assert not answer.statements
    # One attempt is one request, by Ask as by AskStream.
    assert seen.drafts == 2 * answer.attempts
    assert len(answer.SerializeToString()) < 100_000


@pytest.mark.parametrize("behaviour", ["never", {"do": "stall", "at": 0.3}], ids=str)
async def test_a_model_that_never_ends_is_unavailable_in_time(behaviour):
    bounds = {"model_first_token_seconds": 1.0, "model_token_seconds": 1.0}
    async with asking(behaviour, **bounds) as (stub, seen):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.Ask(ASKED, timeout=10)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        await seen.abandoned.wait()
    assert seen.drafts == 1


async def test_an_answer_in_another_language_than_its_source_is_no_answer():
    async with asking(say(IN_GERMAN, RULE)) as (stub, _):
        answer = await answered(stub)
    assert answer.abstention.type == Abstention.TYPE_UNVERIFIABLE
    codes = {reason.code for one in answer.objections for reason in one.reasons}
    assert core.Reason.CODE_NO_ENTAILMENT in codes


async def test_the_same_source_cited_again_and_again_is_cited_once():
    async with asking("duplicate_ids") as (stub, _):
        answer = await answered(stub)
    assert answer.status == answer.STATUS_ANSWERED
    assert [len(one.citations) for one in answer.statements] == [1]


async def test_what_is_too_long_for_the_model_is_left_out_and_said_to_be():
    long = [passage(f"p{n}", f"{RULE} {'It is so. ' * 400}") for n in range(8)]
    async with asking("good", *long, model_context_tokens=8000) as (stub, seen):
        answer = await answered(stub)
    assert answer.status == answer.STATUS_ANSWERED
    assert 0 < answer.attempt_log[0].dropped_passages < 8
    sizes = [sum(len(m["content"]) for m in body["messages"]) for body in seen.bodies]
    assert max(sizes) < 8000 * 6


async def test_where_nothing_fits_the_model_is_not_asked_and_there_is_no_answer():
    long = passage(text=f"{RULE} {'It is so. ' * 20_000}")
    async with asking("good", long, model_context_tokens=4000) as (stub, seen):
        answer = await answered(stub)
    assert answer.abstention.type == Abstention.TYPE_NO_EVIDENCE
    assert answer.attempt_log[0].dropped_passages == 1
    assert seen.drafts == 0
