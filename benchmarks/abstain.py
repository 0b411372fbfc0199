"""When the extractive backend answers and when it is silent, on CLAP NQ's questions.

Each question comes with a passage that answers it or does not. At the cut that is set: the share
of unanswerable questions on which it is silent, and of answerable ones that it answers. The curve
shows both for every other cut, and the risk: of the questions answered, the share without an
answer. Its first point, where nothing is cut, is the peer: retrieval that always answers. What was
changed for these rows was looked for on one half of them and must hold on the other: `halves`.

Tried, and not taken, because it did not hold on both halves or gained less than three points of
answered and silent together: a name that an answer to "who" or "where" must show, a date in one to
"when" (they cost as many answers as they silence); the noun behind "which" or "how many"; words of
the title that weigh less; terms that stand close together or in the question's order; words that
begin alike; light verbs that do not count; longer words that weigh more; superlatives that must be
shown (one half alone). A regression over many of these was worse on the half it had not seen than
the rules are.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nupunkt

from services.generation.__main__ import Settings
from services.generation.drafter import Passage, Task
from services.generation.extractive import Extractor, Rules

FILES = {"answerable": "answerable_dev.jsonl", "unanswerable": "unanswerable_dev.jsonl"}
STEPS = 20


def measure(arguments: list[str]) -> dict[str, Any]:
    parser = argparse.ArgumentParser(prog="python -m benchmarks abstain")
    parser.add_argument("--data", type=Path, required=True, help="the folder of CLAP NQ's rows")
    options = parser.parse_args(arguments)
    settings = Settings()
    rules = Rules(cut=settings.extractive_cut, limit=settings.extractive_limit)
    extractor = Extractor(nupunkt.load("default"), rules)
    tasks = {kind: _tasks(options.data / name) for kind, name in FILES.items()}
    answered = {
        kind: sum(not extractor.extract(task).insufficient for task in given)
        for kind, given in tasks.items()
    }
    covered = {kind: [extractor.covered(task) for task in given] for kind, given in tasks.items()}
    asked = {kind: len(given) for kind, given in tasks.items()}
    halves = {
        half: _figures([covered[kind][start::2] for kind in FILES], rules.cut)
        for start, half in enumerate(("even", "odd"))
    }
    return {
        "data": str(options.data),
        "questions": asked,
        "cut": rules.cut,
        "answered_of_answerable": round(answered["answerable"] / asked["answerable"], 3),
        "silent_of_unanswerable": round(1 - answered["unanswerable"] / asked["unanswerable"], 3),
        "auroc": round(_auroc(covered["answerable"], covered["unanswerable"]), 3),
        "aurc": round(_aurc(covered["answerable"], covered["unanswerable"]), 3),
        "halves": halves,
        "curve": _curve(covered["answerable"], covered["unanswerable"]),
    }


def _tasks(path: Path) -> list[Task]:
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return [
        Task(
            row["input"],
            tuple(
                Passage(
                    f"{row['id']}-{number}", given["text"], given["title"], document_id=row["id"]
                )
                for number, given in enumerate(row["passages"])
            ),
        )
        for row in rows
    ]


def _curve(right: Sequence[float], wrong: Sequence[float]) -> list[dict[str, float]]:
    """For each cut, from answering everything to answering nothing."""
    points = []
    for step in range(STEPS + 1):
        cut = step / STEPS
        kept, slipped = sum(one >= cut for one in right), sum(one >= cut for one in wrong)
        points.append(
            {
                "cut": cut,
                "coverage": round((kept + slipped) / (len(right) + len(wrong)), 3),
                "risk": round(slipped / max(1, kept + slipped), 3),
                "answered_of_answerable": round(kept / len(right), 3),
                "silent_of_unanswerable": round(1 - slipped / len(wrong), 3),
            }
        )
    return points


def _figures(halved: Sequence[Sequence[float]], cut: float) -> dict[str, float]:
    right, wrong = halved
    return {
        "answered_of_answerable": round(sum(one >= cut for one in right) / len(right), 3),
        "silent_of_unanswerable": round(sum(one < cut for one in wrong) / len(wrong), 3),
        "auroc": round(_auroc(right, wrong), 3),
        "aurc": round(_aurc(right, wrong), 3),
    }


def _aurc(right: Sequence[float], wrong: Sequence[float]) -> float:
    """The mean risk over all coverages, 0 to 1, the surest question first; ties in expectation."""
    told = [*((one, 0) for one in right), *((one, 1) for one in wrong)]
    answered = slipped = 0
    total = 0.0
    for covered in sorted({one for one, _ in told}, reverse=True):
        tied = [wrong for one, wrong in told if one == covered]
        for place in range(1, len(tied) + 1):
            total += (slipped + place * sum(tied) / len(tied)) / (answered + place)
        answered, slipped = answered + len(tied), slipped + sum(tied)
    return total / len(told)


def _auroc(right: Sequence[float], wrong: Sequence[float]) -> float:
    """How often an answerable question covers more than an unanswerable one; ties count half."""
    won = sum((one > other) + (one == other) / 2 for one in right for other in wrong)
    return won / (len(right) * len(wrong))
