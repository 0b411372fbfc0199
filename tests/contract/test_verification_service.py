"""VerificationService over a real channel."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from verity.v1 import core_pb2 as core
from verity.v1 import verification_service_pb2 as pb

from services.verification import verdict
from services.verification.evidence import Passage
from services.verification.verifier import Verifier

RULE = (
    "Section 4.2: Any corporate entity with a UBO holding more than 25%\n"
    "equity must submit a notarized proof of funds."
)
RULE_READ = RULE.replace("\n", " ")


def passage(text: str = RULE, name: str = "p") -> core.Passage:
    middle = text.find("\n") + 1
    return core.Passage(
        id=name,
        document_id="d",
        document_sha256="ab" * 32,
        source_name="policy.pdf",
        section_id="4.2",
        authority=core.AUTHORITY_HIGH,
        text=text,
        page_number=42,
        span=core.Span(start=500, end=500 + len(text)),
        regions=[
            core.Region(
                span=core.Span(start=0, end=middle), page_number=42, box=core.Box(right=9, bottom=1)
            ),
            core.Region(span=core.Span(start=middle, end=len(text)), page_number=43),
        ],
    )


def drafted(text: str, *cites: tuple[str, str]) -> core.DraftStatement:
    citations = [core.DraftCitation(passage_id=id_, quote=quote) for id_, quote in cites]
    return core.DraftStatement(text=text, citations=citations)


async def test_a_true_quote_comes_back_cut_from_its_source_with_its_place(stub):
    reply = await stub.Verify(
        pb.VerifyRequest(statements=[drafted(RULE_READ, ("p", RULE_READ))], passages=[passage()])
    )
    (statement,) = reply.statements
    assert statement.verdict == core.VERDICT_SUPPORTED
    assert not statement.reasons
    (citation,) = statement.citations
    assert citation.quote == RULE
    assert citation.match == core.Citation.MATCH_FOLDED
    assert (citation.span.start, citation.span.end) == (0, len(RULE))
    assert citation.document_span.start == 500
    assert citation.page_number == 42
    assert [region.page_number for region in citation.regions] == [42, 43]
    assert citation.regions[0].box.right == 9
    assert not citation.regions[1].HasField("box")
    assert citation.source_name == "policy.pdf"
    assert citation.section_id == "4.2"
    assert citation.document_sha256 == "ab" * 32
    assert citation.authority == core.AUTHORITY_HIGH
    assert (reply.citations_total, reply.citations_verified) == (1, 1)
    assert reply.verifier == "verity/1"


async def test_statements_come_back_in_order_with_what_is_wrong(stub):
    reply = await stub.Verify(
        pb.VerifyRequest(
            statements=[
                drafted("Owners above 30% equity must submit proof of funds.", ("p", RULE_READ)),
                drafted("Nothing is cited here."),
                drafted(RULE_READ, ("p", RULE_READ.replace("25", "20"))),
            ],
            passages=[passage()],
        )
    )
    verdicts = [statement.verdict for statement in reply.statements]
    assert verdicts == [
        core.VERDICT_CONTRADICTED,
        core.VERDICT_UNCITED,
        core.VERDICT_UNSUPPORTED,
    ]
    number = reply.statements[0].reasons[0]
    assert number.code == core.Reason.CODE_NUMBER_MISMATCH
    assert (number.statement_span.start, number.statement_span.end) == (13, 16)
    assert RULE[number.passage_span.start : number.passage_span.end] == "25%"
    missing = reply.statements[2].reasons[0]
    assert missing.code == core.Reason.CODE_QUOTE_NOT_FOUND
    assert missing.citation_index == 0
    assert missing.HasField("citation_index")
    assert missing.closest_text == RULE
    assert (reply.citations_total, reply.citations_verified) == (2, 1)


async def test_a_caller_may_ask_for_a_stricter_measure_and_never_for_a_laxer_one(stub):
    reworded = drafted("An entity must furnish a notarized proof of funds.", ("p", RULE_READ))
    strange = drafted("Shipping begins tomorrow at noon by truck.", ("p", RULE_READ))

    async def verdicts(**measure):
        request = pb.VerifyRequest(statements=[reworded, strange], passages=[passage()], **measure)
        return [statement.verdict for statement in (await stub.Verify(request)).statements]

    supported, unsupported = core.VERDICT_SUPPORTED, core.VERDICT_UNSUPPORTED
    assert await verdicts() == [supported, unsupported]
    assert await verdicts(min_coverage=1.0) == [unsupported, unsupported]
    assert await verdicts(min_coverage=0.01) == [supported, unsupported]


async def test_what_is_said_of_a_statement_does_not_depend_on_those_beside_it(stub):
    statements = [
        drafted(RULE_READ, ("p", RULE_READ)),
        drafted("Owners above 30% equity must submit proof of funds.", ("p", RULE_READ)),
        drafted("Nothing is cited here."),
    ]
    sources = [passage(), passage(RULE.replace("25%", "20%"), "q")]
    together = await stub.Verify(pb.VerifyRequest(statements=statements, passages=sources))
    for statement, found in zip(statements, together.statements, strict=True):
        alone = await stub.Verify(pb.VerifyRequest(statements=[statement], passages=sources))
        assert list(alone.statements) == [found]


async def test_a_figure_that_follows_from_cited_ones_comes_back_with_its_formula(stub):
    text = "Sales were $40 million in Asia and\n$25 million in Europe."
    said = "Sales in Asia and Europe together were $65 million."
    request = pb.VerifyRequest(
        statements=[drafted(said, ("p", text)), drafted(text.replace("\n", " "), ("p", text))],
        passages=[passage(text)],
    )
    derived, plain = (await stub.Verify(request)).statements
    assert derived.verdict == plain.verdict == core.VERDICT_SUPPORTED
    (figure,) = derived.derived_figures
    assert said[figure.span.start : figure.span.end] == "$65 million"
    assert figure.formula == "$40 million + $25 million"
    operands = [text[one.span.start : one.span.end] for one in figure.operands]
    assert operands == ["$40 million", "$25 million"]
    assert {one.passage_id for one in figure.operands} == {"p"}
    assert not plain.derived_figures


async def test_any_text_is_checked_against_any_facts(stub):
    answer = "Hello! Owners of more than 25% equity must submit proof [1]. Bananas are yellow."
    reply = await stub.CheckGrounding(
        pb.CheckGroundingRequest(answer=answer, facts=[pb.Fact(text=RULE)])
    )
    assert [claim.needs_check for claim in reply.claims] == [False, True, True]
    assert [claim.statement.verdict for claim in reply.claims] == [
        core.VERDICT_UNSPECIFIED,
        core.VERDICT_SUPPORTED,
        core.VERDICT_UNSUPPORTED,
    ]
    for claim in reply.claims:
        assert answer[claim.span.start : claim.span.end] == claim.statement.text
    assert reply.support == 0.5
    assert reply.verifier == "verity/1"


async def test_a_fact_without_a_name_is_named_by_its_place(stub):
    reply = await stub.CheckGrounding(
        pb.CheckGroundingRequest(
            answer="The fee is due.",
            facts=[pb.Fact(text="Clients sign."), pb.Fact(text="The fee is due on signing.")],
        )
    )
    (citation,) = reply.claims[0].statement.citations
    assert (citation.passage_id, citation.source_name) == ("1", "1")
    assert reply.support == 1


async def test_the_figures_of_an_answer_follow_from_its_statements(stub):
    cited = core.Citation(document_id="d", authority=core.AUTHORITY_MEDIUM)
    reply = await stub.ScoreConfidence(
        pb.ScoreConfidenceRequest(
            statements=[
                core.VerifiedStatement(
                    text="The fee is due.", verdict=core.VERDICT_SUPPORTED, citations=[cited]
                ),
                core.VerifiedStatement(text="The fee is paid.", verdict=core.VERDICT_UNSUPPORTED),
            ],
            citations_total=2,
            citations_verified=1,
        )
    )
    confidence = reply.confidence
    assert confidence.citation_accuracy == 0.5
    assert confidence.source_authority == pytest.approx(0.7)
    assert confidence.coverage == 0.5
    assert confidence.grounding_confidence == pytest.approx(0.6 * 0.5 + 0.3 * 0.7 + 0.1 * 0.5)


async def test_more_verified_than_cited_is_an_invalid_argument(stub):
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await stub.ScoreConfidence(
            pb.ScoreConfidenceRequest(citations_total=1, citations_verified=2)
        )
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_a_blank_answer_is_an_invalid_argument(stub):
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await stub.CheckGrounding(pb.CheckGroundingRequest(answer=" "))
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_a_check_that_raises_leaves_unchecked_and_its_text_in_no_log(
    stub, monkeypatch, caplog
):
    def broken(*_):
        raise ValueError("secret words")

    monkeypatch.setattr(verdict.facts, "disagreements", broken)
    reply = await stub.Verify(
        pb.VerifyRequest(
            statements=[drafted("Owners must submit a proof.", ("p", RULE_READ))],
            passages=[passage()],
        )
    )
    (statement,) = reply.statements
    assert statement.verdict == core.VERDICT_UNCHECKED
    assert [reason.code for reason in statement.reasons] == [core.Reason.CODE_CHECK_FAILED]
    assert "check_failed" in caplog.text
    assert "secret words" not in caplog.text + str(statement)


async def test_a_long_check_does_not_hold_up_the_others(stub):
    filler = " ".join(f"Word{number} stands in sentence number {number}." for number in range(4000))
    long = asyncio.ensure_future(
        stub.CheckGrounding(
            pb.CheckGroundingRequest(answer=filler[:99_000], facts=[pb.Fact(text=filler)])
        )
    )
    reply = await stub.CheckGrounding(
        pb.CheckGroundingRequest(answer="The fee is due.", facts=[pb.Fact(text="The fee is due.")])
    )
    assert reply.support == 1
    assert not long.done()
    long.cancel()


async def test_an_abandoned_check_ends_with_its_sentence_and_frees_its_worker():
    asked, release, scored = threading.Event(), threading.Event(), []

    def score(sentence, *_):
        scored.append(sentence)
        asked.set()
        assert release.wait(20)
        return 1.0

    with ThreadPoolExecutor(1) as executor:
        verifier = Verifier(executor, 0.6, score=score)
        facts = [Passage("f", "The fee is due. The form is due.")]
        abandoned = asyncio.create_task(verifier.check("The fee is due. The form is due.", facts))
        await asyncio.to_thread(asked.wait, 20)
        abandoned.cancel()
        with pytest.raises(asyncio.CancelledError):
            await abandoned
        release.set()
        await verifier.check("The form is due.", facts)
    assert scored == ["The fee is due.", "The form is due."]
