"""A conflict of sources over a real channel: both sides, their dates, and the day that counts."""

import pytest
from verity.v1 import core_pb2 as core
from verity.v1 import verification_service_pb2 as pb

OURS = "Owners of more than 25% of the equity must be identified."
THEIRS = "Owners of more than 20% of the equity must be identified."


def request(**about):
    cited = core.DraftCitation(passage_id="policy", quote=OURS)
    return pb.VerifyRequest(
        statements=[core.DraftStatement(text=OURS, citations=[cited])],
        passages=[
            core.Passage(
                id="policy",
                document_id="d1",
                document_sha256="ab" * 32,
                source_name="policy.pdf",
                authority=core.AUTHORITY_HIGH,
                text=OURS,
                published="2025-11-27",
            ),
            core.Passage(
                id="amendment",
                document_id="d2",
                document_sha256="cd" * 32,
                source_name="amendment.pdf",
                authority=core.AUTHORITY_STANDARD,
                text="For all branches. " + THEIRS,
                effective_from="2026-03-01",
                effective_to="2027-03-01",
            ),
        ],
        **about,
    )


async def test_both_sides_come_back_with_authority_and_dates(stub):
    (statement,) = (await stub.Verify(request(as_of="2026-06-01"))).statements
    assert statement.verdict == core.VERDICT_CONTRADICTED
    (reason,) = statement.reasons
    assert reason.code == core.Reason.CODE_CONFLICTING_SOURCES
    ours, theirs = reason.citations
    assert (ours.quote, ours.source_name, ours.authority, ours.published) == (
        OURS,
        "policy.pdf",
        core.AUTHORITY_HIGH,
        "2025-11-27",
    )
    assert (theirs.quote, theirs.authority) == (THEIRS, core.AUTHORITY_STANDARD)
    assert (theirs.effective_from, theirs.effective_to) == ("2026-03-01", "2027-03-01")
    assert theirs.span.start == len("For all branches. ")
    assert reason.passage_id == "amendment"


@pytest.mark.parametrize("day", ["2026-02-28", "2027-03-01"])
async def test_on_a_day_on_which_the_other_does_not_apply_there_is_no_conflict(stub, day):
    (statement,) = (await stub.Verify(request(as_of=day))).statements
    assert statement.verdict == core.VERDICT_SUPPORTED


async def test_facts_have_dates_of_their_own(stub):
    facts = [pb.Fact(text=OURS), pb.Fact(text=THEIRS, effective_to="2026-01-01")]
    for day, verdict in (
        ("2025-12-31", core.VERDICT_CONTRADICTED),
        ("2026-01-01", core.VERDICT_SUPPORTED),
    ):
        asked = pb.CheckGroundingRequest(answer=OURS, facts=facts, as_of=day)
        (claim,) = (await stub.CheckGrounding(asked)).claims
        assert claim.statement.verdict == verdict
