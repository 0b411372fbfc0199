"""The model's adapter against an endpoint that misbehaves in every way it can."""

import asyncio
import json
import logging
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from langchain_core.tracers.langchain import wait_for_all_tracers
from langsmith import utils as langsmith_utils
from scripted_model import Answer, ScriptedModel, called, in_mode, said

from services.chassis.errors import Overloaded, Unavailable
from services.generation.capabilities import known
from services.generation.drafter import (
    Citation,
    Compliance,
    Failure,
    Fault,
    Objection,
    Passage,
    Statement,
    Task,
    Usage,
)
from services.generation.endpoint import Endpoint
from services.generation.model import open_model
from services.generation.modes import Mode
from services.generation.openai import OpenAIDrafter
from services.generation.prompt import load
from services.generation.reply import form
from services.generation.spending import Prices, Spending

RULE = "Any corporate entity with a UBO above 25% must submit a notarized proof of funds."
TASK = Task("What must be submitted?", (Passage("passage-7", RULE), Passage("passage-9", "Other.")))
GOOD = {
    "statements": [
        {
            "text": "A notarized proof of funds must be submitted.",
            "citations": [{"source": "src_0", "quote": "must submit a notarized proof of funds"}],
        }
    ],
    "insufficient": False,
    "compliance": "unknown",
}
MODES = tuple(Mode)
every_mode = pytest.mark.parametrize("mode", MODES)


@pytest.fixture
async def model():
    async with ScriptedModel().listening() as scripted:
        yield scripted


@asynccontextmanager
async def drafting(model, mode="json_schema", prices=None, context_tokens=0, **changes):
    endpoint = Endpoint(
        model="small-model",
        base_url=model.url,
        api_key="sk-secret",
        connect_seconds=1,
        first_token_seconds=5,
        token_seconds=5,
        total_seconds=5,
        max_output_tokens=500,
    )
    endpoint = replace(endpoint, **changes)
    async with open_model(endpoint) as opened, known(opened, Mode(mode), context_tokens) as known_:
        yield OpenAIDrafter(
            opened,
            known_,
            load("prompt-2"),
            load("resolve-1"),
            Spending(endpoint.model, prices or Prices()),
        )


def changed(**changes) -> str:
    return json.dumps({**GOOD, **changes})


def one_statement(**changes) -> str:
    return changed(statements=[{**GOOD["statements"][0], **changes}])


@every_mode
async def test_a_good_reply_is_a_draft_that_cites_passages_by_their_own_ids(mode, model):
    model.answer = in_mode(mode, json.dumps(GOOD))
    async with drafting(model, mode) as drafter:
        draft = await drafter.draft(TASK)
    citation = Citation("passage-7", "must submit a notarized proof of funds")
    assert draft.statements == (
        Statement("A notarized proof of funds must be submitted.", (citation,)),
    )
    assert draft.compliance is Compliance.UNKNOWN
    assert draft.usage == Usage(120, 30)
    assert drafter.generator == "openai:small-model/prompt-2"


@every_mode
async def test_the_mode_the_key_and_the_limits_are_in_the_request(mode, model):
    model.answer = in_mode(mode, json.dumps(GOOD))
    async with drafting(model, mode) as drafter:
        await drafter.draft(TASK)
    [request] = model.requests
    assert model.paths == ["/v1/chat/completions"]
    assert model.keys == ["bearer sk-secret"]
    assert (request["model"], request["temperature"]) == ("small-model", 0)
    assert request["max_tokens"] == 500
    assert not request.get("stream")
    system = request["messages"][0]["content"]
    if mode is Mode.FUNCTION_CALLING:
        [tool] = request["tools"]
        schema = tool["function"]["parameters"]
        assert request["tool_choice"]["function"]["name"] == tool["function"]["name"] == "draft"
    elif mode is Mode.JSON_SCHEMA:
        schema = request["response_format"]["json_schema"]["schema"]
        assert request["response_format"]["json_schema"]["strict"] is True
    elif mode is Mode.JSON_OBJECT_SCHEMA:
        assert request["response_format"]["type"] == "json_object"
        schema = request["response_format"]["schema"]
    else:
        wanted = {"type": "json_object"} if mode is Mode.JSON_OBJECT else None
        assert request.get("response_format") == wanted
        schema = json.loads(system[system.index('{"additionalProperties"') :])
    assert schema == form().schema


async def test_an_invented_source_is_kept_for_verification_to_name(model):
    invented = {"source": "src_9", "quote": "made up"}
    model.answer = said(one_statement(citations=[invented]))
    async with drafting(model) as drafter:
        draft = await drafter.draft(TASK)
    assert draft.statements[0].citations == (Citation("src_9", "made up"),)


