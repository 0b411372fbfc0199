"""Replies as JSON objects. Scripts depend on these names; a test holds them."""

from typing import Any, Literal

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from verity.v1 import core_pb2 as core
from verity.v1 import generation_service_pb2 as generation
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import verification_service_pb2 as verification

View = dict[str, Any]

_GAP = grounding.ComplianceGap


def word(descriptor: EnumDescriptor, prefix: str, number: int) -> str:
    """An enum's name without its prefix; a number this build does not know stays a number."""
    value = descriptor.values_by_number.get(number)
    return value.name.removeprefix(prefix) if value else str(number)


def verdict(number: int) -> str:
    return word(core.Verdict.DESCRIPTOR, "VERDICT_", number)


def authority(number: int) -> str:
    return word(core.Authority.DESCRIPTOR, "AUTHORITY_", number)


def compliance(number: int) -> str:
    return word(core.Compliance.DESCRIPTOR, "COMPLIANCE_", number)


def status(number: int) -> str:
    return word(grounding.Answer.Status.DESCRIPTOR, "STATUS_", number)


def reason_code(number: int) -> str:
    return word(core.Reason.Code.DESCRIPTOR, "CODE_", number)


def answer(message: grounding.Answer) -> View:
    """What `verity ask --json` prints."""
    figures = message.confidence
    abstains = message.HasField("abstention")
    has_history = message.HasField("historical_quality")
    return {
        "answer": message.text,
        "status": status(message.status),
        "statements": [statement(s) for s in message.statements],
        "compliance": compliance(message.compliance),
        "grounding_confidence": figures.grounding_confidence,
        "citation_accuracy": figures.citation_accuracy,
        "source_authority": figures.source_authority,
        "coverage": figures.coverage,
        "historical_quality": message.historical_quality if has_history else None,
        "stage_timings": [stage_timing(t) for t in message.stage_timings],
        "attempts": message.attempts,
        "trace_id": message.trace_id,
        "answer_id": message.id,
        "conversation_id": message.conversation_id,
        "question": message.question,
        "abstention": abstention(message.abstention) if abstains else None,
        "search": search(message.search) if message.HasField("search") else None,
        "objections": [objection(o) for o in message.objections],
        "memory_degraded": message.memory_degraded,
        "generator": message.generator,
        "verifier": message.verifier,
        "create_time": timestamp(message.create_time) if message.HasField("create_time") else None,
        "duration_seconds": seconds(message.duration),
        "standalone_question": message.standalone_question or None,
        "as_of": message.as_of or None,
        "degraded": message.degraded,
        "strategy": strategy(message.strategy) if message.HasField("strategy") else None,
        "attempt_log": [attempt(a) for a in message.attempt_log],
        "compliance_gaps": [
            {"corpus": word(_GAP.Corpus.DESCRIPTOR, "CORPUS_", g.corpus), "message": g.message}
            for g in message.compliance_gaps
        ],
    }


def strategy(message: grounding.Strategy) -> View:
    """How a question is searched for, drafted and verified; null and false where as by default."""
    return {
        "passages": message.passages,
        "neighbours": message.neighbours,
        "rerank": message.rerank,
        "rewrite_query": message.rewrite_query,
        "min_coverage": message.min_coverage or None,
        "structured_mode": message.structured_mode or None,
        "why": [{"choice": why.choice, "reason": why.reason} for why in message.why],
        "learned_from": message.learned_from,
    }


def attempt(message: grounding.Attempt) -> View:
    """One draft and what became of it."""
    failure = generation.GenerateResponse.Failure.DESCRIPTOR
    return {
        "attempt": message.attempt,
        "outcome": word(grounding.Attempt.Outcome.DESCRIPTOR, "OUTCOME_", message.outcome),
        "failure": word(failure, "FAILURE_", message.failure) if message.failure else None,
        "query": message.query,
        "passages": message.passages,
        "dropped_passages": message.dropped_passages,
        "drafted": message.drafted,
        "verified": message.verified,
        "duration_seconds": seconds(message.duration),
        "input_tokens": message.usage.input_tokens,
        "output_tokens": message.usage.output_tokens,
        "tokens_estimated": message.usage.estimated,
        "generator": message.generator,
        "structured_mode": message.structured_mode or None,
    }


def statement(message: core.VerifiedStatement) -> View:
    return {
        "text": message.text,
        "verdict": verdict(message.verdict),
        "reasons": [reason(r) for r in message.reasons],
        "citations": [citation(c) for c in message.citations],
    }


