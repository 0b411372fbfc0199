"""What a user gets for the three questions of the sample corpus, and for bad ones."""

import pytest
from verity.v1 import retrieval_service_pb2 as pb
from verity.v1 import retrieval_service_pb2_grpc as rpc

UBO = (
    "The corporate applicant has a UBO with 30% equity, but their proof of funds is not notarized. "
    "What is the compliance action?"
)
REVENUE = "What was TechCorp's Q3 2024 revenue and year-over-year growth rate?"
PENALTY = "What is the penalty for late filing of form 8832?"

SECTION_4_2 = (
    "Section 4.2: Any corporate entity with a UBO holding more than 25% equity must submit a "
    "notarized proof of funds."
)
SECTION_5_1 = (
    "Section 5.1: If proof of funds is not notarized, the onboarding must be escalated to the "
    "Senior Compliance Officer."
)


def citations(answer):
    return [citation for statement in answer["statements"] for citation in statement["citations"]]


def unwrapped(text):
    return " ".join(text.split())


def test_the_compliance_question_is_answered_with_both_rules_on_their_pages(system):
    code, answer = system.run("ask", UBO)

    assert code == 0
    assert answer["status"] == "ANSWERED"
    found = {
        (unwrapped(citation["quote"]), citation["source_name"], citation["page_number"])
        for citation in citations(answer)
    }
    assert (SECTION_4_2, "Global_AML_Policy_2026.pdf", 42) in found
    assert (SECTION_5_1, "Global_AML_Policy_2026.pdf", 55) in found


def test_revenue_and_growth_come_from_the_report_and_not_from_their_neighbours(system):
    _, answer = system.run("ask", REVENUE)

    assert answer["status"] == "ANSWERED"
    assert "$2.45 billion" in answer["answer"]
    assert "18%" in answer["answer"]
    bearing = [
        citation
        for citation in citations(answer)
        if "$2.45 billion" in citation["quote"] or "18%" in citation["quote"]
    ]
    assert bearing
    assert {citation["source_name"] for citation in bearing} <= {
        "TechCorp_Q3_2024_Report.pdf",
        "TechCorp_Q3_2024_Call_Transcript.pdf",
        "Northgate_Analyst_Note_TechCorp.pdf",
    }
    assert "2.38" not in answer["answer"]
    assert "2.5 billion" not in answer["answer"]


def test_a_question_that_no_source_answers_gets_an_abstention_that_says_what_was_searched(system):
    code, answer = system.run("ask", PENALTY)

    assert code == 0
    assert answer["status"] == "ABSTAINED"
    assert answer["answer"] == "Insufficient information in the provided sources."
    assert answer["statements"] == []
    assert answer["grounding_confidence"] == 0
    assert answer["abstention"]["type"] == "NO_EVIDENCE"
    assert answer["search"]["document_count"] == 6
    assert answer["search"]["passage_count"] > 100


def test_the_json_of_an_answer_has_the_names_that_scripts_depend_on(system):
    _, answer = system.run("ask", UBO)

    assert answer.keys() >= {
        *("answer", "status", "statements", "compliance", "grounding_confidence"),
        *("citation_accuracy", "source_authority", "coverage", "historical_quality"),
        *("stage_timings", "attempts", "trace_id"),
    }
    for statement in answer["statements"]:
        assert statement.keys() >= {"text", "verdict", "reasons", "citations"}
        assert statement["verdict"] == "SUPPORTED"
    for citation in citations(answer):
        assert citation.keys() >= {
            *("quote", "source_name", "page_number", "section_id", "start", "end"),
            *("passage_id", "document_sha256"),
        }
    assert [timing["stage"] for timing in answer["stage_timings"]][:3] == [
        *("recall", "retrieve", "generate"),
    ]


def test_every_quote_is_cut_from_the_passage_that_it_names(system):
    _, answer = system.run("ask", UBO)

    with system.channel("retrieval") as channel:
        stub = rpc.RetrievalServiceStub(channel)
        for citation in citations(answer):
            reply = stub.GetPassage(
                pb.GetPassageRequest(passage_id=citation["passage_id"]), timeout=10
            )
            assert reply.passage.text[citation["start"] : citation["end"]] == citation["quote"]
            assert reply.passage.document_sha256 == citation["document_sha256"]


def test_a_conversation_remembers_its_answers_exactly_as_they_were_given(system):
    conversation = "exactly-as-given"
    first = system.run("ask", UBO, "--conversation", conversation)[1]
    second = system.run("ask", PENALTY, "--conversation", conversation)[1]

    stored = system.run("answers", "show", first["answer_id"])[1]
    listed = system.run("answers", "list", conversation)[1]
    quality = system.run("answers", "quality", conversation)[1]

    assert stored == first
    assert [answer["answer_id"] for answer in listed["answers"]] == [
        second["answer_id"],
        first["answer_id"],
    ]
    assert quality["answer_count"] == 2
    assert quality["historical_quality"] == pytest.approx(first["grounding_confidence"] / 2)


@pytest.mark.parametrize("question", ["", "   ", "x" * 100_000])
def test_a_question_that_is_empty_or_far_too_long_is_named_in_a_typed_error(system, question):
    code, refused = system.run("ask", question)

    assert code == 1
    assert refused["error"]["code"] == "INVALID_ARGUMENT"
    assert [violation["field"] for violation in refused["error"]["violations"]] == ["ask.question"]


def test_an_unknown_conversation_is_not_found(system):
    code, refused = system.run("answers", "list", "never-heard-of")

    assert code == 1
    assert refused["error"]["code"] == "NOT_FOUND"


def test_any_text_can_be_checked_against_any_source(system, tmp_path):
    source, right, wrong = (tmp_path / name for name in ("source.txt", "right.txt", "wrong.txt"))
    source.write_text("Revenue was $2.45 billion, an increase of 18% year over year.\n")
    right.write_text("Revenue was $2.45 billion.\n")
    wrong.write_text("Revenue was $2.54 billion.\n")

    passed = system.run("check", "--answer", str(right), "--source", str(source))
    failed = system.run("check", "--answer", str(wrong), "--source", str(source))

    assert passed[0] == 0
    assert passed[1]["claims"][0]["verdict"] == "SUPPORTED"
    assert failed[0] == 3
    assert failed[1]["claims"][0]["verdict"] != "SUPPORTED"
