"""What a reader sees of an answer."""

import io

import pytest
from google.protobuf.duration_pb2 import Duration
from rich.console import Console
from verity.v1 import core_pb2 as core
from verity.v1 import generation_service_pb2 as generation
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import verification_service_pb2 as verification

from cli import course, render


def printed(rendered) -> str:
    console = Console(file=io.StringIO(), width=120)
    console.print(rendered)
    return console.file.getvalue()


def citation(quote: str, page: int) -> core.Citation:
    return core.Citation(
        quote=quote, source_name="policy.pdf", page_number=page, section_id="4.2", authority=3
    )


def answered(**fields) -> grounding.Answer:
    statements = [
        core.VerifiedStatement(text="It must be escalated.", citations=[citation("escalate", 55)]),
        core.VerifiedStatement(
            text="Proof is notarized.", citations=[citation("proof", 42), citation("notary", 43)]
        ),
    ]
    return grounding.Answer(
        status=grounding.Answer.STATUS_ANSWERED, statements=statements, **fields
    )


def test_citations_are_numbered_through_the_answer_and_listed_with_quote_source_page_and_section():
    output = printed(render.answer(answered()))
    assert "It must be escalated. [1] Proof is notarized. [2][3]" in output
    for number, quote, page in ((1, "escalate", 55), (2, "proof", 42), (3, "notary", 43)):
        assert f"[{number}] “{quote}”" in output
        assert f"policy.pdf, page {page}, section 4.2, high authority" in output


@pytest.mark.parametrize(
    ("value", "word", "colour"),
    [
        (1.0, "high", "green"),
        (0.8, "high", "green"),
        (0.79999, "fair", "yellow"),
        (0.6, "fair", "yellow"),
        (0.59999, "low", "red"),
        (0.0, "low", "red"),
    ],
)
def test_confidence_is_told_in_colour_and_in_words(value, word, colour):
    told = render.confidence(value)
    assert told.plain.endswith(word)
    assert told.style == colour


def test_compliance_is_told_when_the_question_was_one_of_compliance():
    assert "non-compliant" in printed(
        render.answer(answered(compliance=core.COMPLIANCE_NON_COMPLIANT))
    )
    assert "compliance" not in printed(render.answer(answered()))


def test_a_partial_answer_says_that_something_was_left_out():
    answer = answered()
    answer.status = grounding.Answer.STATUS_PARTIAL
    assert "could not be verified and were left out" in printed(render.answer(answer))


def test_a_degraded_memory_is_said():
    assert "memory is down" in printed(render.answer(answered(memory_degraded=True)))


def test_an_abstention_says_what_was_searched_and_what_came_near():
    miss = core.Passage(source_name="tax.pdf", page_number=7, text="word " * 100, score=0.31)
    search = core.SearchReport(
        collection="verity-minilm",
        document_count=6,
        passage_count=300,
        query="late filing",
        nearest_misses=[miss],
    )
    abstention = core.Abstention(type=core.Abstention.TYPE_NO_EVIDENCE, message="Nothing answers.")
    output = printed(
        render.answer(
            grounding.Answer(text="Insufficient information.", abstention=abstention, search=search)
        )
    )
    assert "Insufficient information." in output
    assert "NO_EVIDENCE: Nothing answers." in output
    assert "Searched 6 documents (300 passages) of verity-minilm for “late filing”." in output
    assert "tax.pdf, page 7 (0.31): word" in output
    assert "…" in output


def test_a_rejected_draft_is_shown_with_its_reason_and_the_nearest_real_words():
    objection = core.Objection(
        attempt=1,
        statement=core.DraftStatement(text="Revenue was 2.5 billion."),
        verdict=core.VERDICT_UNSUPPORTED,
        reasons=[
            core.Reason(
                code=core.Reason.CODE_NUMBER_MISMATCH,
                message="2.5 is not 2.45.",
                closest_text="2.45",
            )
        ],
    )
    output = printed(render.answer(answered(objections=[objection])))
    assert "attempt 1, UNSUPPORTED: Revenue was 2.5 billion." in output
    assert "NUMBER_MISMATCH: 2.5 is not 2.45." in output
    assert "closest: “2.45”" in output


def test_the_waterfall_shows_each_stage_where_it_ran():
    def timing(stage: str, start: int, length: int) -> core.StageTiming:
        return core.StageTiming(
            stage=stage,
            attempt=1,
            start_offset=Duration(nanos=start * 1_000_000),
            duration=Duration(nanos=length * 1_000_000),
        )

    timings = [timing("retrieve", 0, 50), timing("generate", 50, 49), timing("verify", 99, 1)]
    rows = printed(render.waterfall(timings)).splitlines()
    bars = [row.index("█") for row in rows[:3]]
    assert bars[0] < bars[1] < bars[2]
    assert rows[0].count("█") == 20
    assert rows[2].count("█") == 1
    assert rows[0].rstrip().endswith("50.0 ms")
    assert rows[3].rstrip().endswith("total  100.0 ms")


