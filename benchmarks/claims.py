"""How well claims that are supported are told from others: by the score, and by the verdict.

The score is the support scorer's, beside plain word overlap. The verdict is what CheckGrounding
says of the claim against its evidence, without a judge: what the checks alone let through, and what
they stop.
"""

import argparse
import math
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from rapidfuzz import fuzz

from benchmarks.claim_rows import Row, read
from benchmarks.classification import auroc, bootstrap, wilson
from services.verification import grounding
from services.verification.entailment import MIN_COVERAGE
from services.verification.evidence import Passage, Verdict
from services.verification.support import Scorer
from services.verification.words import STOPWORDS

COEFFICIENTS = Path("services/verification/support.toml")
_WORD = re.compile(r"\w+")
# None of the evidence says from when to when it is in force.
_TODAY = "2026-01-01"


def measure(arguments: list[str]) -> dict[str, Any]:
    """The figures over the rows of one file, each with its 95% interval."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks claims", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="JSON lines with labelled claims")
    parser.add_argument("--coefficients", type=Path, default=COEFFICIENTS)
    parser.add_argument("--peers", action="store_true", help="string matchers as baselines too")
    options = parser.parse_args(arguments)
    scorer = Scorer.read(options.coefficients.read_text())
    rows = list(read(options.data))
    positive = [row.supported for row in rows]
    scores = [scorer.of(row.counted) for row in rows]
    baselines = {"lexical": word_overlap}
    if options.peers:
        baselines |= {
            "content_words": content_overlap,
            "difflib": difflib_ratio,
            "rapidfuzz": partial_ratio,
        }
    return (
        figures(positive, scores, scorer.threshold)
        | {"verdict": errors(positive, [is_released(row) for row in rows])}
        | {
            name: against(positive, scores, [score(row) for row in rows])
            for name, score in baselines.items()
        }
    )


def figures(positive: Sequence[bool], scores: Sequence[float], threshold: float) -> dict[str, Any]:
    """What comes of passing every row that scores at least the threshold.

    A false pass is a row that is not supported and passes, a false strip one that is and does not.
    """
    passed = [score >= threshold for score in scores]

    def balanced(chosen: Sequence[int]) -> float:
        supported = [passed[n] for n in chosen if positive[n]]
        others = [not passed[n] for n in chosen if not positive[n]]
        if not supported or not others:
            return math.nan
        return (sum(supported) / len(supported) + sum(others) / len(others)) / 2

    everything = range(len(positive))
    return {
        "auroc": auroc(positive, scores),
        "auroc_interval": bootstrap(
            lambda chosen: auroc([positive[n] for n in chosen], [scores[n] for n in chosen]),
            len(positive),
        ),
        "balanced_accuracy": balanced(everything),
        "balanced_accuracy_interval": bootstrap(balanced, len(positive)),
        **errors(positive, passed),
        "rows": len(positive),
        "supported": sum(positive),
        "threshold": threshold,
    }


def errors(positive: Sequence[bool], passed: Sequence[bool]) -> dict[str, Any]:
    """The shares of what is not supported and passes, and of what is and does not."""
    total = {True: sum(positive), False: len(positive) - sum(positive)}
    strips = sum(label and not went for label, went in zip(positive, passed, strict=True))
    passes = sum(went and not label for label, went in zip(positive, passed, strict=True))
    return {
        "false_pass": passes / total[False] if total[False] else 0.0,
        "false_pass_interval": wilson(passes, total[False]),
        "false_strip": strips / total[True] if total[True] else 0.0,
        "false_strip_interval": wilson(strips, total[True]),
    }


def is_released(row: Row) -> bool:
    """Whether every sentence of the claim that states something is SUPPORTED by the evidence."""
    facts = [Passage(str(number), text) for number, text in enumerate(row.evidence) if text.strip()]
    claims = grounding.check(
        row.claim, facts, lambda: None, min_coverage=MIN_COVERAGE, today=_TODAY
    )
    stated = [claim.finding.verdict for claim in claims if claim.needs_check]
    return bool(stated) and all(verdict is Verdict.SUPPORTED for verdict in stated)


def word_overlap(row: Row) -> float:
    """The share of a claim's words that stand in its evidence."""
    return _share(_words(row.claim), set(_words(" ".join(row.evidence))))


def content_overlap(row: Row) -> float:
    """The same without the words that every text has."""
    ours = [word for word in _words(row.claim) if word not in STOPWORDS]
    return _share(ours, set(_words(" ".join(row.evidence))))


def difflib_ratio(row: Row) -> float:
    """The share of a claim's words that difflib aligns, in order, with its evidence."""
    ours = _words(row.claim)
    blocks = SequenceMatcher(None, ours, _words(" ".join(row.evidence))).get_matching_blocks()
    return sum(block.size for block in blocks) / max(1, len(ours))


def partial_ratio(row: Row) -> float:
    return fuzz.partial_ratio(row.claim.lower(), " ".join(row.evidence).lower()) / 100


def against(
    positive: Sequence[bool], scores: Sequence[float], baseline: Sequence[float]
) -> dict[str, Any]:
    """The AUROC of a baseline, and by how much the scores are above it on the same rows."""

    def over(chosen: Sequence[int]) -> float:
        labels = [positive[n] for n in chosen]
        return auroc(labels, [scores[n] for n in chosen]) - auroc(
            labels, [baseline[n] for n in chosen]
        )

    return {
        "auroc": auroc(positive, baseline),
        "gain": over(range(len(positive))),
        "gain_interval": bootstrap(over, len(positive)),
    }


def _share(ours: Sequence[str], theirs: set[str]) -> float:
    return sum(word in theirs for word in ours) / len(ours) if ours else 0.0


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
