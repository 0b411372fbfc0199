"""How long one Verify takes: eight statements, half of them reworded, against twelve passages.

The limit is 10 ms at the median, without a judge and without the hop. The passages are those of the
sample corpus, parsed and cut as they are for retrieval; from run to run nothing is remembered but
what the service itself remembers of passages that come again.
"""

import argparse
import asyncio
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from services.retrieval.chunking import chunk
from services.retrieval.parsers import parse
from services.verification import quotes
from services.verification.entailment import MIN_COVERAGE
from services.verification.evidence import DraftCitation, Passage, Statement, Verdict
from services.verification.verifier import Verifier

LIMIT_MS = 10.0
SAMPLES = Path(__file__).parents[1] / "samples"
PASSAGES = 12
RULE = (
    "Section 4.2: Any corporate entity with a UBO holding more than 25% equity must submit a "
    "notarized proof of funds."
)
ESCALATION = (
    "Section 5.1: If proof of funds is not notarized, the onboarding must be escalated to the "
    "Senior Compliance Officer."
)
REVENUE = (
    "Revenue for the third quarter of 2024 was $2.45 billion, an increase of 18% year over year."
)
OWNER = (
    "Ms Elena Marchetti is the UBO of Halcyon Trading B.V. with a direct holding of 30% of the "
    "equity."
)
# What is said, and the words it cites.
STATEMENTS = (
    (RULE, RULE),
    (ESCALATION, ESCALATION),
    (REVENUE, REVENUE),
    (OWNER, OWNER),
    ("An entity with a UBO holding more than 25% equity must submit a notarized proof.", RULE),
    ("If proof of funds is not notarized, the onboarding must be escalated.", ESCALATION),
    ("Revenue for the third quarter of 2024 was $2.45 billion.", REVENUE),
    ("Ms Elena Marchetti is the UBO of Halcyon Trading with a holding of 30%.", OWNER),
)


def measure(arguments: list[str]) -> dict[str, Any]:
    """The median and the 95th percentile of some runs, in milliseconds."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks verify", description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    options = parser.parse_args(arguments)
    return asyncio.run(_measure(options.runs))


async def _measure(runs: int) -> dict[str, Any]:
    passages = _passages()
    statements = [
        Statement(said, (DraftCitation(_holding(passages, quote), quote),))
        for said, quote in STATEMENTS
    ]
    with ThreadPoolExecutor(1) as executor:
        verifier = Verifier(executor, MIN_COVERAGE)
        findings = await verifier.verify(statements, passages)
        supported = sum(finding.verdict is Verdict.SUPPORTED for finding in findings)
        wall, cpu = [], []
        for _ in range(runs):
            quotes.forget()
            began, spent = time.perf_counter(), time.process_time()
            await verifier.verify(statements, passages)
            wall.append(1000 * (time.perf_counter() - began))
            cpu.append(1000 * (time.process_time() - spent))
    return {
        "runs": runs,
        "statements": len(statements),
        "passages": len(passages),
        "supported": supported,
        "p50_ms": round(statistics.median(wall), 2),
        "p95_ms": round(statistics.quantiles(wall, n=20)[18], 2),
        "cpu_p50_ms": round(statistics.median(cpu), 2),
        "target": {"p50_ms": LIMIT_MS, "met": statistics.median(wall) <= LIMIT_MS},
    }


def _passages() -> list[Passage]:
    """Those that hold what is cited, and others from the same documents up to twelve."""
    everything = []
    for path in sorted(SAMPLES.glob("*.pdf")):
        document = parse(path.read_bytes(), path.name)
        for piece in chunk(document, count_tokens=lambda text: len(text.split())):
            text = document.text[piece.start : piece.end]
            everything.append(Passage(f"{path.name}:{piece.start}", text))
    cited = [
        next(one for one in everything if _holds(one, quote))
        for quote in (RULE, ESCALATION, REVENUE, OWNER)
    ]
    others = [one for one in everything if one not in cited]
    return cited + others[:: len(others) // (PASSAGES - len(cited))][: PASSAGES - len(cited)]


def _holding(passages: list[Passage], quote: str) -> str:
    return next(one.id for one in passages if _holds(one, quote))


def _holds(passage: Passage, quote: str) -> bool:
    return quote in " ".join(passage.text.split())
