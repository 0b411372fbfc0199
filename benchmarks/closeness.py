"""What holding a draft to its words costs: honest edits of true sentences that are refused.

Sentences of the passages in `tests/cases/drafts`, and with `--data` of ObliQA's rules and of the
passages that answer CLAP NQ's questions, are edited as `honest.py` says. A sentence that is refused
as it stands is left out. `refused` are those that `VERITY_DRAFTS=close` refuses; `free`, the peer,
those that the other checks refuse already.
"""

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.drafts import rows
from benchmarks.honest import Edited, Told, edits, items
from services.verification.conflict import Conflicts
from services.verification.evidence import DraftCitation, Passage, Statement, Verdict
from services.verification.source import Source
from services.verification.verdict import examine

_KINDS = {"agreement", "circular", "letter", "manual", "policy", "report", "standard", "transcript"}
_SHOWN = 3
_MOST_CHARS = 400
_FEWEST_WORDS = 5


def measure(arguments: list[str]) -> dict[str, Any]:
    parser = argparse.ArgumentParser(prog="python -m benchmarks closeness", description=__doc__)
    parser.add_argument(
        "--data", type=Path, action="append", default=[], help="a folder of ObliQA or CLAP NQ"
    )
    parser.add_argument("--passages", type=int, default=400, help="of each folder, at most")
    options = parser.parse_args(arguments)
    given = chain(_own(), *(_read(folder, options.passages) for folder in options.data))
    return figures(given)


def figures(given: Iterable[tuple[Passage, str]]) -> dict[str, Any]:
    """Edits made and refused, in all and by kind, with the first that each kind had refused.

    Args:
        given: Passages, and what their documents are.
    """
    made, close, free = Counter[str](), Counter[str](), Counter[str]()
    examples = defaultdict[str, list[str]](list)
    for passage, document in given:
        for kind, edited in _edited(Source(passage), document):
            made[kind] += 1
            free[kind] += not _stands(edited, passage, is_draft=False)
            if not _stands(edited, passage, is_draft=True):
                close[kind] += 1
                examples[kind].append(edited.text)
    return {
        "edits": made.total(),
        "refused": close.total(),
        "free": free.total(),
        "honest_refused": round(close.total() / max(1, made.total()), 3),
        "kinds": {
            kind: {
                "edits": made[kind],
                "refused": close[kind],
                "free": free[kind],
                "first": examples[kind][:_SHOWN],
            }
            for kind in sorted(made)
        },
    }


def _edited(source: Source, document: str) -> Iterator[tuple[str, Edited]]:
    passage = source.passage
    sentences = [" ".join(source.text[s.start : s.end].split()) for s in source.sentences]
    for before, text, after in zip(["", *sentences], sentences, [*sentences[1:], ""], strict=False):
        is_whole = text.endswith(".") and text[:1].isupper() and len(text) <= _MOST_CHARS
        if not is_whole or len(text.split()) < _FEWEST_WORDS:
            continue
        if _stands(Edited(text, [text]), passage, is_draft=True):
            yield from edits(Told(text, before, after, passage.section_id, document))
    for edited in items(source.text):
        yield "list item with its lead-in", edited


def _stands(edited: Edited, passage: Passage, *, is_draft: bool) -> bool:
    citations = tuple(DraftCitation(passage.id, quote) for quote in edited.quotes)
    sources = {passage.id: Source(passage)}
    conflicts = Conflicts(lambda *_: (), "")
    statement = Statement(edited.text, citations)
    found = examine(statement, sources, conflicts, is_draft=is_draft)
    return found.finding.verdict is Verdict.SUPPORTED


def _own() -> Iterator[tuple[Passage, str]]:
    """The passages of the drafts, without those that are not in English, as the edits are."""
    seen = {one.id: one for row in rows() for one in (*row.passages, *row.more)}
    for one in seen.values():
        if one.id[2:3] != "-":
            yield (
                Passage(
                    one.id,
                    one.text,
                    heading_path=tuple(one.heading_path),
                    section_id=one.section_id,
                    source_name=one.source_name,
                ),
                _kind(one.source_name),
            )


def _kind(source_name: str) -> str:
    """What a writer would call the document: the policy, the report, else the document."""
    named = re.findall(r"[a-z]+", source_name.rpartition(".")[0].lower())
    return named[-1] if named[-1:] and named[-1] in _KINDS else "document"


def _read(folder: Path, most: int) -> Iterator[tuple[Passage, str]]:
    if (folder / "ObliQA_dev.json").exists():
        asked = json.loads((folder / "ObliQA_dev.json").read_text("utf-8"))
        texts = {one["Passage"]: one["PassageID"] for row in asked for one in row["Passages"]}
        for number, (text, section) in enumerate(list(texts.items())[:most]):
            yield (
                Passage(f"rule-{number}", text, section_id=section, source_name="Rules.pdf"),
                "rules",
            )
        return
    lines = (folder / "answerable_dev.jsonl").read_text("utf-8").splitlines()
    for row in map(json.loads, lines[:most]):
        for one in row["passages"]:
            name = f"{one['title']}.html"
            heading = (one["title"],)
            yield (
                Passage(row["id"], one["text"], heading_path=heading, source_name=name),
                "document",
            )
