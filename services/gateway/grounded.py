"""The flat form of an answer, which POST /grounded_query gives: translated, nothing worked out."""

from typing import Any

from google.protobuf.descriptor import EnumDescriptor
from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding

from services.gateway import wire

PLACES = 3


def view(answer: grounding.Answer) -> dict[str, Any]:
    """The answer as a caller reads it who wants figures and sources and no messages."""
    figures = answer.confidence
    return {
        "answer": answer.text,
        "grounding_confidence": round(figures.grounding_confidence, PLACES),
        "citation_accuracy": round(figures.citation_accuracy, PLACES),
        "source_authority": round(figures.source_authority, PLACES),
        "claims_verified": len(answer.statements),
        "total_claims": _total(answer),
        "verification_details": _details(answer),
        "sources": _sources(answer),
        "historical_quality": (
            round(answer.historical_quality, PLACES)
            if answer.HasField("historical_quality")
            else None
        ),
        "statements": [wire.to_json(statement) for statement in answer.statements],
        "compliance": _word(core.Compliance.DESCRIPTOR, "COMPLIANCE_", answer.compliance),
        "status": _word(grounding.Answer.Status.DESCRIPTOR, "STATUS_", answer.status),
        "stage_timings": [wire.to_json(timing) for timing in answer.stage_timings],
        "trace_id": answer.trace_id,
    }


def _rejected(answer: grounding.Answer) -> list[core.Objection]:
    """What the last of its drafts still had that could not be verified, each claim once."""
    abandoned = [
        objection
        for objection in answer.objections
        if objection.outcome == core.Objection.OUTCOME_ABANDONED and objection.HasField("statement")
    ]
    last = max((objection.attempt for objection in abandoned), default=0)
    return list({o.statement.text: o for o in abandoned if o.attempt == last}.values())


def _total(answer: grounding.Answer) -> int:
    return len(answer.statements) + len(_rejected(answer))


def _details(answer: grounding.Answer) -> list[dict[str, Any]]:
    """Each claim with its verdict: those that are released, then those that are not."""
    released = [
        {"claim": s.text, "verdict": _verdict(s.verdict), "reasons": []} for s in answer.statements
    ]
    rejected = [
        {
            "claim": objection.statement.text,
            "verdict": _verdict(objection.verdict),
            "reasons": [wire.to_json(reason) for reason in objection.reasons],
        }
        for objection in _rejected(answer)
    ]
    return released + rejected


def _sources(answer: grounding.Answer) -> list[dict[str, Any]]:
    """Each document and page that is cited, once, in the order of the citations."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for statement in answer.statements:
        for citation in statement.citations:
            found.setdefault(
                (citation.document_id, citation.page_number),
                {
                    "id": citation.document_id,
                    "name": citation.source_name,
                    "page": citation.page_number,
                    "authority": _word(core.Authority.DESCRIPTOR, "AUTHORITY_", citation.authority),
                },
            )
    return list(found.values())


def _verdict(number: int) -> str:
    return _word(core.Verdict.DESCRIPTOR, "VERDICT_", number)


def _word(enum: EnumDescriptor, prefix: str, number: int) -> str:
    """The value's name without its prefix; its number when this version knows no name."""
    value = enum.values_by_number.get(number)
    return value.name.removeprefix(prefix) if value else str(number)
