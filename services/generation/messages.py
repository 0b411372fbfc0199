"""Between the messages of verity.v1 and the nouns of drafting."""

from collections.abc import Iterable, Sequence

from verity.v1 import core_pb2
from verity.v1 import generation_service_pb2 as pb

from services.generation import drafter

_COMPLIANCE = {
    drafter.Compliance.NOT_ASKED: core_pb2.COMPLIANCE_UNSPECIFIED,
    drafter.Compliance.COMPLIANT: core_pb2.COMPLIANCE_COMPLIANT,
    drafter.Compliance.NON_COMPLIANT: core_pb2.COMPLIANCE_NON_COMPLIANT,
    drafter.Compliance.UNKNOWN: core_pb2.COMPLIANCE_UNKNOWN,
}
_FAILURE = {
    None: pb.GenerateResponse.FAILURE_UNSPECIFIED,
    drafter.Failure.REFUSED: pb.GenerateResponse.FAILURE_REFUSED,
    drafter.Failure.TRUNCATED: pb.GenerateResponse.FAILURE_TRUNCATED,
    drafter.Failure.NOT_JSON: pb.GenerateResponse.FAILURE_NOT_JSON,
    drafter.Failure.WRONG_SHAPE: pb.GenerateResponse.FAILURE_WRONG_SHAPE,
    drafter.Failure.EMPTY: pb.GenerateResponse.FAILURE_EMPTY,
    drafter.Failure.TOO_LARGE: pb.GenerateResponse.FAILURE_TOO_LARGE,
    drafter.Failure.MALFORMED: pb.GenerateResponse.FAILURE_MALFORMED,
}


def to_task(request: pb.GenerateRequest) -> drafter.Task:
    return drafter.Task(
        request.question,
        tuple(map(_passage, request.passages)),
        tuple(map(_objection, request.objections)),
        to_history(request.history),
        tuple(map(_statement, request.kept)),
        request.structured_mode,
    )


def to_history(turns: Iterable[pb.Turn]) -> Sequence[drafter.Turn]:
    return tuple(drafter.Turn(turn.question, turn.answer) for turn in turns)


def from_draft(draft: drafter.Draft, generator: str) -> pb.GenerateResponse:
    return pb.GenerateResponse(
        statements=map(_from_statement, draft.statements),
        insufficient=draft.insufficient,
        compliance=_COMPLIANCE[draft.compliance],
        usage=_from_usage(draft.usage),
        generator=generator,
        failure=_FAILURE[draft.failure]
        if draft.failure
        else pb.GenerateResponse.FAILURE_UNSPECIFIED,
        suggested_query=draft.suggested_query,
        dropped_passage_ids=draft.dropped,
        structured_mode=draft.mode,
    )


def from_event(
    event: drafter.Statement | drafter.Draft, generator: str
) -> pb.GenerateStreamResponse:
    if isinstance(event, drafter.Draft):
        return pb.GenerateStreamResponse(draft=from_draft(event, generator))
    return pb.GenerateStreamResponse(statement=_from_statement(event))


def from_resolution(resolution: drafter.Resolution) -> pb.ResolveQuestionResponse:
    return pb.ResolveQuestionResponse(
        standalone_question=resolution.question,
        resolver=resolution.resolver,
        usage=_from_usage(resolution.usage),
    )


def _from_statement(statement: drafter.Statement) -> core_pb2.DraftStatement:
    return core_pb2.DraftStatement(
        text=statement.text,
        citations=[
            core_pb2.DraftCitation(passage_id=citation.passage_id, quote=citation.quote)
            for citation in statement.citations
        ],
    )


def _from_usage(usage: drafter.Usage) -> pb.Usage:
    return pb.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        estimated=usage.estimated,
    )


def _statement(statement: core_pb2.DraftStatement) -> drafter.Statement:
    return drafter.Statement(
        statement.text,
        tuple(drafter.Citation(cited.passage_id, cited.quote) for cited in statement.citations),
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
        passage.score,
    )


def _objection(objection: core_pb2.Objection) -> drafter.Objection:
    return drafter.Objection(
        _statement(objection.statement),
        tuple(
            drafter.Fault(
                core_pb2.Reason.Code.Name(reason.code).removeprefix("CODE_"),
                reason.message,
                reason.closest_text,
            )
            for reason in objection.reasons
        ),
        objection.attempt,
    )