async def test_a_model_that_finds_no_answer_says_so_and_judges_nothing(model):
    model.answer = said(changed(statements=[], insufficient=True, compliance="compliant"))
    async with drafting(model) as drafter:
        draft = await drafter.draft(TASK)
    assert draft.insufficient
    assert draft.compliance is Compliance.NOT_ASKED


async def test_usage_that_is_not_reported_is_estimated_and_says_so(model):
    model.answer = said(json.dumps(GOOD), usage=False)
    async with drafting(model) as drafter:
        draft = await drafter.draft(TASK)
    assert draft.usage.estimated
    assert draft.usage.input_tokens > draft.usage.output_tokens > 0


@every_mode
@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("Here you are: " + json.dumps(GOOD), Failure.NOT_JSON),
        (json.dumps(GOOD)[:-20], Failure.NOT_JSON),
        ('{"statements": []}', Failure.WRONG_SHAPE),
    ],
    ids=["prose around it", "cut off, though it says it stopped", "a missing field"],
)
async def test_what_is_not_exactly_the_form_is_no_draft(text, failure, mode, model):
    model.answer = in_mode(mode, text)
    await expect(failure, model, mode)


COMPLETIONS = {
    "refused": (lambda mode: said(None, refusal="I cannot."), Failure.REFUSED),
    "filtered": (lambda mode: in_mode(mode, "{}", finish="content_filter"), Failure.REFUSED),
    "truncated": (
        lambda mode: in_mode(mode, json.dumps(GOOD), finish="length"),
        Failure.TRUNCATED,
    ),
    "nothing": (lambda mode: said(""), Failure.EMPTY),
    "null": (lambda mode: said(None), Failure.EMPTY),
}


@every_mode
@pytest.mark.parametrize(("answer", "failure"), COMPLETIONS.values(), ids=COMPLETIONS)
async def test_a_completion_without_a_whole_answer_is_no_draft(answer, failure, mode, model):
    model.answer = answer(mode)
    await expect(failure, model, mode)


async def test_prose_where_a_tool_call_was_asked_for_is_no_draft(model):
    model.answer = said("I would rather talk.")
    await expect(Failure.NOT_JSON, model, "function_calling")


async def test_a_tool_call_where_json_was_asked_for_is_no_draft(model):
    model.answer = called(json.dumps(GOOD))
    await expect(Failure.EMPTY, model, "json_schema")


BODIES = {
    "a web page": Answer(b"<html>Sign in</html>", headers={"content-type": "text/html"}),
    "half a body of JSON": Answer(b'{"choices": [{"mess'),
    "invalid UTF-8": Answer(b'{"choices": "\xff\xfe"}'),
    "null choices": Answer(b'{"choices": null}'),
    "no choices": Answer(b'{"id": "x"}'),
    "an empty list of choices": Answer(b'{"choices": []}'),
    "choices of another kind": Answer(b'{"choices": [7]}'),
    "an error that calls itself success": Answer(b'{"error": {"message": "out of memory"}}'),
    "a list": Answer(b"[]"),
    "nothing": Answer(b""),
}


# JSON modes share one path through LangChain.
@pytest.mark.parametrize("mode", [Mode.JSON_SCHEMA, Mode.FUNCTION_CALLING])
@pytest.mark.parametrize("answer", BODIES.values(), ids=BODIES)
async def test_a_body_that_is_no_completion_is_no_draft(answer, mode, model):
    model.answer = answer
    await expect(Failure.MALFORMED, model, mode)


async def expect(failure, model, mode):
    async with drafting(model, mode) as drafter:
        draft = await drafter.draft(TASK)
    assert draft.failure is failure
    assert not draft.statements
    assert not draft.insufficient
    assert len(model.requests) == 1  # Nothing tries again behind our back.


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        (400, "VERITY_STRUCTURED_OUTPUT"),
        (401, "OPENAI_API_KEY"),
        (403, "OPENAI_API_KEY"),
        (404, "VERITY_MODEL"),
        (422, "422"),
        (500, "500"),
        (503, "503"),
    ],
)
async def test_an_http_error_is_unavailable_and_says_what_to_check(status, hint, model):
    model.answer = Answer(b'{"error": {"message": "key sk-secret is bad"}}', status)
    async with drafting(model) as drafter:
        with pytest.raises(Unavailable, match=hint) as raised:
            await drafter.draft(TASK)
    assert "sk-secret" not in str(raised.value)
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("header", "seconds"), [("7", 7), ("0.5", 0.5), ("86400", 60), ("nan", 1), ("soon", 1), ("", 1)]
)
async def test_too_many_requests_says_when_to_come_back(header, seconds, model):
    model.answer = Answer(b"{}", 429, {"retry-after": header} if header else {})
    async with drafting(model) as drafter:
        with pytest.raises(Overloaded) as raised:
            await drafter.draft(TASK)
    assert raised.value.retry_after == seconds
    assert len(model.requests) == 1


