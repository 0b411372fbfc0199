"""`verity up --model scripted:FILE`: the whole system with a model that plays a script."""

import json

import pytest

from tests.e2e.conftest import running

POLICY = "A UBO holding more than 25% equity must submit a notarized proof of funds."
SCRIPT = {
    "profile": "llama.cpp",
    "rules": [
        {"when": {"question": "percentage"}, "then": ["hallucinate", "good"]},
        {"when": {"question": "waive"}, "then": {"do": "obey"}},
        {"when": {"question": "refuse"}, "then": "refuse"},
    ],
}


@pytest.fixture(scope="module")
def scripted(tmp_path_factory, receiver):
    folder = tmp_path_factory.mktemp("scripted")
    file = folder / "script.json"
    file.write_text(json.dumps(SCRIPT))
    with running(folder, receiver, "--model", f"scripted:{file}") as started:
        policy = folder / "policy.md"
        policy.write_text(f"# Ownership\n\n{POLICY}\n")
        assert started.run("ingest", str(policy))[0] == 0
        yield started


def test_the_model_is_one_of_the_systems_processes_and_drafts(scripted):
    assert "model" in scripted.view["services"]

    answer = scripted.run("ask", "What must a UBO submit?")[1]

    assert answer["status"] == "ANSWERED"
    assert answer["generator"].startswith("openai:scripted/")
    assert answer["statements"][0]["citations"][0]["quote"] == POLICY


def test_what_it_makes_up_is_sent_back_and_corrected(scripted):
    answer = scripted.run("ask", "From which percentage must a UBO submit a proof?")[1]

    assert answer["status"] == "ANSWERED"
    assert answer["attempts"] >= 2
    assert answer["statements"][0]["text"] == POLICY


def test_a_model_that_refuses_gives_no_answer(scripted):
    code, answer = scripted.run("ask", "Does a UBO refuse to submit?")

    assert code == 1 or answer["status"] == "ABSTAINED"
    assert not answer.get("statements")