def test_a_waterfall_without_any_time_is_still_drawn():
    assert "0.0 ms" in printed(render.waterfall([core.StageTiming(stage="recall", attempt=1)]))


def test_a_conflict_shows_both_sides_with_authority_and_dates():
    ours, theirs = citation("more than 25%", 42), citation("more than 20%", 2)
    theirs.source_name, theirs.effective_from = "amendment.pdf", "2026-03-01"
    abstention = core.Abstention(
        type=core.Abstention.TYPE_CONFLICTING, message="Long.", conflicting=[ours, theirs]
    )
    output = printed(render.answer(grounding.Answer(text="Nothing.", abstention=abstention)))
    assert "CONFLICTING: sources in force contradict each other." in output
    assert "[1] “more than 25%”" in output
    assert "[2] “more than 20%”" in output
    assert "amendment.pdf, page 2, section 4.2, high authority, in force from 2026-03-01" in output


def test_a_check_tells_each_verdict_its_score_and_what_speaks_against_it():
    conflict = core.Reason(
        code=core.Reason.CODE_CONFLICTING_SOURCES,
        message="Sources in force differ.",
        citations=[citation("25 euros", 1), citation("30 euros", 2)],
    )
    claims = [
        verification.CheckedClaim(statement=core.VerifiedStatement(text="Hello!")),
        verification.CheckedClaim(
            statement=core.VerifiedStatement(
                text="The fee is 25 euros.", verdict=core.VERDICT_CONTRADICTED, reasons=[conflict]
            ),
            needs_check=True,
            support=0.75,
        ),
    ]
    output = printed(
        render.grounding_check(
            verification.CheckGroundingResponse(claims=claims, support=0, verifier="verity/1")
        )
    )
    assert "states nothing: Hello!" in output
    assert "CONTRADICTED: The fee is 25 euros. (support 0.75)" in output
    assert "CONFLICTING_SOURCES: Sources in force differ." in output
    assert "“30 euros” policy.pdf, page 2" in output
    assert "0% of the sentences that state something are supported: 1 contradicted" in output


def test_how_an_answer_came_about_is_told_in_short_or_at_length():
    why = grounding.Strategy.Why(choice="passages", reason="3 of the last 5 found nothing.")
    gap = grounding.ComplianceGap(
        corpus=grounding.ComplianceGap.CORPUS_FACTS, message="No statement cites a fact."
    )
    objection = core.Objection(
        attempt=1,
        statement=core.DraftStatement(text="It was 2.5."),
        outcome=core.Objection.OUTCOME_CORRECTED,
    )
    attempt = grounding.Attempt(
        attempt=1,
        outcome=grounding.Attempt.OUTCOME_UNUSABLE,
        failure=generation.GenerateResponse.FAILURE_NOT_JSON,
        query="revenue 2023",
        passages=16,
        drafted=3,
        verified=2,
    )
    message = answered(
        standalone_question="What was the revenue in 2023?",
        as_of="2024-01-01",
        degraded=True,
        strategy=grounding.Strategy(passages=16, why=[why]),
        compliance=core.COMPLIANCE_UNKNOWN,
        compliance_gaps=[gap],
        objections=[objection],
        attempt_log=[attempt],
    )
    short = printed(render.answer(message, verbose=False))
    for told in (
        "Read as: What was the revenue in 2023?",
        "As of 2024-01-01.",
        "The model was not available",
        "Compliance lacks facts: No statement cites a fact.",
        "Learned: passages = 16. 3 of the last 5 found nothing.",
        "Rejected on the way: 1 corrected",
    ):
        assert told in short
    assert "It was 2.5." not in short
    long = printed(render.answer(message))
    assert "It was 2.5. (corrected)" in long
    assert "unusable (not json)" in long
    assert "2 of 3 verified" in long
    assert "16 passages" in long
    assert "“revenue 2023”" in long


def test_a_document_whose_citations_fail_is_named_with_the_reasons():
    count = grounding.FailingDocument.Count(code=core.Reason.CODE_QUOTE_NOT_FOUND, count=3)
    failing = grounding.FailingDocument(
        source_name="scan.pdf", failures=3, answers=2, reasons=[count]
    )
    told = "".join(printed(line) for line in course.documents([failing]))
    assert "scan.pdf: 3 failed in 2 answers (QUOTE_NOT_FOUND 3)" in told
