"""When the extractive backend answers and when it is silent, on CLAP NQ's questions.

Each question comes with a passage that answers it or does not. At the cut that is set: the share
of unanswerable questions on which it is silent, and of answerable ones that it answers. The curve
shows both for every other cut, and the risk: of the questions answered, the share without an
answer. Its first point, where nothing is cut, is the peer: retrieval that always answers.
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
    return {
        "data": str(options.data),
        "questions": asked,
        "cut": rules.cut,
        "answered_of_answerable": round(answered["answerable"] / asked["answerable"], 3),
        "silent_of_unanswerable": round(1 - answered["unanswerable"] / asked["unanswerable"], 3),
        "auroc": round(_auroc(covered["answerable"], covered["unanswerable"]), 3),
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


def _auroc(right: Sequence[float], wrong: Sequence[float]) -> float:
    """How often an answerable question covers more than an unanswerable one; ties count half."""
    won = sum((one > other) + (one == other) / 2 for one in right for other in wrong)
    return won / (len(right) * len(wrong))
