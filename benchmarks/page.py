"""How soon a long answer can be used in the page, and how smoothly it and a long list scroll.

Real processes, real Chromium. The long answer has 200 statements of 8 citations each; the peer is
an answer of one statement, in the same run. What a load of the page costs at all is in both. Needs
`make page`.
"""

import argparse
import asyncio
import shutil
import statistics
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.async_api import Page, async_playwright

from benchmarks import long_answer, processes

STATEMENTS, CITATIONS = 200, 8
TARGET_USABLE_MS = 1000
UPLOADS_AT_ONCE = 4
# Documents that the page asks for at a time.
PAGE = 100
# The time at which the first of `selector` was there and the browser had drawn it and took clicks.
USABLE = """(selector) => new Promise((done) => {
  const look = () => document.querySelector(selector)
    ? requestAnimationFrame(() => setTimeout(() => done(performance.now())))
    : requestAnimationFrame(look);
  look();
})"""
# The longest task while a region is scrolled from its top to its end, in milliseconds; 0: none
# took 50.
LONGEST_TASK = """async (name) => {
  const box = document.querySelector(`[role=region][aria-label="${name}"]`);
  const tasks = [0];
  const seen = new PerformanceObserver((list) =>
    list.getEntries().forEach((one) => tasks.push(one.duration)));
  seen.observe({ type: 'longtask' });
  const frame = () => new Promise(requestAnimationFrame);
  for (let at = 0; at <= 60; at++) {
    box.scrollTop = (box.scrollHeight * at) / 60;
    await frame();
  }
  await frame();
  seen.disconnect();
  box.scrollTop = 0;
  await frame();
  return Math.max(...tasks);
}"""


def measure(arguments: list[str]) -> dict[str, Any]:
    """The medians and the worst of some loads, in milliseconds."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks page", description=__doc__)
    parser.add_argument("--loads", type=int, default=9)
    parser.add_argument("--documents", type=int, default=1000, help="in the list")
    options = parser.parse_args(arguments)
    # In memory where there is such a place: a thousand files are written before the list is read.
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as directory:
        return asyncio.run(_measure(Path(directory), options.loads, options.documents))


async def _measure(data_dir: Path, loads: int, documents: int) -> dict[str, Any]:
    async with processes.running(data_dir) as view, async_playwright() as playwright:
        services = view["services"]
        base = f"http://{services['gateway']['address']}"
        async with httpx.AsyncClient(base_url=base, trust_env=False, timeout=60) as client:
            found = (await client.get("/v1/documents")).json()["documents"]
            answers = [
                long_answer.answer(STATEMENTS, CITATIONS, found[0]),
                long_answer.answer(1, 1, found[0]),
            ]
            for answer in answers:
                await long_answer.remember(services["redis"]["address"], answer)
            await _ingest(client, documents - len(found))
        async with _page(playwright, base) as page:
            long, short = [
                await _answer(page, f"{base}/#/conversations/{one.conversation_id}", loads)
                for one in answers
            ]
            listed = await _documents(page, f"{base}/#/documents", documents, loads)
    return {
        "loads": loads,
        f"{STATEMENTS}_statements_of_{CITATIONS}_citations": long,
        "peer_one_statement": short,
        "ratio": round(long["usable_ms"]["median"] / short["usable_ms"]["median"], 2),
        f"list_of_{documents}_documents": listed,
        "target": {
            "usable_ms": TARGET_USABLE_MS,
            "met": long["usable_ms"]["median"] <= TARGET_USABLE_MS,
        },
    }


async def _answer(page: Page, address: str, loads: int) -> dict[str, Any]:
    usable, blocked = [], []
    for _ in range(loads):
        await page.goto("about:blank")
        await page.goto(address, wait_until="commit")
        usable.append(await page.evaluate(USABLE, ".cite"))
        blocked.append(await page.evaluate(LONGEST_TASK, "Answers"))
    return {"usable_ms": _of(usable), "longest_task_ms": _of(blocked)}


async def _documents(page: Page, address: str, documents: int, loads: int) -> dict[str, Any]:
    await page.goto(address)
    for shown in range(PAGE, documents, PAGE):
        await page.get_by_text(f"{shown:,} shown").wait_for()
        await page.get_by_role("button", name="Show more").click()
    await page.get_by_text(f"{documents:,} shown").wait_for()
    return {
        "longest_task_ms": _of(
            [await page.evaluate(LONGEST_TASK, "Documents") for _ in range(loads)]
        )
    }


def _of(figures: list[float]) -> dict[str, int]:
    return {"median": round(statistics.median(figures)), "most": round(max(figures))}


async def _ingest(client: httpx.AsyncClient, files: int) -> None:
    waiting = iter(range(files))

    async def uploader() -> None:
        for number in waiting:
            text = f"Branch {number} keeps its records for {number} days."
            file = (f"Policy of branch {number:04}.txt", text.encode())
            reply = await client.post("/v1/documents", files={"file": file})
            reply.raise_for_status()

    await asyncio.gather(*(uploader() for _ in range(UPLOADS_AT_ONCE)))


@asynccontextmanager
async def _page(playwright: Any, base: str) -> AsyncIterator[Page]:
    chromium = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))))
    browser = await playwright.chromium.launch(
        executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage"]
    )
    page = await browser.new_page(base_url=base, viewport={"width": 1360, "height": 860})
    yield page
    await browser.close()
