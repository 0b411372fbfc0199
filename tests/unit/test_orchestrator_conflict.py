"""Sources in force that contradict each other stop an answer, and both are shown."""

from concurrent.futures import ThreadPoolExecutor

import nupunkt
import pytest
from fakes import (
    FakeGeneration,
    FakeMemory,
    FakeRetrieval,
    InProcess,
    draft,
    passage,
    statement,
)
from opentelemetry.sdk.metrics import MeterProvider
from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding

from services.generation.extractive import ExtractiveDrafter, Extractor, Rules
from services.generation.measured import Measured
from services.generation.servicer import GenerationServicer
from services.orchestrator.answer import ABSTENTION
from services.orchestrator.asking import Asker, Limits
from services.orchestrator.graph import Agents, Budgets, build
from services.orchestrator.measures import Measures
from services.verification.scoring import Weights
from services.verification.servicer import VerificationServicer
from services.verification.verifier import Verifier

POLICY_SAYS = (
    "Any corporate entity with a UBO holding more than 25% equity must submit a notarized proof of"
    " funds."
)
AMENDMENT_SAYS = POLICY_SAYS.replace("25%", "20%")
OTHER = "Proof of funds is kept in the file of the corporate entity."
QUESTION = "At which share of equity must a corporate entity with a UBO submit proof of funds?"

Answer = grounding.Answer


def source(name, text, **dates):
    found = passage(name, text)
    for field, value in dates.items():
        setattr(found, field, value)
    return found


def policy(**dates):
    return source("policy", POLICY_SAYS, **dates)


def amendment(**dates):
    return source("amendment", AMENDMENT_SAYS, **dates)


@pytest.fixture
def executor():
    with ThreadPoolExecutor(1) as pool:
        yield pool


@pytest.fixture
def ask(executor):
    """Asks with these passages; these drafts, or what the extractive backend drafts."""

    async def asked(*passages, drafts=(), question=QUESTION):
        extractor = Extractor(nupunkt.load("default"), Rules())
        extractive = InProcess(GenerationServicer(Measured(ExtractiveDrafter(extractor, executor))))
        agents = Agents(
            retrieval=FakeRetrieval(*passages),
            generation=InProcess(FakeGeneration(*drafts)) if drafts else extractive,
            verification=InProcess(VerificationServicer(Verifier(executor, 0.6), Weights())),
            memory=FakeMemory(),
            budgets=Budgets(5, 5, 5, 5),
            measures=Measures(MeterProvider().get_meter("test")),
        )
        asker = Asker(build().compile(), agents, Limits(max_attempts=3, passages=8))
        return await asker.ask("t", grounding.AskRequest(question=question))

    return asked


def test_the_two_sources_differ_in_one_value_only():
    assert POLICY_SAYS != AMENDMENT_SAYS


async def test_two_sources_in_force_with_two_values_are_an_abstention_that_shows_both(ask):
    answer = await ask(
        policy(published="2025-11-27", effective_from="2026-01-01"),
        amendment(effective_from="2026-03-01"),
    )
    assert answer.status == Answer.STATUS_ABSTAINED
    assert answer.text == ABSTENTION
    assert answer.abstention.type == core.Abstention.TYPE_CONFLICTING
    assert {c.quote for c in answer.abstention.conflicting} == {POLICY_SAYS, AMENDMENT_SAYS}
    message = answer.abstention.message
    assert f"“{POLICY_SAYS}”" in message
    assert f"“{AMENDMENT_SAYS}”" in message
    assert (
        "policy.pdf, page 42, high authority, published 2025-11-27, in force from 2026-01-01:"
        in message
    )
    assert "amendment.pdf, page 42, high authority, in force from 2026-03-01:" in message
    assert {r.code for o in answer.objections for r in o.reasons} == {
        core.Reason.CODE_CONFLICTING_SOURCES
    }


async def test_a_sentence_beside_the_disputed_one_does_not_hide_the_conflict(ask):
    answer = await ask(policy(), amendment(), source("other", OTHER))
    assert answer.abstention.type == core.Abstention.TYPE_CONFLICTING


async def test_a_source_that_no_longer_applies_contradicts_nothing(ask):
    answer = await ask(policy(effective_to="2026-01-01"), amendment(), drafts=[_said(amendment())])
    assert answer.status == Answer.STATUS_ANSWERED
    assert answer.statements[0].text == AMENDMENT_SAYS


async def test_a_source_that_agrees_leaves_the_answer_alone(ask):
    answer = await ask(policy(), source("annex", POLICY_SAYS))
    assert answer.status == Answer.STATUS_ANSWERED


async def test_what_a_draft_says_beside_the_disputed_fact_is_a_partial_answer(ask):
    both = draft(*_said(policy()).statements, statement(OTHER, OTHER, "other"))
    silent = draft(statement(OTHER, OTHER, "other"))
    answer = await ask(policy(), amendment(), source("other", OTHER), drafts=[both, silent])
    assert answer.status == Answer.STATUS_PARTIAL
    assert [s.text for s in answer.statements] == [OTHER]


async def test_a_draft_that_is_silent_about_a_conflict_is_no_way_out_of_it(ask):
    silent = draft(statement(OTHER, OTHER, "other"))
    answer = await ask(
        policy(), amendment(), source("other", OTHER), drafts=[_said(policy()), silent]
    )
    assert answer.abstention.type == core.Abstention.TYPE_CONFLICTING


async def test_a_draft_that_gives_both_values_in_one_statement_is_the_answer(ask):
    told = core.DraftStatement(
        text=f"The policy says: {POLICY_SAYS[:-1]}; the amendment says: {AMENDMENT_SAYS}",
        citations=[
            core.DraftCitation(passage_id="policy", quote=POLICY_SAYS),
            core.DraftCitation(passage_id="amendment", quote=AMENDMENT_SAYS),
        ],
    )
    answer = await ask(policy(), amendment(), drafts=[_said(policy()), draft(told)])
    assert answer.status == Answer.STATUS_ANSWERED
    assert [c.source_name for c in answer.statements[0].citations] == [
        "policy.pdf",
        "amendment.pdf",
    ]


def _said(cited):
    return draft(statement(cited.text, cited.text, cited.id))
