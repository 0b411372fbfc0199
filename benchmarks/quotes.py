"""Which quotes pass on labelled pairs, and which with plain fuzzy matching.

Each line of `--pairs FILE.jsonl` is `{"source": str, "quote": str, "accept": bool}`; an `id` in it
names the row. A folder is read as the cases of tests/cases/quotes, but for those with two passages.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import yaml
from rapidfuzz import fuzz

from services.verification.citing import check_citation
from services.verification.evidence import Citation, DraftCitation, Passage
from services.verification.source import Source

Score = Callable[[str, str], float]
# What fuzzy matching is set to where nobody has measured.
USUAL = 90.0
NOTHING_PASSES = 101.0


def measure(arguments: list[str]) -> dict[str, Any]:
    parser = argparse.ArgumentParser(prog="python -m benchmarks quotes")
    parser.add_argument("--pairs", type=Path, required=True, help="a file or folder")
    parser.add_argument("--peers", action="store_true", help="difflib and rapidfuzz beside it")
    options = parser.parse_args(arguments)
    rows = _cases(options.pairs) if options.pairs.is_dir() else _lines(options.pairs)
    figures = _judged(rows, [accepts(row["source"], row["quote"]) for row in rows])
    if options.peers:
        figures["peers"] = {
            "difflib": _peer(rows, _difflib),
            "rapidfuzz partial_ratio": _peer(rows, _partial_ratio),
        }
    return figures


def _lines(file: Path) -> list[dict[str, Any]]:
    lines = file.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line.strip()]


def _cases(folder: Path) -> list[dict[str, Any]]:
    files = sorted(folder.glob("*.yaml"))
    cases = [case for file in files for case in yaml.safe_load(file.read_text(encoding="utf-8"))]
    return [
        {**case, "accept": case["expect"] == "FOUND"} for case in cases if not case.get("elsewhere")
    ]


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


def _peer(rows: Sequence[dict[str, Any]], score: Score) -> dict[str, Any]:
    """At a usual threshold, and at the one with the fewest wrong rows of these, in its favour."""
    scores = [score(row["source"], row["quote"]) for row in rows]

    def at(threshold: float) -> dict[str, Any]:
        judged = _judged(rows, [found >= threshold for found in scores])
        counts = {key: judged[key] for key in ("wrong_accepts", "wrong_rejects")}
        return {"threshold": round(threshold, 2), **counts}

    tried = [at(threshold) for threshold in sorted({0.0, *scores, NOTHING_PASSES})]
    best = min(tried, key=lambda one: one["wrong_accepts"] + one["wrong_rejects"])
    return {"usual": at(USUAL), "best": best}


def _difflib(source: str, quote: str) -> float:
    """The share of the quote that stands in the source in order, 0 to 100."""
    blocks = SequenceMatcher(None, source, quote, autojunk=False).get_matching_blocks()
    return 100 * sum(block.size for block in blocks) / max(len(quote), 1)


def _partial_ratio(source: str, quote: str) -> float:
    return fuzz.partial_ratio(
        source.encode("utf-8", "replace").decode(), quote.encode("utf-8", "replace").decode()
    )
