"""What leaves the loop when a model drafts badly, beside what leaves a naive pipeline.

The scripted drafts of `tests/cases/drafts/` through the real generation, verification and
orchestrator, over real channels, with a Redis; the passages are given. The peer is `naive.py`, on
the same questions and first drafts.
"""

import argparse
import asyncio
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import naive
from benchmarks.drafts import Row, rows
from benchmarks.replay import Played, replay
from benchmarks.store import running
from services.chassis import telemetry
from services.chassis.settings import Settings

FIGURES = ("wrong_released", "right_released", "right_lost", "abstained")
OUTCOMES = ("first attempt", "corrected", "partial", "abstained")


def measure(arguments: list[str]) -> dict[str, Any]:
    """Statements released and lost, questions not answered; in all and class by class.

    Returns:
        `verity` and `naive`: distinct statements that are wrong and were released, that are right
        and were released, and that are right, were drafted at some attempt and were not released;
        and questions without an answer. `classes`: per class its rows, what became of them, and the
        wrong statements that either released. `unverified`: anything in an answer, a stream or a
        stored record of Verity that was not verified.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks loop", description=__doc__)
    parser.add_argument("--data", type=Path, help="not needed: the drafts are in tests/cases")
    parser.parse_args(arguments)
    with telemetry.configured("benchmark", Settings(log_level="error")):
        return asyncio.run(_measure(rows()))


async def _measure(played_rows: Sequence[Row]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as directory:
        async with running(Path(directory)) as url:
            return figures([one async for one in replay(played_rows, url)])


def figures(played: Sequence[Played]) -> dict[str, Any]:
    verity = {one.row.id: one.answered for one in played}
    peer = {one.row.id: naive.answered(one.row) for one in played}
    rows_played = [one.row for one in played]
    return {
        "rows": len(played),
        "unverified": sum(len(set(one.unverified)) for one in played),
        "verity": _counts(rows_played, verity),
        "naive": _counts(rows_played, peer),
        "classes": {
            kind: _class([one for one in played if one.row.kind == kind])
            for kind in dict.fromkeys(row.kind for row in rows_played)
        },
        "target": {"unverified": 0, "met": not any(one.unverified for one in played)},
    }


def table(played: Sequence[Played]) -> str:
    """Classes by outcomes, for a reader."""
    names = ("rows", *OUTCOMES, "wrong released", "naive: wrong released")
    lines = [f"{'class':26}" + "".join(f"{name:>{len(name) + 2}}" for name in names)]
    by_class = figures(played)["classes"]
    for kind, counts in by_class.items():
        cells = (f"{counts[name]:>{len(name) + 2}}" for name in names)
        lines.append(f"{kind:26}" + "".join(cells))
    total = Counter[str]()
    for counts in by_class.values():
        total.update(counts)
    lines.append(f"{'all':26}" + "".join(f"{total[name]:>{len(name) + 2}}" for name in names))
    return "\n".join(lines)


def _counts(rows_played: Iterable[Row], answers: Mapping[str, Collection[str]]) -> dict[str, int]:
    counts = Counter[str]()
    for row in rows_played:
        released = set(answers[row.id])
        counts["wrong_released"] += len(released - row.right)
        counts["right_released"] += len(released & row.right)
        counts["right_lost"] += len(row.right - released)
        counts["abstained"] += not released
    return {name: counts[name] for name in FIGURES}


def _class(played: Sequence[Played]) -> dict[str, int]:
    counts = Counter(one.became for one in played)
    wrong = [set(one.answered) - one.row.right for one in played]
    peer = [set(naive.answered(one.row)) - one.row.right for one in played]
    return {
        "rows": len(played),
        **{name: counts[name] for name in OUTCOMES},
        "wrong released": sum(map(len, wrong)),
        "naive: wrong released": sum(map(len, peer)),
    }
