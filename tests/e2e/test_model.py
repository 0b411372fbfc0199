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


def test_what_only_a_superseded_document_answers_is_said_to_be_that(drafted, model, tmp_path):
    for name, text in (
        ("travel_2023.md", "Employees may claim 40 euros a day for meals when they travel."),
        ("travel_2025.md", "Hotels are booked by the travel desk and paid for by the company."),
    ):
        (tmp_path / name).write_text(f"# Travel\n\n{text}\n")
    assert drafted.run("ingest", str(tmp_path / "travel_2023.md"))[0] == 0
    newer = ("ingest", str(tmp_path / "travel_2025.md"), "--supersedes", "travel_2023.md")
    assert drafted.run(*newer)[0] == 0
    model.told(draft(insufficient=True))

    answer = drafted.run("ask", "How many euros a day may employees claim for meals?")[1]

    assert answer["abstention"]["type"] == "SUPERSEDED"
    assert "travel_2023.md, superseded by travel_2025.md" in answer["abstention"]["message"]
    assert answer["statements"] == []
    # Its words went to no model: the sources themselves were asked.
    assert "40 euros" not in str(model.requests)


def test_a_follow_up_is_read_by_its_conversation_and_cites_documents_alone(drafted, model):
    model.told(draft(RIGHT))
    first = drafted.run("ask", QUESTION, "--conversation", "c")[1]
    again = json.dumps({"question": "What must a UBO with 60% equity submit?"})
    model.told(said(again), draft(RIGHT))

    answer = drafted.run("ask", "And with 60%?", "--conversation", "c")[1]

    assert answer["standalone_question"] == "What must a UBO with 60% equity submit?"
    assert answer["question"] == "And with 60%?"
    assert answer["attempt_log"][0]["query"] == answer["standalone_question"]
    cited = [c["source_name"] for s in answer["statements"] for c in s["citations"]]
    assert cited == ["policy.md"]
    assert first["standalone_question"] is None
