"""What the tests in a browser do again and again."""

import contextlib
import io
import os
import signal
import time
from http import HTTPStatus
from pathlib import Path

import httpx
import psutil
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import ROOT, System

WIDE, PHONE = {"width": 1360, "height": 860}, {"width": 390, "height": 844}
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
SHOTS = ROOT / "docs" / "screenshots"
SHOOT = (
    os.environ.get("VERITY_SCREENSHOTS") == "1"
)  # Read here: tests see no settings of the shell.
MOST_SHOT_BYTES = 200_000
MARKUP = '<img src="https://evil.example/x.png" onerror="window.hit = 1">'


def api(system: System) -> httpx.Client:
    base = f"http://{system.address('gateway')}"
    return httpx.Client(base_url=base, trust_env=False, timeout=60)


def ask(page: Page, question: str) -> None:
    page.get_by_label("Question").fill(question)
    page.keyboard.press("Enter")


def answered(page: Page) -> Locator:
    """The newest answer, once it is there whole."""
    page.locator("article").last.get_by_text("How it was answered").wait_for()
    return page.locator("article").last


def tab_to(page: Page, target: Locator, most: int = 25) -> None:
    """Goes on with Tab until the target has the focus, once it is there to have it."""
    expect(target).to_be_visible()
    for _ in range(most):
        page.keyboard.press("Tab")
        if target.evaluate("(one) => one === document.activeElement"):
            return
    expect(target).to_be_focused()


def shoot(page: Page, name: str) -> None:
    """Keeps a picture for the README, when asked to."""
    if not SHOOT:
        return
    page.mouse.move(0, 0)
    page.wait_for_timeout(300)  # What fades in has faded in.
    SHOTS.mkdir(exist_ok=True)
    path = SHOTS / f"{name}.png"
    seen = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    # In 256 colours: a third of the bytes, and nobody sees it.
    seen.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    assert path.stat().st_size <= MOST_SHOT_BYTES


def axe(page: Page) -> list[str]:
    """What axe-core finds serious or critical: its rule, and where."""
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']} ({one['impact']}): {one['nodes'][0]['html'][:200]}"
        for one in found["violations"]
        if one["impact"] in {"serious", "critical"}
    ]


def kill(system: System, part: str) -> None:
    """Ends one process of a system, which starts it again."""
    os.kill(pid_of(system, part), signal.SIGKILL)


def pid_of(system: System, part: str) -> int:
    """Of a process as it runs now: it may have been started anew."""
    names = {"gateway": "services.gateway", "orchestrator": "services.orchestrator"}
    for child in psutil.Process(system.process.pid).children():
        if names[part] in child.cmdline():
            return child.pid
    return pytest.fail(f"{part} does not run")


def a_file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def wait_until_ready(system: System) -> None:
    """Returns when every part serves again."""
    deadline = time.monotonic() + 60
    with api(system) as client:
        while time.monotonic() < deadline:
            with contextlib.suppress(httpx.TransportError):
                if client.get("/readyz").status_code == HTTPStatus.OK:
                    return
            time.sleep(0.1)  # The gateway says it by answering; no event comes of it.
    pytest.fail("the system did not come back")


def is_drawn(element: Locator) -> bool:
    """Whether the browser draws it: what lies far outside the window is passed over until then."""
    drawn: bool = element.evaluate(
        "(element) => element.checkVisibility({contentVisibilityAuto: true})"
    )
    return drawn
