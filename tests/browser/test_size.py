"""How large and how quick the page is: its bundle, its first view, a long answer, a long list."""

import gzip
import uuid

import pytest
from playwright.sync_api import expect
from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding

from services.orchestrator.memory import new_answer_id
from tests.browser.parts import api, longest_task, remember
from tests.e2e.conftest import ROOT

MOST_BUNDLE_BYTES = 200_000
STATEMENTS, CITATIONS = 200, 8
# What a reader feels as one moment, three times: the machine may be busy with other things.
MOST_BLOCKED_MS, TRIES = 200, 3


def test_no_bundle_is_larger_than_200_kb_compressed():
    bundles = list((ROOT / "web" / "dist" / "assets").glob("*"))
    sizes = {path.name: len(gzip.compress(path.read_bytes())) for path in bundles}
    assert sizes
    assert max(sizes.values()) <= MOST_BUNDLE_BYTES


@pytest.fixture(scope="module")
def long_answer(sampled):
    """200 statements of 8 citations each, stored as the orchestrator stores them."""
    with api(sampled) as client:
        document = client.get("/v1/documents", params={"name_contains": "Global_AML"}).json()
    found = document["documents"][0]
    conversation = f"long-{uuid.uuid4().hex}"
    answer = grounding.Answer(
        id=new_answer_id(conversation),
        conversation_id=conversation,
        question="What does the policy say, all of it?",
        text="All of it.",
        status=grounding.Answer.STATUS_ANSWERED,
        confidence=core.Confidence(grounding_confidence=0.9, citation_accuracy=1.0),
        attempts=1,
        trace_id="0" * 32,
    )
    for at in range(STATEMENTS):
        text = (
            f"Statement {at} says what section {at // 10}.{at % 10} says, and says it at length. "
        )
        statement = answer.statements.add(text=text * 2, verdict=core.VERDICT_SUPPORTED)
        for n in range(CITATIONS):
            statement.citations.add(
                quote=f"what section {n} says",
                passage_id=f"p-{at}-{n}",
                document_id=found["id"],
                document_sha256=found["sha256"],
                source_name=found["source_name"],
                page_number=n + 1,
                authority=core.AUTHORITY_HIGH,
            )
    remember(sampled, answer)
    return answer


def test_a_long_answer_is_there_at_once_and_scrolls_without_a_hitch(opened, long_answer):
    page = opened(f"/#/conversations/{long_answer.conversation_id}")
    last = page.get_by_role("button", name=f"Citation {STATEMENTS * CITATIONS}: ")
    expect(last).to_have_count(1)
    blocked = [longest_task(page, "Answers") for _ in range(TRIES)]
    print(f"longest task while scrolling, ms: {blocked}")  # noqa: T201 - the figure of the report
    assert min(blocked) <= MOST_BLOCKED_MS


def test_an_answer_can_be_used_within_a_second(opened, long_answer):
    """The best of three loads; the answer is long, and read from the memory each time."""
    page = opened(f"/#/conversations/{long_answer.conversation_id}")
    took = [reloaded(page) for _ in range(TRIES)]
    print(f"ms until a citation can be clicked: {took}")  # noqa: T201 - the figure of the report
    assert min(took) <= 1000


def reloaded(page):
    page.reload(wait_until="commit")
    page.get_by_role("button", name="Citation 1: ").wait_for()
    # The frame after the one in which it was there: the browser has drawn it and takes clicks.
    return page.evaluate(
        "new Promise((done) => requestAnimationFrame(() => setTimeout(() => "
        "done(Math.round(performance.now())))))"
    )
