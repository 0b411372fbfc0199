"""Labelled claims, `{id, claim, evidence: [str], label}` a line, as statements with what they cite.

Supported is positive; partial, unsupported and contradicted are negative: each misleads a reader.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from services.verification import facts, polarity
from services.verification.evidence import Passage, Span
from services.verification.markers import without_markers
from services.verification.source import Cited, Source
from services.verification.support_features import Features, measure


@dataclass(frozen=True, slots=True)
class Row:
    """One claim. `source` names the data set it comes from, `kind` how it was made from it."""

    id: str
    claim: str
    evidence: tuple[str, ...]
    supported: bool
    source: str = ""
    kind: str = "as it is"

    @property
    def cited(self) -> list[Cited]:
        """All of the evidence, cited whole."""
        source = Source(Passage(self.id, "\n".join(self.evidence)))
        return [Cited(source, Span(0, len(source.text)))]

    @property
    def counted(self) -> Features:
        """What the support scorer counts of it."""
        cited = self.cited
        reasons = list(facts.disagreements(self.claim, cited))
        reasons += polarity.disagreements(self.claim, cited)
        return measure(self.claim, cited, reasons)


def read(path: Path) -> Iterator[Row]:
    """The rows of a file, without citation markers, as statements are judged."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield Row(
                str(row["id"]),
                " ".join(without_markers(row["claim"]).split()),
                tuple(row["evidence"]),
                row["label"] == "supported",
                str(row.get("src", path.stem)),
            )
