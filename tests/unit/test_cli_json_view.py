"""Scripts depend on the names that --json prints."""

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import verification_service_pb2 as verification

from cli import json_view

REQUIRED = {
    "answer",
    "status",
    "statements",
    "compliance",
    "grounding_confidence",
    "citation_accuracy",
    "source_authority",
    "coverage",
    "historical_quality",
    "stage_timings",
    "attempts",
    "trace_id",
}

CITATION = core.Citation(
    quote="2.45",
    passage_id="p1",
    document_id="d1",
    document_sha256="ab" * 32,
    source_name="report.pdf",
    page_number=3,
    section_id="2.1",
    span=core.Span(start=5, end=9),
    document_span=core.Span(start=105, end=109),
    authority=core.AUTHORITY_HIGH,
    match=core.Citation.MATCH_EXACT,
    effective_from="2026-01-01",
)
REASON = core.Reason(
    code=core.Reason.CODE_NUMBER_MISMATCH,
    message="Differs.",
    statement_span=core.Span(start=0, end=3),
    passage_id="p1",
    citation_index=0,
    closest_text="2.45",
)


def answer() -> grounding.Answer:
    statement = core.VerifiedStatement(
        text="It was 2.45.", verdict=core.VERDICT_SUPPORTED, citations=[CITATION]
    )
    return grounding.Answer(
        id="a1",
        conversation_id="c1",
        question="How much?",
        text="It was 2.45. [1]",
        status=grounding.Answer.STATUS_ANSWERED,
        statements=[statement],
        compliance=core.COMPLIANCE_NON_COMPLIANT,
        confidence=core.Confidence(
            grounding_confidence=0.9, citation_accuracy=1.0, source_authority=0.7, coverage=0.9
        ),
        historical_quality=0.85,
        stage_timings=[
            core.StageTiming(
                stage="verify",
                attempt=2,
                duration=Duration(nanos=1_500_000),
                start_offset=Duration(seconds=1),
            )
        ],
        attempts=2,
        objections=[
            core.Objection(
                attempt=1,
                statement=core.DraftStatement(text="It was 2.5."),
                verdict=core.VERDICT_UNSUPPORTED,
                reasons=[REASON],
            )
        ],
        trace_id="9f" * 16,
        generator="extractive/1",
        verifier="verity/1",
        create_time=Timestamp(seconds=1_800_000_000),
        duration=Duration(seconds=2),
    )


def test_an_answer_has_every_name_that_scripts_depend_on():
    view = json_view.answer(answer())
    assert set(view) >= REQUIRED
    assert view["answer"] == "It was 2.45. [1]"
    assert view["status"] == "ANSWERED"
    assert view["compliance"] == "NON_COMPLIANT"
    assert view["grounding_confidence"] == 0.9
    assert view["citation_accuracy"] == 1.0
    assert view["source_authority"] == 0.7
    assert view["coverage"] == 0.9
    assert view["historical_quality"] == 0.85
    assert view["attempts"] == 2
    assert view["trace_id"] == "9f" * 16
    assert view["answer_id"] == "a1"
    assert view["conversation_id"] == "c1"
    assert view["abstention"] is None
    assert view["memory_degraded"] is False
    assert view["create_time"] == "2027-01-15T08:00:00Z"
    assert view["duration_seconds"] == 2.0


def test_a_statement_has_its_citations_with_offsets_in_the_passage():
    (statement,) = json_view.answer(answer())["statements"]
    assert set(statement) == {"text", "verdict", "reasons", "citations"}
    assert statement["verdict"] == "SUPPORTED"
    assert statement["reasons"] == []
    (citation,) = statement["citations"]
    assert citation == {
        "quote": "2.45",
        "source_name": "report.pdf",
        "page_number": 3,
        "section_id": "2.1",
        "start": 5,
        "end": 9,
        "passage_id": "p1",
        "document_sha256": "ab" * 32,
        "document_id": "d1",
        "document_start": 105,
        "document_end": 109,
        "authority": "HIGH",
        "match": "EXACT",
        "published": None,
        "effective_from": "2026-01-01",
        "effective_to": None,
    }


def test_stage_timings_are_seconds():
    assert json_view.answer(answer())["stage_timings"] == [
        {"stage": "verify", "attempt": 2, "start_seconds": 1.0, "duration_seconds": 0.0015}
    ]


def test_an_objection_says_what_was_drafted_and_why_it_fell():
    (objection,) = json_view.answer(answer())["objections"]
    assert objection["text"] == "It was 2.5."
    assert objection["verdict"] == "UNSUPPORTED"
    assert objection["reasons"] == [
        {
            "code": "NUMBER_MISMATCH",
            "message": "Differs.",
            "statement_span": {"start": 0, "end": 3},
            "passage_id": "p1",
            "passage_span": None,
            "citation_index": 0,
            "closest_text": "2.45",
            "citations": [],
        }
    ]


