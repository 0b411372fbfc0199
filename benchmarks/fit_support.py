"""`python -m benchmarks.fit_support --data DIR`: fits the support scorer, writes its coefficients.

A logistic regression in which every count may only speak the way it should (see Features), fitted
on the rows of support_rows.py: deterministic, two minutes on one core. Prints, and writes to
docs/support-scorer.md, how far its probabilities hold on rows that it was not fitted on.
"""

import argparse
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.claim_rows import Row, read
from benchmarks.claims import COEFFICIENTS, against, figures, word_overlap
from benchmarks.classification import reliability, risk_coverage
from benchmarks.support_rows import clean, varied
from services.verification.support import Scorer
from services.verification.support_features import SUPPORTING, Features

REPORT = Path("docs/support-scorer.md")
REPORTED = ("wice", "attributionbench", "summedits", "scitab")
# Of the weights of counts brought to a spread of one: no count alone may decide.
RIDGE = 0.02
FOLDS = 5
_STEPS = 50
_SIGNS = np.array([1.0 if name in SUPPORTING else -1.0 for name in Features._fields])

Array = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of labelled claims")
    parser.add_argument("--coefficients", type=Path, default=COEFFICIENTS)
    parser.add_argument("--report", type=Path, default=REPORT)
    options = parser.parse_args()
    reported = {name: list(read(options.data / f"{name}_dev.jsonl")) for name in REPORTED}
    pool = list(read(options.data / "train_pool.jsonl"))
    rows = varied(clean(pool, [row for each in reported.values() for row in each]))
    counted, positive = _measured(rows)
    weighed = _weights(rows)
    unseen = _cross_validated(rows, counted, positive, weighed)
    threshold = _best_threshold(positive, unseen, weighed)
    bias, weights = fit(counted, positive, weighed)
    options.coefficients.write_text(_toml(bias, weights, threshold, rows))
    scorer = Scorer.read(options.coefficients.read_text())
    report = "\n".join(_report(scorer, rows, positive, unseen, reported))
    options.report.write_text(report + "\n")
    print(report)


def fit(counted: Array, positive: Array, weighed: Array) -> tuple[float, Array]:
    """Bias and weights. A count that would speak the wrong way gets no weight."""
    used = np.ones(len(_SIGNS), dtype=bool)
    while True:
        bias, weights = _newton(counted[:, used], positive, weighed)
        wrong = weights * _SIGNS[used] < 0
        if not wrong.any():
            break
        used[np.flatnonzero(used)[wrong]] = False
    whole = np.zeros(len(_SIGNS))
    whole[used] = weights
    return bias, whole


def _newton(counted: Array, positive: Array, weighed: Array) -> tuple[float, Array]:
    middle, spread = counted.mean(axis=0), counted.std(axis=0) + 1e-9
    x = np.column_stack([(counted - middle) / spread, np.ones(len(counted))])
    ridge = np.diag([RIDGE] * counted.shape[1] + [0.0])
    share = weighed / weighed.sum()
    solved = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        expected = 1 / (1 + np.exp(-x @ solved))
        slope = x.T @ (share * (expected - positive)) + ridge @ solved
        curve = (x * (share * expected * (1 - expected))[:, None]).T @ x + ridge
        step = np.linalg.solve(curve, slope)
        solved -= step
        if np.abs(step).max() < 1e-9:
            break
    weights = solved[:-1] / spread
    return float(solved[-1] - weights @ middle), weights


def _measured(rows: Sequence[Row]) -> tuple[Array, Array]:
    counted = np.array([row.counted for row in rows], dtype=np.float64)
    return counted, np.array([row.supported for row in rows], dtype=np.float64)


def _weights(rows: Sequence[Row]) -> Array:
    """Every source counts the same, and in each the supported as much as the others."""
    sizes = Counter((row.source, row.supported) for row in rows)
    return np.array([1 / sizes[row.source, row.supported] for row in rows])


def _cross_validated(rows: Sequence[Row], counted: Array, positive: Array, weighed: Array) -> Array:
    """The probability of each row by a model fitted without any row made from its claim."""
    folds = np.array([_fold(row) for row in rows])
    found = np.zeros(len(rows))
    for fold in range(FOLDS):
        inside = folds == fold
        bias, weights = fit(counted[~inside], positive[~inside], weighed[~inside])
        found[inside] = 1 / (1 + np.exp(-(counted[inside] @ weights + bias)))
    return found


def _fold(row: Row) -> int:
    return hashlib.sha256(row.id.encode()).digest()[0] % FOLDS


def _best_threshold(positive: Array, scores: Array, weighed: Array) -> float:
    """Where the shares of false passes and of false strips together are least, in hundredths."""
    supported = positive == 1
    share = weighed / np.where(supported, weighed[supported].sum(), weighed[~supported].sum())

    def wrong(threshold: float) -> float:
        return float(share[(scores >= threshold) != supported].sum())

    return min((step / 100 for step in range(20, 81)), key=wrong)


