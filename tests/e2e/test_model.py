"""A model drafts, and whatever it drafts only what was verified comes out."""

import asyncio
import json
import threading

import pytest

from tests.e2e.conftest import running
from tests.scripted_model import Answer, ScriptedModel, said

POLICY = "A UBO holding more than 25% equity must submit a notarized proof of funds."
QUESTION = "What must a UBO with 30% equity submit?"
RIGHT = {"text": POLICY, "citations": [{"source": "src_0", "quote": POLICY}]}
INVENTED = "A UBO holding more than 10% equity must submit a notarized proof of funds."
WRONG = {"text": INVENTED, "citations": [{"source": "src_0", "quote": INVENTED}]}
UNCITED = {"text": "The bank may waive this for old clients.", "citations": []}


def draft(*statements, insufficient=False):
    return said(
        json.dumps(
            {
                "statements": statements,
                "insufficient": insufficient,
                "compliance": "not_asked",
            }
        )
    )


class Model(ScriptedModel):
    """Says one thing after the other, the last for ever, from a thread of its own."""

    script: list[Answer]

    async def _serve(self, reader, writer):
        self.answer = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        await super()._serve(reader, writer)

    def told(self, *script):
        self.script, self.requests = list(script), []


@pytest.fixture(scope="module")
def model():
    scripted, ready, loop = Model(), threading.Event(), asyncio.new_event_loop()
    stop = asyncio.Event()

    async def serve():
        async with scripted.listening():
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert ready.wait(10)
    yield scripted
    loop.call_soon_threadsafe(stop.set)
    thread.join(10)
    loop.close()


@pytest.fixture(scope="module")
def drafted(tmp_path_factory, receiver, model):
    """A system that asks the model, and knows the policy."""
    endpoint = {
        "OPENAI_BASE_URL": f"{model.url}/v1",
        "OPENAI_API_KEY": "key",
        "VERITY_MODEL": "m",
        "VERITY_STRUCTURED_OUTPUT": "json_schema",
    }
    folder = tmp_path_factory.mktemp("model")
    with running(folder, receiver, "--backend", "openai", environment=endpoint) as started:
        policy = folder / "policy.md"
        policy.write_text(f"# Ownership\n\n{POLICY}\n")
        ingested = started.run("ingest", str(policy))
        assert ingested[0] == 0, ingested
        yield started


def test_an_honest_draft_is_answered(drafted, model):
    model.told(draft(RIGHT))

    answer = drafted.run("ask", QUESTION)[1]

    assert (answer["status"], answer["attempts"]) == ("ANSWERED", 1)
    assert answer["statements"][0]["citations"][0]["quote"] == POLICY
    assert answer["generator"].startswith("openai:m/")


def test_a_changed_figure_is_sent_back_and_the_corrected_draft_is_answered(drafted, model):
    model.told(draft(WRONG), draft(RIGHT))

    answer = drafted.run("ask", QUESTION)[1]

    assert (answer["status"], answer["attempts"]) == ("ANSWERED", 2)
    assert "10%" not in json.dumps([answer["answer"], answer["statements"]])
    assert answer["objections"][0]["verdict"] != "SUPPORTED"
    # The model was told what was wrong, and which words the source really has.
    assert POLICY in str(model.requests[1]["messages"])


def test_what_cannot_be_verified_is_dropped_and_what_can_is_kept(drafted, model):
    model.told(draft(RIGHT, UNCITED))

    answer = drafted.run("ask", QUESTION)[1]

    assert answer["status"] == "PARTIAL"
    assert [statement["text"] for statement in answer["statements"]] == [POLICY]
    assert "waive" not in answer["answer"]


def test_a_model_that_keeps_inventing_is_answered_with_silence(drafted, model):
    model.told(draft(WRONG))

    answer = drafted.run("ask", QUESTION)[1]

    assert answer["status"] == "ABSTAINED"
    assert answer["abstention"]["type"] == "UNVERIFIABLE"
    assert answer["statements"] == []


@pytest.mark.parametrize(
    "broken",
    [said("I would rather not."), said(None, refusal="No."), said('{"st')],
    ids=["prose", "refusal", "cut off"],
)
def test_a_model_that_gives_no_draft_is_asked_once_more_and_then_answered_with_silence(
    drafted, model, broken
):
    model.told(broken)

    answer = drafted.run("ask", QUESTION)[1]

    assert answer["abstention"]["type"] == "UNVERIFIABLE"
    assert [objection["reasons"][0]["code"] for objection in answer["objections"]] == [
        "UNUSABLE_DRAFT",
        "UNUSABLE_DRAFT",
    ]
    assert len(model.requests) == 2


def test_a_model_that_is_down_is_unavailable_and_never_an_answer(drafted, model):
    model.told(Answer(status=500))

    code, failed = drafted.run("ask", QUESTION)

    assert code == 1
    assert failed["error"]["code"] == "UNAVAILABLE"
    assert len(model.requests) == 1