def test_what_is_absent_is_null_and_never_zero():
    message = answer()
    message.ClearField("historical_quality")
    message.ClearField("create_time")
    view = json_view.answer(message)
    assert view["historical_quality"] is None
    assert view["create_time"] is None
    assert view["search"] is None


def test_an_abstention_names_its_type_and_what_was_searched():
    miss = core.Passage(id="p9", source_name="tax.pdf", page_number=1, text="Near.", score=0.25)
    view = json_view.answer(
        grounding.Answer(
            status=grounding.Answer.STATUS_ABSTAINED,
            abstention=core.Abstention(type=core.Abstention.TYPE_NO_EVIDENCE, message="None."),
            search=core.SearchReport(collection="c", passage_count=7, nearest_misses=[miss]),
        )
    )
    assert view["status"] == "ABSTAINED"
    assert view["compliance"] == "UNSPECIFIED"
    assert view["abstention"] == {"type": "NO_EVIDENCE", "message": "None.", "conflicting": []}
    assert view["search"]["passage_count"] == 7
    assert view["search"]["nearest_misses"][0]["passage_id"] == "p9"


def test_a_conflict_gives_both_citations_in_the_reason_and_in_the_abstention():
    conflict = core.Reason(
        code=core.Reason.CODE_CONFLICTING_SOURCES, citations=[CITATION, CITATION]
    )
    abstention = core.Abstention(
        type=core.Abstention.TYPE_CONFLICTING, conflicting=[CITATION, CITATION]
    )
    view = json_view.answer(
        grounding.Answer(abstention=abstention, objections=[core.Objection(reasons=[conflict])])
    )
    both = [json_view.citation(CITATION)] * 2
    assert view["abstention"]["conflicting"] == both
    assert view["objections"][0]["reasons"][0]["citations"] == both


def test_an_enum_value_of_a_newer_server_stays_a_number():
    assert json_view.verdict(99) == "99"


def test_every_enum_value_loses_its_prefix():
    words = [json_view.reason_code(number) for number in core.Reason.Code.values()]
    assert words[0] == "UNSPECIFIED"
    assert not any(word.startswith("CODE_") for word in words)


def test_a_check_gives_each_sentence_its_place_in_the_text():
    claim = verification.CheckedClaim(
        span=core.Span(start=4, end=9),
        statement=core.VerifiedStatement(text="Five.", verdict=core.VERDICT_UNCITED),
        needs_check=True,
        support=0.5,
    )
    reply = verification.CheckGroundingResponse(claims=[claim], support=0.0, verifier="verity/1")
    assert json_view.grounding_check(reply) == {
        "support": 0.0,
        "verifier": "verity/1",
        "claims": [
            {
                "text": "Five.",
                "verdict": "UNCITED",
                "reasons": [],
                "citations": [],
                "start": 4,
                "end": 9,
                "needs_check": True,
                "support": 0.5,
            }
        ],
    }


def test_a_document_without_dates_has_nulls():
    view = json_view.document(core.Document(id="d1", source_name="a.md", authority=1))
    assert view["document_id"] == "d1"
    assert view["authority"] == "STANDARD"
    assert view["published"] is None
    assert view["ingest_time"] is None


def test_how_an_answer_came_about_is_there_by_name():
    message = answer()
    message.standalone_question = "How much in 2023?"
    message.degraded = True
    message.strategy.MergeFrom(
        grounding.Strategy(
            passages=16, rerank=True, why=[grounding.Strategy.Why(choice="rerank", reason="So.")]
        )
    )
    message.objections[0].outcome = core.Objection.OUTCOME_DROPPED
    message.attempt_log.add(
        attempt=1, outcome=grounding.Attempt.OUTCOME_OBJECTED, drafted=2, verified=1, query="q"
    )
    message.compliance_gaps.add(corpus=grounding.ComplianceGap.CORPUS_RULES, message="None.")
    view = json_view.answer(message)
    assert view["standalone_question"] == "How much in 2023?"
    assert view["degraded"] is True
    assert view["strategy"]["passages"] == 16
    assert view["strategy"]["rerank"] is True
    assert view["strategy"]["why"] == [{"choice": "rerank", "reason": "So."}]
    assert view["objections"][0]["outcome"] == "DROPPED"
    (attempt,) = view["attempt_log"]
    assert (attempt["outcome"], attempt["failure"]) == ("OBJECTED", None)
    assert (attempt["drafted"], attempt["verified"], attempt["query"]) == (2, 1, "q")
    assert view["compliance_gaps"] == [{"corpus": "RULES", "message": "None."}]