async def test_an_endpoint_that_is_not_there_is_unavailable(model):
    async with drafting(model, base_url="http://127.0.0.1:1/v1") as drafter:
        with pytest.raises(Unavailable, match="OPENAI_BASE_URL"):
            await drafter.draft(TASK)


@pytest.mark.parametrize("body", [b"", b'{"id": '], ids=["before the reply", "in the reply"])
async def test_a_model_that_hangs_is_given_up_and_its_connection_closed(body, model):
    model.answer = Answer(body, hangs=True)
    async with drafting(model, total_seconds=1) as drafter:
        with pytest.raises(Unavailable, match="in time"):
            await drafter.draft(TASK)
        async with asyncio.timeout(5):
            await model.abandoned.wait()
    assert len(model.requests) == 1


async def test_cancelling_closes_the_request_to_the_model(model):
    model.answer = Answer(hangs=True)
    async with drafting(model) as drafter:
        call = asyncio.create_task(drafter.draft(TASK))
        await model.asked.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        async with asyncio.timeout(5):
            await model.abandoned.wait()


async def test_no_text_goes_to_langsmith_whatever_the_environment_says(model, monkeypatch):
    reached = []

    async def langsmith(reader, writer):
        reached.append(await reader.read(1))
        writer.close()

    async with await asyncio.start_server(langsmith, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        monkeypatch.setenv("LANGSMITH_TRACING", "true")
        monkeypatch.setenv("LANGSMITH_API_KEY", "key")
        monkeypatch.setenv("LANGSMITH_ENDPOINT", f"http://127.0.0.1:{port}")
        langsmith_utils.get_env_var.cache_clear()
        model.answer = said(json.dumps(GOOD))
        async with drafting(model) as drafter:
            await drafter.draft(TASK)
        await asyncio.to_thread(wait_for_all_tracers)
    langsmith_utils.get_env_var.cache_clear()
    assert not reached


async def test_no_text_is_logged_even_at_debug(model, caplog):
    caplog.set_level(logging.DEBUG)
    model.answer = said(json.dumps(GOOD))
    async with drafting(model) as drafter:
        await drafter.draft(TASK)
    logged = "".join(map(str, (record.__dict__ for record in caplog.records)))
    assert "notarized" not in logged
    assert "sk-secret" not in logged


async def test_the_span_counts_tokens_and_holds_no_text(model, observed):
    model.answer = said(json.dumps(GOOD))
    async with drafting(model) as drafter:
        await drafter.draft(TASK)
    [span] = observed.spans
    assert span.name == "chat small-model"
    assert span.attributes["gen_ai.usage.input_tokens"] == 120
    assert span.attributes["gen_ai.usage.output_tokens"] == 30
    told = str(dict(span.attributes)) + str(span.events)
    assert not [text for text in (TASK.question, RULE, "notarized") if text in told]


async def test_tokens_of_a_truncated_reply_are_counted_all_the_same(model, observed):
    model.answer = said("{", finish="length")
    async with drafting(model) as drafter:
        assert (await drafter.draft(TASK)).failure is Failure.TRUNCATED
    [span] = observed.spans
    assert span.attributes["gen_ai.usage.output_tokens"] == 30


async def test_objections_reach_the_model_with_the_closest_words(model):
    model.answer = said(json.dumps(GOOD))
    rejected = Statement("It is due.", (Citation("passage-7", "it is due"),))
    fault = Fault("QUOTE_NOT_FOUND", "The quote is not in the source.", "must submit a notarized")
    async with drafting(model) as drafter:
        await drafter.draft(replace(TASK, objections=(Objection(rejected, (fault,)),)))
    for told in ("It is due.", "QUOTE_NOT_FOUND", "must submit a notarized", "were rejected"):
        assert told in model.prompt


@pytest.mark.parametrize(
    ("given", "called_at"),
    [
        ("", "https://api.openai.com/v1"),
        ("http://localhost:8080", "http://localhost:8080/v1"),
        ("http://localhost:8080/", "http://localhost:8080/v1"),
        ("http://localhost:8080/v1", "http://localhost:8080/v1"),
        ("https://host/openai/deployments/x", "https://host/openai/deployments/x"),
    ],
)
def test_an_address_without_a_path_gets_the_customary_one(given, called_at):
    assert Endpoint("m", given).url == called_at
