"""Between the messages of verity.v1 and the nouns of drafting."""

from verity.v1 import core_pb2, generation_service_pb2

from services.generation import drafter

_COMPLIANCE = {
    drafter.Compliance.NOT_ASKED: core_pb2.COMPLIANCE_UNSPECIFIED,
    drafter.Compliance.COMPLIANT: core_pb2.COMPLIANCE_COMPLIANT,
    drafter.Compliance.NON_COMPLIANT: core_pb2.COMPLIANCE_NON_COMPLIANT,
    drafter.Compliance.UNKNOWN: core_pb2.COMPLIANCE_UNKNOWN,
}


def to_task(request: generation_service_pb2.GenerateRequest) -> drafter.Task:
    return drafter.Task(
        request.question,
        tuple(map(_passage, request.passages)),
        tuple(map(_objection, request.objections)),
        tuple(drafter.Turn(turn.question, turn.answer) for turn in request.history),
    )


def from_draft(draft: drafter.Draft, generator: str) -> generation_service_pb2.GenerateResponse:
    return generation_service_pb2.GenerateResponse(
        statements=[
            core_pb2.DraftStatement(
                text=statement.text,
                citations=[
                    core_pb2.DraftCitation(passage_id=citation.passage_id, quote=citation.quote)
                    for citation in statement.citations
                ],
            )
            for statement in draft.statements
        ],
        insufficient=draft.insufficient,
        compliance=_COMPLIANCE[draft.compliance],
        usage=generation_service_pb2.Usage(
            input_tokens=draft.usage.input_tokens,
            output_tokens=draft.usage.output_tokens,
            estimated=draft.usage.estimated,
        ),
        generator=generator,
    )


def _passage(passage: core_pb2.Passage) -> drafter.Passage:
    return drafter.Passage(
        passage.id,
        passage.text,
        passage.source_name,
        passage.authority,
        tuple(passage.heading_path),
        passage.document_id,
        passage.span.start,
    )


def _objection(objection: core_pb2.Objection) -> drafter.Objection:
    return drafter.Objection(
        drafter.Statement(
            objection.statement.text,
            tuple(
                drafter.Citation(citation.passage_id, citation.quote)
                for citation in objection.statement.citations
            ),
        ),
        tuple(
            drafter.Fault(
                core_pb2.Reason.Code.Name(reason.code).removeprefix("CODE_"),
                reason.message,
                reason.closest_text,
            )
            for reason in objection.reasons
        ),
    )