def _toml(bias: float, weights: Array, threshold: float, rows: Sequence[Row]) -> str:
    lines = [
        "# Written by `python -m benchmarks.fit_support`; see docs/support-scorer.md.",
        f'version = "support-{hashlib.sha256(weights.tobytes()).hexdigest()[:8]}"',
        f"# Rows it was fitted on: {len(rows)}.",
        f"bias = {bias:.4f}",
        f"threshold = {threshold}",
        "",
        "# What one of each count adds to the log odds.",
        "[weights]",
    ]
    pairs = zip(Features._fields, weights, strict=True)
    return "\n".join([*lines, *(f"{name} = {weight:.4f}" for name, weight in pairs)]) + "\n"


def _report(
    scorer: Scorer,
    rows: Sequence[Row],
    positive: Array,
    unseen: Array,
    reported: dict[str, list[Row]],
) -> Iterator[str]:
    yield "# How well the support scorer does"
    yield ""
    yield f"Written by `python -m benchmarks.fit_support`: {scorer.version}, threshold"
    yield f"{scorer.threshold}. No weight was fitted on the sets in this table; what is counted was"
    yield "chosen with their figures in view. 95% intervals in brackets."
    yield ""
    yield "| set | rows | AUROC | word overlap | gain | false pass | false strip |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    scores = {name: [scorer.of(row.counted) for row in each] for name, each in reported.items()}
    labels = {name: [row.supported for row in each] for name, each in reported.items()}
    for name, each in reported.items():
        yield _summary(
            name, each, figures(labels[name], scores[name], scorer.threshold), scores[name]
        )
    yield ""
    yield "Fitted on:"
    yield ""
    for (source, kind, supported), count in sorted(
        Counter((row.source, row.kind, row.supported) for row in rows).items()
    ):
        yield f"- {source}, {kind}, {'supported' if supported else 'not supported'}: {count}"
    yield from _tables("Rows fitted on, by cross-validation", list(positive == 1), unseen.tolist())
    for name in reported:
        yield from _tables(name, labels[name], scores[name])


def _summary(name: str, rows: Sequence[Row], found: dict[str, Any], scores: Sequence[float]) -> str:
    overlap = against([row.supported for row in rows], scores, [word_overlap(row) for row in rows])
    cells = (
        name,
        str(len(rows)),
        _cell(found, "auroc", ".3f"),
        f"{overlap['auroc']:.3f}",
        _cell(overlap, "gain", "+.3f"),
        _cell(found, "false_pass", ".1%"),
        _cell(found, "false_strip", ".1%"),
    )
    return f"| {' | '.join(cells)} |"


def _cell(found: dict[str, Any], figure: str, form: str) -> str:
    low, high = found[f"{figure}_interval"]
    return f"{found[figure]:{form}} [{low:{form}}, {high:{form}}]"


def _tables(name: str, labels: Sequence[bool], scores: Sequence[float]) -> Iterator[str]:
    """How reliable the probabilities are, and what passing only the best would let through."""
    binned, risks = reliability(labels, scores), risk_coverage(labels, scores)
    yield from ("", f"## {name}", "")
    yield from _chart(
        "Reliability: supported (bars) by probability (line)",
        [f"{mean:.2f}" for mean, _, _ in binned],
        bar=[share for _, share, _ in binned],
        line=[mean for mean, _, _ in binned],
    )
    yield from ("", "| probability | supported | rows |", "|---:|---:|---:|")
    for mean, share, count in binned:
        yield f"| {mean:.2f} | {share:.2f} | {count} |"
    yield ""
    yield from _chart(
        "Risk by coverage: wrong among the best-scored that are passed",
        [f"{share:.0%}" for share, _, _ in risks],
        line=[wrong for _, _, wrong in risks],
    )
    yield from ("", "| passed | down to | wrong |", "|---:|---:|---:|")
    for share, lowest, wrong in risks:
        yield f"| {share:.0%} | {lowest:.2f} | {wrong:.1%} |"


def _chart(title: str, labels: Sequence[str], **series: Sequence[float]) -> Iterator[str]:
    """A chart that Markdown viewers draw (Mermaid)."""
    yield from ("```mermaid", "xychart-beta", f'  title "{title}"')
    quoted = ", ".join(f'"{label}"' for label in labels)
    yield f"  x-axis [{quoted}]"
    yield "  y-axis 0 --> 1"
    for kind, values in series.items():
        yield f"  {kind} [{', '.join(f'{value:.3f}' for value in values)}]"
    yield "```"


if __name__ == "__main__":
    main()
