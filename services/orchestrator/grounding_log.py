"""What is kept of each answer to learn from: figures and names, no words of what was said."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import cast

from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding

# Of one answer; the others fail again if it matters.
_MOST_DOCUMENTS = 20
_MOST_REPORTED = 20


@dataclass(frozen=True, slots=True)
class Failing:
    """A document of which citations failed: its name, and how often for which reason."""

    source_name: str
    failures: int
    codes: Mapping[int, int]
    # Groups whose members may read it; none: everybody of the tenant.
    readers: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One answer."""

    confidence: float
    # core.Abstention.Type; 0 for an answer.
    abstention: int = 0
    # The place, from 1, of the last passage that is cited among those that were found.
    depth: int = 0
    # Statements that failed, by the codes of their reasons.
    codes: Mapping[int, int] = field(default_factory=dict)
    # Drafts by structured mode, and those of them that were no drafts.
    drafts: Mapping[str, int] = field(default_factory=dict)
    unusable: Mapping[str, int] = field(default_factory=dict)
    # By document id.
    documents: Mapping[str, Failing] = field(default_factory=dict)
    # What was done otherwise than by default (Strategy.Why.choice).
    choices: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Log:
    """The last answers, oldest first: those of a conversation, and those of all its tenant's."""

    conversation: Sequence[Entry] = ()
    tenant: Sequence[Entry] = ()


def entry(answer: grounding.Answer, passages: Sequence[core.Passage]) -> Entry:
    """What is kept of an answer that was made from these passages."""
    places = {passage.id: place for place, passage in enumerate(passages, 1)}
    cited = {c.passage_id for statement in answer.statements for c in statement.citations}
    drafts, unusable = Counter[str](), Counter[str]()
    for attempt in answer.attempt_log:
        if attempt.structured_mode:
            drafts[attempt.structured_mode] += 1
            unusable[attempt.structured_mode] += bool(attempt.failure)
    return Entry(
        confidence=answer.confidence.grounding_confidence,
        abstention=answer.abstention.type,
        depth=max((places.get(id_, 0) for id_ in cited), default=0),
        codes=dict(
            Counter(code for one in answer.objections for code in {r.code for r in one.reasons})
        ),
        drafts=dict(drafts),
        unusable=dict(+unusable),
        documents=_documents(answer.objections, {one.id: one for one in passages}),
        choices=tuple(why.choice for why in answer.strategy.why),
    )


def encoded(one: Entry) -> bytes:
    return json.dumps(asdict(one), separators=(",", ":")).encode()


def decoded(data: bytes) -> Entry | None:
    """None for what is no entry of this build: there is nothing to learn from it."""
    try:
        fields = json.loads(data)
        documents = {
            str(id_): Failing(
                str(one["source_name"]),
                int(one["failures"]),
                _by_code(one["codes"]),
                tuple(str(group) for group in one.get("readers", ())),
            )
            for id_, one in fields["documents"].items()
        }
        return Entry(
            confidence=float(fields["confidence"]),
            abstention=int(fields["abstention"]),
            depth=int(fields["depth"]),
            codes=_by_code(fields["codes"]),
            drafts={str(mode): int(count) for mode, count in fields["drafts"].items()},
            unusable={str(mode): int(count) for mode, count in fields["unusable"].items()},
            documents=documents,
            choices=tuple(str(choice) for choice in fields["choices"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def failing_documents(
    entries: Sequence[Entry], groups: frozenset[str] | None = None
) -> list[grounding.FailingDocument]:
    """The documents whose citations failed and that a member of these groups may read.

    Those that fail most come first; None: of every group.
    """
    found: dict[str, grounding.FailingDocument] = {}
    codes = defaultdict[str, Counter[int]](Counter)
    for one in entries:
        for id_, document in one.documents.items():
            if groups is not None and document.readers and groups.isdisjoint(document.readers):
                continue
            known = found.setdefault(id_, grounding.FailingDocument(document_id=id_))
            known.source_name = document.source_name
            known.failures += document.failures
            known.answers += 1
            codes[id_].update(document.codes)
    for id_, failing in found.items():
        failing.reasons.extend(
            grounding.FailingDocument.Count(code=cast("core.Reason.Code", code), count=count)
            for code, count in sorted(codes[id_].items(), key=lambda pair: (-pair[1], pair[0]))
        )
    ranked = sorted(found.values(), key=lambda one: (-one.failures, one.document_id))
    return ranked[:_MOST_REPORTED]


def _documents(
    objections: Sequence[core.Objection], passages: Mapping[str, core.Passage]
) -> dict[str, Failing]:
    failures, codes = Counter[str](), defaultdict[str, Counter[int]](Counter)
    named: dict[str, core.Passage] = {}
    for one in objections:
        at_fault = defaultdict[str, set[int]](set)
        for reason in one.reasons:
            for id_ in _cited(one, reason):
                if document := passages.get(id_):
                    named[document.document_id] = document
                    at_fault[document.document_id].add(reason.code)
        for id_, reasons in at_fault.items():
            failures[id_] += 1
            codes[id_].update(reasons)
    return {
        id_: Failing(named[id_].source_name, count, dict(codes[id_]), tuple(named[id_].readers))
        for id_, count in failures.most_common(_MOST_DOCUMENTS)
    }


def _cited(one: core.Objection, reason: core.Reason) -> list[str]:
    """The passages whose citation a reason is about: one of them where it says so, else all."""
    citations = one.statement.citations
    if reason.HasField("citation_index") and reason.citation_index < len(citations):
        return [citations[reason.citation_index].passage_id]
    return [citation.passage_id for citation in citations]


def _by_code(counts: Mapping[str, int]) -> dict[int, int]:
    return {int(code): int(count) for code, count in counts.items()}
