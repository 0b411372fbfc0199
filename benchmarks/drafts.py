"""Scripted drafts from `tests/cases/drafts/`: what a model says, and what must come of it."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding

from cli.scripted_model.replies import draft_of
from cli.scripted_model.script import Behaviour, Rule
from services.orchestrator.searching import in_force

FOLDER = Path(__file__).parents[1] / "tests" / "cases" / "drafts"
SOURCES = "sources"
# On this day all rows are asked that name no other.
_DAY = "2026-06-01"


@dataclass(frozen=True, slots=True)
class Said:
    """One statement of a draft.

    Attributes:
        text: What it says.
        citations: A passage's id, and the words it claims to copy from there.
        why: The reason for which it must fall; empty where it is right, as a person read it.
    """

    text: str
    citations: Sequence[tuple[str, str]]
    why: str

    @property
    def is_right(self) -> bool:
        return not self.why


@dataclass(frozen=True, slots=True)
class Row:
    """A question, the passages that are found, the drafts in turn, and what must come out."""

    id: str
    kind: str
    question: str
    passages: Sequence[core.Passage]
    # Found by a wider search alone, and left out because they do not apply on the day.
    more: Sequence[core.Passage]
    excluded: Sequence[core.Passage]
    # None: the model finds no answer.
    drafts: Sequence[Sequence[Said]]
    day: str
    status: str
    abstention: str
    attempts: int
    released: Sequence[str]
    # Why it comes out otherwise all the same: a known limit of the checks; empty where it does not.
    limit: str

    @property
    def right(self) -> frozenset[str]:
        """All that is true to the sources of what the model says at any attempt."""
        return frozenset(said.text for draft in self.drafts for said in draft if said.is_right)

    @property
    def wrong(self) -> frozenset[str]:
        return frozenset(said.text for draft in self.drafts for said in draft if not said.is_right)

    @property
    def request(self) -> grounding.AskRequest:
        """The question; the tag tells whoever finds passages for which row."""
        request = grounding.AskRequest(question=self.question, as_of=self.day)
        request.filter.tags.append(self.id)
        return request

    def rules(self) -> list[Rule]:
        """How the scripted model plays it.

        A later draft comes only where the request shows the objection to the one before: a model
        that is not told what was wrong says the first draft again.
        """
        asked: dict[str, Any] = {"question": f"^{re.escape(self.question)}$"}
        first, *later = (Behaviour("say", {"text": self._reply(draft)}) for draft in self.drafts)
        rules = []
        for number, behaviour in enumerate(later, 2):
            seen: dict[str, Any]
            if self.more:
                seen = {"sources": re.escape(self.more[0].text[:60])}
            else:
                seen = {"objections": _first_why(self.drafts[number - 2]), "attempt": number}
            rules.append(Rule({**asked, **seen}, [behaviour]))
        return [*rules, Rule(asked, [first])]

    def _reply(self, draft: Sequence[Said]) -> str:
        # What does not apply on the day is not shown, even where it was found.
        found = in_force([*self.passages, *self.more], self.day)
        shown = {one.id: f"src_{n}" for n, one in enumerate(found)}
        statements = [
            {
                "text": said.text,
                "citations": [
                    {"source": shown.get(source, source), "quote": quote}
                    for source, quote in said.citations
                ],
            }
            for said in draft
        ]
        return json.dumps(draft_of(statements, insufficient=not statements), ensure_ascii=False)


def rows() -> list[Row]:
    """All rows, class by class."""
    sources = _sources(_yaml(FOLDER / f"{SOURCES}.yaml"))
    files = sorted(path for path in FOLDER.glob("*.yaml") if path.stem != SOURCES)
    return [_row(one, path.stem, sources) for path in files for one in _yaml(path)]


def _yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def _sources(given: Mapping[str, Any]) -> dict[str, core.Passage]:
    return {
        name: _passage(name, number, one, given["documents"][one["in"]])
        for number, (name, one) in enumerate(given["passages"].items())
    }


def _passage(
    name: str, number: int, given: Mapping[str, Any], document: Mapping[str, Any]
) -> core.Passage:
    text = given["text"].strip()
    start = 100_000 * number
    return core.Passage(
        id=name,
        document_id=given["in"],
        source_name=given["in"],
        document_type=document["type"],
        authority=f"AUTHORITY_{document['authority']}",
        version=1,
        document_sha256="ab" * 32,
        text=text,
        page_number=given.get("page", 1),
        section_id=str(given.get("section", "")),
        heading_path=given.get("under", []),
        span=core.Span(start=start, end=start + len(text)),
        effective_from=str(document.get("from", "")),
        effective_to=str(document.get("to", "")),
        published=str(document.get("published", "")),
    )


def _row(given: Mapping[str, Any], kind: str, sources: Mapping[str, core.Passage]) -> Row:
    out = given["out"]
    drafts = [[_said(one, sources) for one in draft] for draft in given["drafts"]]
    return Row(
        id=f"{kind}/{given['id']}",
        kind=kind,
        question=given["question"],
        passages=[sources[name] for name in given["sources"]],
        more=[sources[name] for name in given.get("more", [])],
        excluded=[sources[name] for name in given.get("excluded", [])],
        drafts=drafts,
        day=str(given.get("day", _DAY)),
        status=out["status"],
        abstention=out.get("abstention", ""),
        attempts=out["attempts"],
        released=out.get("released", []),
        limit=given.get("limit", ""),
    )


def _said(given: Mapping[str, Any], sources: Mapping[str, core.Passage]) -> Said:
    cited = given.get("cite", {})
    pairs = cited.items() if isinstance(cited, dict) else map(tuple, cited)
    kind, *others = {"right", "wrong"} & set(given)
    if others or (kind == "wrong") != bool(given.get("why")):
        raise ValueError(f"a statement is right, or wrong for a reason: {given}")
    text: str = given[kind]

    def words(name: str, quote: str) -> str:
        """The whole passage, the statement's own words, or what the row says."""
        if quote == "*":
            return sources[name].text
        return text if quote == "=" else quote

    return Said(text, [(name, words(name, quote)) for name, quote in pairs], given.get("why", ""))


def _first_why(draft: Sequence[Said]) -> str:
    return next((said.why for said in draft if said.why), "any")
