"""A thousand documents in the list: a gateway's process in front of a service that has them."""

import json
import os
import subprocess
import sys
from concurrent import futures
from types import SimpleNamespace

import grpc
import pytest
from playwright.sync_api import expect
from verity.v1 import core_pb2 as core
from verity.v1 import retrieval_service_pb2 as pb
from verity.v1 import retrieval_service_pb2_grpc as rpc

from tests.browser.conftest import pages
from tests.browser.parts import longest_task
from tests.e2e.conftest import ROOT

DOCUMENTS, PAGE = 1000, 100
MOST_BLOCKED_MS, TRIES = 200, 3


class Documents(rpc.RetrievalServiceServicer):
    """Has so many documents, and lists them as the real service does."""

    def ListDocuments(self, request, context):
        start = int(request.page_token or 0)
        end = min(start + (request.page_size or PAGE), DOCUMENTS)
        found = [_document(number) for number in range(start, end)]
        token = str(end) if end < DOCUMENTS else ""
        return pb.ListDocumentsResponse(documents=found, next_page_token=token)


def _document(number):
    return core.Document(
        id=f"document-{number}",
        source_name=f"Policy of branch {number:04}, {'as amended ' * (number % 5)}.pdf",
        document_type="policy",
        authority=core.AUTHORITY_HIGH,
        version=1 + number % 3,
        sha256="ab" * 32,
        page_count=number,
        passage_count=3 * number,
        pages_without_text=[2, 3] if number % 7 == 0 else [],
    )


@pytest.fixture
def long_list(browser):
    server = grpc.server(futures.ThreadPoolExecutor(4))
    rpc.add_RetrievalServiceServicer_to_server(Documents(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    process = subprocess.Popen(
        [sys.executable, "-m", "services.gateway"],
        cwd=ROOT,
        env={
            **os.environ,
            "VERITY_GATEWAY_BIND": "127.0.0.1:0",
            "VERITY_RETRIEVAL_TARGET": f"127.0.0.1:{port}",
        },
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        address = next(
            line["address"]
            for line in map(json.loads, process.stderr)
            if line["event"] == "listening"
        )
        with pages(browser, SimpleNamespace(address=lambda _: address)) as open_page:
            yield open_page("/#/documents")
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
        server.stop(None)


def test_a_thousand_documents_are_listed_and_scroll_without_a_hitch(long_list):
    page = long_list
    rows = page.get_by_role("list", name="Documents").get_by_role("listitem")
    for shown in range(PAGE, DOCUMENTS, PAGE):
        expect(page.get_by_text(f"{shown:,} shown, there are more")).to_be_visible()
        page.get_by_role("button", name="Show more").click()
    expect(page.get_by_text(f"{DOCUMENTS:,} shown")).to_be_visible()
    expect(rows).to_have_count(DOCUMENTS)
    blocked = [longest_task(page, "Documents") for _ in range(TRIES)]
    print(f"longest task while scrolling, ms: {blocked}")  # noqa: T201 - the figure of the report
    assert min(blocked) <= MOST_BLOCKED_MS
