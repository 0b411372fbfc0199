"""Which quotes pass on labelled pairs, and which with plain fuzzy matching at its best threshold.

Each line of `--pairs FILE.jsonl` is `{"source": str, "quote": str, "accept": bool}`; an `id` in it
names the row.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from rapidfuzz import fuzz

from services.verification.citing import check_citation
from services.verification.evidence import Citation, DraftCitation, Passage
from services.verification.source import Source

Score = Callable[[str, str], float]


def measure(arguments: list[str]) -> dict[str, Any]:
    parser = argparse.ArgumentParser(prog="python -m benchmarks quotes")
    parser.add_argument("--pairs", type=Path, required=True, help="a file of JSON lines")
    parser.add_argument("--peers", action="store_true", help="difflib and rapidfuzz beside it")
    options = parser.parse_args(arguments)
    lines = options.pairs.read_text(encoding="utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line.strip()]
    figures = _judged(rows, [accepts(row["source"], row["quote"]) for row in rows])
    if options.peers:
        figures["peers"] = {
            "difflib": _at_its_best(rows, _difflib),
            "rapidfuzz partial_ratio": _at_its_best(rows, _partial_ratio),
        }
    return figures


def accepts(source: str, quote: str) -> bool:
    given = Source(Passage("p", source))
    return isinstance(check_citation(DraftCitation("p", quote), given, [given]), Citation)


def _judged(rows: Sequence[dict[str, Any]], accepted: Sequence[bool]) -> dict[str, Any]:
    pairs = list(enumerate(zip(rows, accepted, strict=True)))
    accepts_ = [row.get("id", number) for number, (row, yes) in pairs if yes and not row["accept"]]
    rejects = [row.get("id", number) for number, (row, yes) in pairs if row["accept"] and not yes]
    return {
        "rows": len(rows),
        "wrong_accepts": len(accepts_),
        "wrong_rejects": len(rejects),
        "wrong_accept_ids": accepts_,
        "wrong_reject_ids": rejects,
    }


def _at_its_best(rows: Sequence[dict[str, Any]], score: Score) -> dict[str, Any]:
    """At the threshold with the fewest wrong rows, chosen on these very rows in its favour."""
    scores = [score(row["source"], row["quote"]) for row in rows]
    results = {
        threshold: _judged(rows, [found >= threshold for found in scores])
        for threshold in sorted({0.0, *scores, 101.0})
    }
    wrong = {at: one["wrong_accepts"] + one["wrong_rejects"] for at, one in results.items()}
    best = min(wrong, key=lambda at: (wrong[at], at))
    counts = {key: results[best][key] for key in ("wrong_accepts", "wrong_rejects")}
    return {"threshold": round(best, 2), **counts}


def _difflib(source: str, quote: str) -> float:
    """The share of the quote that stands in the source in order, 0 to 100."""
    blocks = SequenceMatcher(None, source, quote, autojunk=False).get_matching_blocks()
    return 100 * sum(block.size for block in blocks) / max(len(quote), 1)


def _partial_ratio(source: str, quote: str) -> float:
    return fuzz.partial_ratio(
        source.encode("utf-8", "replace").decode(), quote.encode("utf-8", "replace").decode()
    )
