"""Every structured mode at every kind of endpoint, and all that a model can do: typed outcomes."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from cli.scripted_model.profiles import PROFILES
from cli.scripted_model.script import parse
from cli.scripted_model.server import ScriptedModel
from services.chassis.errors import Overloaded, Unavailable
from services.generation import capabilities
from services.generation.capabilities import known
from services.generation.drafter import Draft, Failure, Passage, Task
from services.generation.endpoint import Endpoint
from services.generation.model import open_model
from services.generation.modes import Mode
from services.generation.openai import OpenAIDrafter
from services.generation.prompt import load
from services.generation.refusals import Rejected
from services.generation.spending import Prices, Spending

RULE = "A UBO holding more than 25% equity must submit a notarized proof of funds."
PASSAGES = (Passage("p1", f"Section 4. {RULE} It is kept for 5 years."), Passage("p2", "Other."))

# What the model does, and what comes of it: a draft, an abstention, or why it is neither.
OUTCOMES = {
    "good": "answered",
    "unknown_source": "answered",  # For verification to name.
    "duplicate_ids": "answered",
    "insufficient": "insufficient",
    "refuse": Failure.REFUSED,
    "filter": Failure.REFUSED,
    "truncate": Failure.TRUNCATED,
    "empty": Failure.EMPTY,
    "null": Failure.EMPTY,
    "prose": Failure.NOT_JSON,
    "prose_around": Failure.NOT_JSON,
    "fence": Failure.NOT_JSON,
    "cut_json": Failure.NOT_JSON,
    "wrong_shape": Failure.WRONG_SHAPE,
    "wrong_types": Failure.WRONG_SHAPE,
    "null_fields": Failure.WRONG_SHAPE,
    "duplicate_keys": Failure.WRONG_SHAPE,
    "deep": Failure.WRONG_SHAPE,
    "many_citations": Failure.TOO_LARGE,
    "malformed": Failure.MALFORMED,
    "error": Unavailable,
    "busy": Overloaded,
}
CELLS = [
    pytest.param(profile, mode, id=f"{profile}-{mode}") for profile in PROFILES for mode in Mode
]


@asynccontextmanager
async def drafting(script, mode=None, **changes):
    async with ScriptedModel(parse(script)).listening() as model:
        azure = "/openai/deployments/scripted?api-version=2024-10-21"
        address = model.url + (azure if script.get("profile") == "azure" else "/v1")
        endpoint = Endpoint("scripted", address, "key", **changes)
        async with open_model(endpoint) as opened, known(opened, mode) as found:
            spending = Spending("scripted", Prices())
            prompts = load("prompt-2"), load("resolve-1")
            yield OpenAIDrafter(opened, found, *prompts, spending), model


def script_of(profile, outcomes):
    rules = [{"when": {"question": f"^{name}\\?"}, "then": name} for name in outcomes]
    return {"profile": profile, "rules": rules}


async def outcome(drafter, name, *, streamed):
    task = Task(f"{name}? What must a UBO submit?", PASSAGES)
    try:
        if not streamed:
            return said(await drafter.draft(task))
        *statements, draft = [event async for event in drafter.stream(task)]
    except (Unavailable, Overloaded) as error:
        return type(error)
    assert isinstance(draft, Draft)
    assert draft.failure or tuple(statements) == draft.statements
    return said(draft)


def said(draft):
    assert not (draft.failure and draft.statements)
    if draft.failure:
        return draft.failure
    return "insufficient" if draft.insufficient else "answered"


@pytest.mark.parametrize(("profile", "mode"), CELLS)
async def test_each_cell_has_its_outcome_with_one_request_for_each_attempt(profile, mode):
    async with drafting(script_of(profile, OUTCOMES), mode) as (drafter, model):
        if mode in PROFILES[profile].refuses:
            assert await outcome(drafter, "good", streamed=False) is Rejected
            assert model.seen.drafts == 1
            return
        found = {}
        for name in OUTCOMES:
            for streamed in (False, True):
                before = model.seen.drafts
                found[name, streamed] = await outcome(drafter, name, streamed=streamed)
                assert model.seen.drafts == before + 1, name
    wanted = {(name, streamed): OUTCOMES[name] for name in OUTCOMES for streamed in (False, True)}
    assert found == wanted


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_a_model_that_never_answers_or_stops_is_given_up_in_each_mode(mode, streamed):
    limits = {"first_token_seconds": 0.5, "token_seconds": 0.5}
    limits["total_seconds"] = 5.0 if streamed else 0.5
    hanging = ("never", "stall")
    async with drafting(script_of("vllm", hanging), mode, **limits) as (drafter, model):
        for name in hanging:
            model.seen.abandoned.clear()
            assert await outcome(drafter, name, streamed=streamed) is Unavailable
            async with asyncio.timeout(5):
                await model.seen.abandoned.wait()
        assert model.seen.drafts == len(hanging)


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_ten_megabytes_are_too_much_in_each_mode(mode, streamed):
    async with drafting(script_of("vllm", ["huge"]), mode) as (drafter, model):
        assert await outcome(drafter, "huge", streamed=streamed) is Failure.TOO_LARGE
        assert model.seen.drafts == 1


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_a_reply_whose_end_never_came_is_no_draft(streamed):
    async with drafting(script_of("openai", ["hang_up"]), Mode.JSON_SCHEMA) as (drafter, _):
        found = await outcome(drafter, "hang_up", streamed=streamed)
    assert found is (Failure.TRUNCATED if streamed else Unavailable)


BEST = {
    "openai": Mode.JSON_SCHEMA,
    "azure": Mode.JSON_SCHEMA,
    "vllm": Mode.JSON_SCHEMA,
    "ollama": Mode.JSON_SCHEMA,
    "llama.cpp": Mode.JSON_OBJECT_SCHEMA,
    "litellm": Mode.FUNCTION_CALLING,
    "prose": Mode.JSON_OBJECT_SCHEMA,  # Its model does as the words ask.
}


@pytest.mark.parametrize("profile", PROFILES)
async def test_the_probe_finds_the_mode_that_binds_each_endpoint_best(profile):
    async with drafting({"profile": profile}) as (drafter, model):
        draft = await drafter.draft(Task("What must a UBO submit?", PASSAGES))
        assert draft.statements
        assert draft.mode == BEST[profile]
        probes = model.seen.kinds["probe"]
        await drafter.draft(Task("What must a UBO submit?", PASSAGES))
        assert model.seen.kinds["probe"] == probes  # It is asked once.
        assert model.seen.drafts == 2


async def test_a_mode_that_is_asked_for_is_used_and_one_that_is_unknown_is_passed_over():
    async with drafting({}) as (drafter, _):
        for asked, used in (
            ("prompt", "prompt"),
            ("telepathy", "json_schema"),
            ("", "json_schema"),
        ):
            draft = await drafter.draft(Task("What must a UBO submit?", PASSAGES, mode=asked))
            assert draft.mode == used


async def test_a_mode_that_is_refused_is_not_used_again():
    async with drafting({"profile": "litellm"}) as (drafter, model):
        task = Task("What must a UBO submit?", PASSAGES, mode="json_object")
        with pytest.raises(Rejected):
            await drafter.draft(task)
        assert (await drafter.draft(task)).mode == Mode.FUNCTION_CALLING
        assert model.seen.drafts == 2


async def test_an_endpoint_that_is_down_at_the_start_is_asked_when_it_is_back(monkeypatch):
    monkeypatch.setattr(capabilities, "_AGAIN_SECONDS", 0.0)
    async with ScriptedModel(parse({"profile": "llama.cpp"})).listening() as model:
        address = model.url
    endpoint = Endpoint("scripted", address)
    async with open_model(endpoint) as opened, known(opened) as found:
        assert await found.mode() is Mode.JSON_SCHEMA  # The first guess.
        port = int(address.rpartition(":")[2])
        async with ScriptedModel(parse({"profile": "llama.cpp"})).listening(port):
            assert await found.mode() is Mode.JSON_OBJECT_SCHEMA
            assert found.context_tokens == 32768


async def test_an_endpoint_that_turned_down_everything_is_asked_anew(monkeypatch):
    monkeypatch.setattr(capabilities, "_AGAIN_SECONDS", 0.0)
    broken = {"do": "error", "status": 400, "message": "No such deployment."}
    script = {"rules": [{"when": {"kind": "any"}, "then": broken}]}
    async with drafting(script) as (drafter, model):
        task = Task("What must a UBO submit?", PASSAGES)
        with pytest.raises(Rejected):
            await drafter.draft(task)
        model.script = parse({})
        assert (await drafter.draft(task)).mode == Mode.JSON_SCHEMA
