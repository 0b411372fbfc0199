"""How large the page is: its bundle, and what of a long answer it draws."""

import asyncio
import gzip
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import expect

from benchmarks import long_answer
from tests.browser.parts import api, is_drawn
from tests.e2e.conftest import ROOT

MOST_BUNDLE_BYTES = 200_000
STATEMENTS, CITATIONS = 200, 8
# What does not grow: the frame around, and the list of stages.
MOST_ELEMENTS = STATEMENTS * (CITATIONS + 10) + 500


def test_no_bundle_is_larger_than_200_kb_compressed():
    bundles = list((ROOT / "web" / "dist" / "assets").glob("*"))
    sizes = {path.name: len(gzip.compress(path.read_bytes())) for path in bundles}
    assert sizes
    assert max(sizes.values()) <= MOST_BUNDLE_BYTES


@pytest.fixture(scope="module")
def conversation(sampled):
    """It has an answer of 200 statements of 8 citations each, stored as real ones are."""
    with api(sampled) as client:
        found = client.get("/v1/documents", params={"name_contains": "Global_AML"}).json()
    answer = long_answer.answer(STATEMENTS, CITATIONS, found["documents"][0])
    # In a thread of its own: the browser's loop runs in this one.
    with ThreadPoolExecutor(1) as thread:
        stored = long_answer.remember(sampled.address("redis"), answer)
        thread.submit(asyncio.run, stored).result()
    return answer.conversation_id


def test_a_long_answer_is_there_whole_and_only_what_is_seen_of_it_is_drawn(opened, conversation):
    page = opened(f"/#/conversations/{conversation}")
    citations = page.locator("article .cite")
    expect(citations).to_have_count(STATEMENTS * CITATIONS)
    assert page.locator("*").count() <= MOST_ELEMENTS
    assert is_drawn(citations.first)
    assert not is_drawn(citations.last)
    citations.last.click()
    assert is_drawn(citations.last)
    expect(page.get_by_role("complementary", name="Source")).to_contain_text(
        f"Citation {STATEMENTS * CITATIONS} of {STATEMENTS * CITATIONS}"
    )
