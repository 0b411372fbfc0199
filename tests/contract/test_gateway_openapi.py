"""The API's own document, tried out by schemathesis against the gateway as it runs."""

import asyncio
import threading
from contextlib import AsyncExitStack

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi import checks

from services.gateway.openapi import document
from services.gateway.twins import all_twins
from tests.gateway_parts import gateway

DOCUMENT = document(all_twins())
API = schemathesis.openapi.from_dict(DOCUMENT, config=SchemathesisConfig())


@pytest.fixture(scope="module")
def url():
    """The gateway and stand-ins for what is behind it, on a loop in a thread of its own."""
    started, stop = threading.Event(), asyncio.Event()
    found = []

    async def main():
        async with AsyncExitStack() as stack:
            running = await stack.enter_async_context(gateway())
            found.extend([running.url, asyncio.get_running_loop()])
            started.set()
            await stop.wait()

    thread = threading.Thread(target=asyncio.run, args=(main(),))
    thread.start()
    assert started.wait(20)
    yield found[0]
    found[1].call_soon_threadsafe(stop.set)
    thread.join(20)


def test_the_document_that_is_served_is_the_one_that_is_tried(url):
    assert httpx.get(f"{url}/openapi.json", trust_env=False).json() == DOCUMENT


@API.parametrize()
@settings(
    max_examples=1,
    phases=[Phase.explicit, Phase.generate],
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_the_gateway_does_what_its_document_says(case, url):
    # A file needs a name, in the query or in the form, for which JSON Schema has no word.
    upload = case.operation.path == "/v1/documents" and case.method == "POST"
    case.call_and_validate(
        base_url=url, excluded_checks=[checks.positive_data_acceptance] if upload else []
    )
