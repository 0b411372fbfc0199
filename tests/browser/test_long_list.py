"""A thousand documents, really taken in, and their list."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import expect
from retrieval_stores import quick_directory

from tests.browser.conftest import pages
from tests.browser.parts import api, is_drawn
from tests.e2e.conftest import running

DOCUMENTS, PAGE, UPLOADS_AT_ONCE = 1000, 100, 4


@pytest.fixture(scope="module")
def stocked(receiver):
    """A system with so many documents; on a disk that syncs each it takes minutes."""
    with (
        quick_directory() as directory,
        running(directory, receiver) as started,
        api(started) as client,
        ThreadPoolExecutor(UPLOADS_AT_ONCE) as uploaders,
    ):

        def upload(number):
            name = f"Policy of branch {number:04}{', as amended' * (number % 5)}.txt"
            text = f"Branch {number} keeps its records for {number} days."
            client.post("/v1/documents", files={"file": (name, text.encode())}).raise_for_status()

        list(uploaders.map(upload, range(DOCUMENTS)))
        yield started


def test_a_thousand_documents_are_listed_and_only_those_seen_are_drawn(browser, stocked):
    with pages(browser, stocked) as open_page:
        page = open_page("/#/documents")
        names = page.get_by_role("list", name="Documents").get_by_role("listitem")
        for shown in range(PAGE, DOCUMENTS, PAGE):
            expect(page.get_by_text(f"{shown:,} shown, there are more")).to_be_visible()
            page.get_by_role("button", name="Show more").click()
        expect(page.get_by_text(f"{DOCUMENTS:,} shown")).to_be_visible()
        expect(names).to_have_count(DOCUMENTS)
        last = names.last.get_by_role("button").first
        assert not is_drawn(names.nth(DOCUMENTS // 2).get_by_role("button").first)
        last.scroll_into_view_if_needed()
        assert is_drawn(last)
        page.get_by_label("Name contains").fill("branch 0777")
        expect(names).to_have_count(1)
        expect(names).to_contain_text("Policy of branch 0777, as amended, as amended.txt")