def citation(message: core.Citation) -> View:
    """Offsets count code points of the passage's text: quote == text[start:end]."""
    return {
        "quote": message.quote,
        "source_name": message.source_name,
        "page_number": message.page_number,
        "section_id": message.section_id,
        "start": message.span.start,
        "end": message.span.end,
        "passage_id": message.passage_id,
        "document_sha256": message.document_sha256,
        "document_id": message.document_id,
        "document_start": message.document_span.start,
        "document_end": message.document_span.end,
        "authority": authority(message.authority),
        "match": word(core.Citation.Match.DESCRIPTOR, "MATCH_", message.match),
        "published": message.published or None,
        "effective_from": message.effective_from or None,
        "effective_to": message.effective_to or None,
    }


def reason(message: core.Reason) -> View:
    return {
        "code": reason_code(message.code),
        "message": message.message,
        "statement_span": _span(message, "statement_span"),
        "passage_id": message.passage_id,
        "passage_span": _span(message, "passage_span"),
        "citation_index": message.citation_index if message.HasField("citation_index") else None,
        "closest_text": message.closest_text,
        "citations": [citation(c) for c in message.citations],
    }


def objection(message: core.Objection) -> View:
    return {
        "attempt": message.attempt,
        "text": message.statement.text,
        "verdict": verdict(message.verdict),
        "reasons": [reason(r) for r in message.reasons],
        "outcome": objection_outcome(message.outcome),
    }


def objection_outcome(number: int) -> str | None:
    """None while it is not known yet: in the stream, and in answers of before there were any."""
    return word(core.Objection.Outcome.DESCRIPTOR, "OUTCOME_", number) if number else None


def abstention(message: core.Abstention) -> View:
    return {
        "type": word(core.Abstention.Type.DESCRIPTOR, "TYPE_", message.type),
        "message": message.message,
        "conflicting": [citation(c) for c in message.conflicting],
    }


def search(message: core.SearchReport) -> View:
    return {
        "collection": message.collection,
        "document_count": message.document_count,
        "passage_count": message.passage_count,
        "query": message.query,
        "nearest_misses": [passage(p) for p in message.nearest_misses],
    }


def passage(message: core.Passage) -> View:
    return {
        "passage_id": message.id,
        "document_id": message.document_id,
        "document_sha256": message.document_sha256,
        "source_name": message.source_name,
        "page_number": message.page_number,
        "section_id": message.section_id,
        "heading_path": list(message.heading_path),
        "text": message.text,
        "score": message.score,
        "previous_id": message.previous_id or None,
        "next_id": message.next_id or None,
    }


def stage_timing(message: core.StageTiming) -> View:
    return {
        "stage": message.stage,
        "attempt": message.attempt,
        "start_seconds": seconds(message.start_offset),
        "duration_seconds": seconds(message.duration),
    }


def document(message: core.Document) -> View:
    return {
        "document_id": message.id,
        "source_name": message.source_name,
        "document_type": message.document_type,
        "authority": authority(message.authority),
        "version": message.version,
        "sha256": message.sha256,
        "published": message.published or None,
        "effective_from": message.effective_from or None,
        "effective_to": message.effective_to or None,
        "tags": list(message.tags),
        "supersedes": list(message.supersedes),
        "superseded_by": list(message.superseded_by),
        "readers": list(message.readers),
        "content_type": message.content_type,
        "size_bytes": message.size_bytes,
        "page_count": message.page_count,
        "passage_count": message.passage_count,
        "ingest_time": timestamp(message.ingest_time) if message.HasField("ingest_time") else None,
        "pages_without_text": list(message.pages_without_text),
        "ocr_pages": [
            {"page_number": page.page_number, "confidence": page.confidence}
            for page in message.ocr_pages
        ],
    }


def grounding_check(message: verification.CheckGroundingResponse) -> View:
    """What `verity check --json` prints; start and end are in the checked text."""
    return {
        "support": message.support,
        "verifier": message.verifier,
        "claims": [
            {
                **statement(claim.statement),
                "start": claim.span.start,
                "end": claim.span.end,
                "needs_check": claim.needs_check,
                "support": claim.support,
            }
            for claim in message.claims
        ],
    }


def quality(message: grounding.GetGroundingQualityResponse) -> View:
    return {
        "historical_quality": message.historical_quality,
        "answer_count": message.answer_count,
        "recent": list(message.recent),
        "failing_documents": [
            {
                "document_id": one.document_id,
                "source_name": one.source_name,
                "failures": one.failures,
                "answers": one.answers,
                "reasons": [{"code": reason_code(r.code), "count": r.count} for r in one.reasons],
            }
            for one in message.failing_documents
        ],
        "strategy": strategy(message.strategy) if message.HasField("strategy") else None,
    }


def seconds(duration: Duration) -> float:
    return duration.ToNanoseconds() / 1e9


def timestamp(moment: Timestamp) -> str:
    return moment.ToJsonString()


def _span(message: core.Reason, name: Literal["statement_span", "passage_span"]) -> View | None:
    if not message.HasField(name):
        return None
    span = getattr(message, name)
    return {"start": span.start, "end": span.end}
