"""Chromium in front of whole systems of real processes, each started once."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.parts import AXE, MARKUP, WIDE, api
from tests.e2e.conftest import ROOT, System, running
from tests.issuer import AUDIENCE, ISSUER, Issuer
from tests.otlp_receiver import Receiver

POLICY = """# Ownership

A UBO holding more than 25% equity must submit a notarized proof of funds.

# Retention

Records of every onboarding are kept for nine years.

# Escalation

A missing proof is escalated to the Senior Compliance Officer within two days.
"""
SLOWLY = [
    {"text": f'{{sentence with "{words}"}}', "cite": [
        {"source": f'{{source with "{words}"}}', "quote": f'{{sentence with "{words}"}}'}]}
    for words in ("notarized proof", "nine years", "within two days")
]  # fmt: skip
SCRIPT = {
    "rules": [
        {"when": {"question": "percentage"}, "then": ["hallucinate", "good"]},
        {"when": {"question": "slowly"}, "then": {
            "do": "draft", "statements": SLOWLY, "tokens_per_second": 60}},
        {"when": {"question": "markup"}, "then": [
            {"do": "draft", "statements": [
                {"text": f"{MARKUP} The share is 31%.", "cite": [
                    {"source": "{best source}", "quote": "{best sentence}"}]}]},
            "good"]},
    ],
}  # fmt: skip

WAIT_MS = 20_000


def _chromium() -> str:
    """What Debian and others call it; without it these tests say so instead of passing."""
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        if found := shutil.which(name):
            return found
    return pytest.fail("Chromium is missing; as root: apt-get install --yes chromium")


@pytest.fixture(scope="session", autouse=True)
def _page_is_built():
    if not (ROOT / "web" / "dist" / "index.html").is_file():
        pytest.fail("The page is not built; run: make page")
    if not AXE.is_file():
        pytest.fail("The page's tools are not installed; run: make page")


@pytest.fixture(scope="session")
def sampled(tmp_path_factory: pytest.TempPathFactory, receiver: Receiver) -> Iterator[System]:
    """The sample corpus is in it; sentences of the sources answer."""
    with running(tmp_path_factory.mktemp("sampled"), receiver, "--samples") as started:
        yield started


@pytest.fixture(scope="session")
def scripted(tmp_path_factory: pytest.TempPathFactory, receiver: Receiver) -> Iterator[System]:
    """A model that plays a script, and one small policy."""
    folder = tmp_path_factory.mktemp("scripted")
    script, policy = folder / "script.json", folder / "policy.md"
    script.write_text(json.dumps(SCRIPT))
    policy.write_text(POLICY)
    with running(folder / "data", receiver, "--model", f"scripted:{script}") as started:
        assert started.run("ingest", str(policy))[0] == 0
        yield started


@pytest.fixture(scope="session")
def guarded(
    tmp_path_factory: pytest.TempPathFactory, receiver: Receiver
) -> Iterator[tuple[System, Issuer]]:
    """It asks everybody for a token of the issuer's."""
    folder = tmp_path_factory.mktemp("guarded")
    issuer = Issuer(folder)
    environment = {
        "VERITY_AUTH": "jwt",
        "VERITY_JWT_ISSUER": ISSUER,
        "VERITY_JWT_AUDIENCE": AUDIENCE,
        "VERITY_JWKS": str(issuer.jwks),
    }
    with running(folder / "data", receiver, environment=environment) as started:
        yield started, issuer


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Of one module: while it is open, no test may have an event loop of its own."""
    # A busy machine may take its time: what is expected is waited for as long as what is clicked.
    expect.set_options(timeout=WAIT_MS)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=_chromium(), args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield opened
        opened.close()


@pytest.fixture
def opened(browser: Browser, sampled: System):
    """Opens a page of the system with the samples."""
    with pages(browser, sampled) as open_page:
        yield open_page


@pytest.fixture
def opened_scripted(browser: Browser, scripted: System):
    """Opens a page of the system with the scripted model."""
    with pages(browser, scripted) as open_page:
        yield open_page


@pytest.fixture
def opened_guarded(browser: Browser, guarded: tuple[System, Issuer]):
    """Opens a page of the system that asks for tokens."""
    with pages(browser, guarded[0]) as open_page:
        yield open_page


@contextmanager
def pages(browser: Browser, system: System):
    """What opens pages; at the end none of them may have failed inside or asked anyone else."""
    base = f"http://{system.address('gateway')}"
    contexts, wrong = [], []

    def open_page(
        path: str = "/", *, size=WIDE, scheme: str = "light", reduced_motion: str = "reduce"
    ) -> Page:
        context = browser.new_context(
            base_url=base,
            viewport=size,
            color_scheme=scheme,
            reduced_motion=reduced_motion,
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        context.set_default_timeout(WAIT_MS)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("console", lambda said: wrong.append(said.text) if _wrong(said) else None)
        page.on("request", lambda sent: wrong.append(sent.url) if not _ours(sent, base) else None)
        page.goto(path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong


def _wrong(said) -> bool:
    """Whatever the console has, but for requests that were refused: tests bring those about."""
    return said.type in {"error", "warning"} and not said.text.startswith("Failed to load")


def _ours(sent, base: str) -> bool:
    return sent.url.startswith((base, "blob:", "data:"))


@pytest.fixture
def client(sampled: System) -> Iterator[httpx.Client]:
    with api(sampled) as opened:
        yield opened
