"""Between the messages of verity.v1 and the nouns of verification."""

from collections.abc import Sequence

from verity.v1 import core_pb2, verification_service_pb2

from services.verification import evidence, grounding, scoring

_AUTHORITIES = {
    core_pb2.AUTHORITY_STANDARD: evidence.Authority.STANDARD,
    core_pb2.AUTHORITY_MEDIUM: evidence.Authority.MEDIUM,
    core_pb2.AUTHORITY_HIGH: evidence.Authority.HIGH,
}


def to_statement(statement: core_pb2.DraftStatement) -> evidence.Statement:
    return evidence.Statement(
        statement.text,
        tuple(evidence.DraftCitation(c.passage_id, c.quote) for c in statement.citations),
    )


def to_passage(passage: core_pb2.Passage) -> evidence.Passage:
    return evidence.Passage(
        passage.id,
        passage.text,
        passage.document_id,
        passage.document_sha256,
        passage.source_name,
        passage.section_id,
        tuple(passage.heading_path),
        passage.page_number,
        passage.span.start,
        _authority(passage.authority),
        tuple(_to_region(region) for region in passage.regions),
        passage.published,
        passage.effective_from,
        passage.effective_to,
        passage.page_label,
        tuple(evidence.Span(span.start, span.end) for span in passage.furniture),
    )


def to_fact(index: int, fact: verification_service_pb2.Fact) -> evidence.Passage:
    id_ = fact.id or str(index)
    return evidence.Passage(
        id_,
        fact.text,
        source_name=fact.source_name or id_,
        authority=_authority(fact.authority),
        published=fact.published,
        effective_from=fact.effective_from,
        effective_to=fact.effective_to,
    )


def to_scored(statement: core_pb2.VerifiedStatement) -> scoring.Scored:
    return scoring.Scored(
        statement.text,
        evidence.Verdict(core_pb2.Verdict.Name(statement.verdict).removeprefix("VERDICT_")),
        [(c.document_id or c.passage_id, _authority(c.authority)) for c in statement.citations],
    )


def from_finding(finding: evidence.Finding) -> core_pb2.VerifiedStatement:
    return core_pb2.VerifiedStatement(
        text=finding.text,
        verdict=f"VERDICT_{finding.verdict}",
        reasons=map(_from_reason, finding.reasons),
        citations=map(_from_citation, finding.citations),
        derived_figures=map(_from_derived, finding.derived),
    )


def from_findings(
    findings: Sequence[evidence.Finding], citations_total: int, verifier: str
) -> verification_service_pb2.VerifyResponse:
    return verification_service_pb2.VerifyResponse(
        statements=map(from_finding, findings),
        citations_total=citations_total,
        citations_verified=sum(len(finding.citations) for finding in findings),
        verifier=verifier,
    )


def from_claims(
    claims: Sequence[grounding.Claim], verifier: str
) -> verification_service_pb2.CheckGroundingResponse:
    return verification_service_pb2.CheckGroundingResponse(
        claims=[
            verification_service_pb2.CheckedClaim(
                span=_from_span(claim.span),
                statement=from_finding(claim.finding),
                needs_check=claim.needs_check,
                support=claim.support,
            )
            for claim in claims
        ],
        support=grounding.support(claims),
        verifier=verifier,
    )


def from_confidence(confidence: scoring.Confidence) -> core_pb2.Confidence:
    return core_pb2.Confidence(
        grounding_confidence=confidence.grounding_confidence,
        citation_accuracy=confidence.citation_accuracy,
        source_authority=confidence.source_authority,
        coverage=confidence.coverage,
    )


def _authority(authority: core_pb2.Authority) -> evidence.Authority:
    """An authority that this build has no name for weighs as one that is not stated."""
    return _AUTHORITIES.get(authority, evidence.Authority.UNSPECIFIED)


def _to_region(region: core_pb2.Region) -> evidence.Region:
    box = region.box if region.HasField("box") else None
    return evidence.Region(
        evidence.Span(region.span.start, region.span.end),
        region.page_number,
        evidence.Box(box.left, box.top, box.right, box.bottom) if box else None,
        region.page_label,
    )


def _from_region(region: evidence.Region) -> core_pb2.Region:
    message = core_pb2.Region(
        span=_from_span(region.span),
        page_number=region.page_number,
        page_label=region.page_label,
    )
    if box := region.box:
        message.box.CopyFrom(
            core_pb2.Box(left=box.left, top=box.top, right=box.right, bottom=box.bottom)
        )
    return message


def _from_span(span: evidence.Span) -> core_pb2.Span:
    return core_pb2.Span(start=span.start, end=span.end)


def _from_citation(citation: evidence.Citation) -> core_pb2.Citation:
    passage = citation.passage
    return core_pb2.Citation(
        quote=citation.quote,
        passage_id=passage.id,
        document_id=passage.document_id,
        document_sha256=passage.document_sha256,
        source_name=passage.source_name,
        page_number=citation.page_number,
        page_label=citation.page_label,
        section_id=passage.section_id,
        span=_from_span(citation.span),
        document_span=_from_span(citation.document_span),
        authority=f"AUTHORITY_{passage.authority}",
        match=f"MATCH_{citation.match}",
        regions=map(_from_region, citation.regions),
        published=passage.published,
        effective_from=passage.effective_from,
        effective_to=passage.effective_to,
    )


def _from_derived(figure: evidence.DerivedFigure) -> core_pb2.DerivedFigure:
    return core_pb2.DerivedFigure(
        span=_from_span(figure.span),
        formula=figure.formula,
        operands=[
            core_pb2.DerivedFigure.Operand(passage_id=id_, span=_from_span(span))
            for id_, span in figure.operands
        ],
    )


def _from_reason(reason: evidence.Reason) -> core_pb2.Reason:
    message = core_pb2.Reason(
        code=f"CODE_{reason.code}",
        message=reason.message,
        passage_id=reason.passage_id,
        closest_text=reason.closest_text,
        citations=map(_from_citation, reason.citations),
    )
    if reason.statement_span:
        message.statement_span.CopyFrom(_from_span(reason.statement_span))
    if reason.passage_span:
        message.passage_span.CopyFrom(_from_span(reason.passage_span))
    if reason.citation_index is not None:
        message.citation_index = reason.citation_index
    return message
