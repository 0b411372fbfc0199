"""A loop that corrects itself, says what is verified as soon as it is, and else stays silent."""

import asyncio

import grpc
import pytest
from fakes import FakeGeneration, citation, draft, honest, passage, statement
from test_orchestrator_graph import BAD, GOOD, INSUFFICIENT, WORSE, World, kinds
from verity.v1 import core_pb2 as core
from verity.v1 import generation_service_pb2 as generation
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import retrieval_service_pb2 as retrieval
from verity.v1 import verification_service_pb2 as verification

from services.chassis.errors import DeadlineExceeded, InvalidInput, Overloaded, Unavailable
from services.orchestrator.graph import Budgets

Answer = grounding.Answer
Attempt = grounding.Attempt
Failure = generation.GenerateResponse

ALSO = statement("Any corporate entity is meant.", "Any corporate entity")
MORE = statement("It is 25% equity.", "25% equity")


def outcomes(answer):
    return [Attempt.Outcome.Name(a.outcome).removeprefix("OUTCOME_") for a in answer.attempt_log]


def became(answer):
    return [
        core.Objection.Outcome.Name(o.outcome).removeprefix("OUTCOME_") for o in answer.objections
    ]


async def test_a_statement_is_sent_while_the_next_is_still_being_drafted():
    world = World(draft(GOOD, BAD, ALSO))
    going = world.generation.pace()
    events = world.asker.stream("t", grounding.AskRequest(question="q?"))

    async def until(kind):
        async with asyncio.timeout(5):
            async for event in events:
                if event.WhichOneof("event") == kind:
                    return getattr(event, kind)
        return None

    await until("attempt_started")
    going.release()
    assert (await until("statement_verified")).statement.text == GOOD.text
    going.release()
    assert (await until("objection")).statement.text == BAD.text
    going.release()
    second = await until("statement_verified")
    assert (second.index, second.statement.text) == (1, ALSO.text)
    await events.aclose()
    assert world.generation.cancelled.is_set()


async def test_only_what_failed_is_asked_for_again_and_what_was_verified_is_kept():
    world = World(draft(GOOD, BAD, ALSO), draft(MORE))
    answer = await world.ask()
    second = world.generation.requests[1]
    assert [o.statement.text for o in second.objections] == [BAD.text]
    assert list(second.kept) == [GOOD, ALSO]
    # In the order of release: the draft's, and what came later behind it.
    assert [s.text for s in answer.statements] == [GOOD.text, ALSO.text, MORE.text]
    assert answer.status == Answer.STATUS_ANSWERED


async def test_what_is_said_again_is_said_once():
    answer = await World(draft(GOOD, BAD), draft(GOOD, ALSO)).ask()
    assert [s.text for s in answer.statements] == [GOOD.text, ALSO.text]


async def test_an_objection_carries_the_statement_the_reason_and_the_closest_real_text():
    world = World(draft(BAD), draft(GOOD))

    def close(request):
        reply = honest(request)
        for one in reply.statements:
            for reason in one.reasons:
                reason.closest_text = "a notarized proof"
        return reply

    world.verification.answering = close
    await world.ask()
    (sent,) = world.generation.requests[1].objections
    assert sent.statement == BAD
    assert sent.reasons[0].code == core.Reason.CODE_QUOTE_NOT_FOUND
    assert sent.reasons[0].closest_text == "a notarized proof"


async def test_each_objection_says_what_became_of_it():
    pet = statement("Nothing else whatsoever applies here.", "a pet")
    fixed = statement("A UBO must submit a notarized proof of funds.")
    answer = await World(draft(BAD, pet), draft(fixed)).ask()
    assert became(answer) == ["CORRECTED", "DROPPED"]
    answer = await World(draft(BAD), draft(WORSE)).ask(max_attempts=2)
    assert became(answer) == ["ABANDONED", "ABANDONED"]
    answer = await World(draft(BAD, pet), draft(BAD, GOOD, pet)).ask(max_attempts=2)
    assert became(answer) == ["ABANDONED"] * 4


async def test_the_answer_tells_what_became_of_each_attempt():
    used = generation.Usage(input_tokens=70, output_tokens=7)
    world = World(
        draft(failure=Failure.FAILURE_REFUSED, usage=used, structured_mode="json_object"),
        draft(GOOD, BAD),
        draft(ALSO),
    )
    answer = await world.ask()
    assert outcomes(answer) == ["UNUSABLE", "OBJECTED", "VERIFIED"]
    assert [(a.drafted, a.verified) for a in answer.attempt_log] == [(0, 0), (2, 1), (1, 1)]
    first = answer.attempt_log[0]
    assert first.failure == Failure.FAILURE_REFUSED
    assert first.usage == used
    assert first.structured_mode == "json_object"
    assert first.query == "What must a UBO submit?"
    assert first.passages == 1
    assert first.duration.ToNanoseconds() > 0
    assert answer.attempts == len(answer.attempt_log) == 3
    assert became(answer) == ["CORRECTED", "DROPPED"]


async def test_a_reply_that_is_no_draft_is_an_objection_and_another_attempt():
    world = World(draft(failure=Failure.FAILURE_TRUNCATED), draft(GOOD))
    answer = await world.ask()
    assert answer.status == Answer.STATUS_ANSWERED
    (sent,) = world.generation.requests[1].objections
    assert sent.reasons[0].code == core.Reason.CODE_UNUSABLE_DRAFT
    assert not sent.HasField("statement")
    assert "truncated" in sent.reasons[0].message


async def test_replies_that_are_no_drafts_end_as_an_abstention():
    world = World(
        *(draft(failure=f) for f in (Failure.FAILURE_TRUNCATED, Failure.FAILURE_NOT_JSON)),
        draft(failure=Failure.FAILURE_EMPTY),
    )
    answer = await world.ask()
    assert answer.abstention.type == core.Abstention.TYPE_UNVERIFIABLE
    assert answer.attempts == 3


async def test_the_same_unusable_reply_twice_is_not_asked_for_a_third_time():
    world = World(draft(failure=Failure.FAILURE_REFUSED))
    answer = await world.ask()
    assert answer.attempts == 2
    assert answer.abstention.type == core.Abstention.TYPE_UNVERIFIABLE


async def test_what_was_verified_before_a_draft_was_cut_off_stays():
    class CutOff(FakeGeneration):
        async def GenerateStream(self, request, context=None, **call):
            self.requests.append(request.generate)
            if len(self.requests) == 1:
                yield generation.GenerateStreamResponse(statement=GOOD)
                cut = draft(failure=Failure.FAILURE_TRUNCATED)
                yield generation.GenerateStreamResponse(draft=cut)
            else:
                yield generation.GenerateStreamResponse(statement=ALSO)
                yield generation.GenerateStreamResponse(draft=draft(ALSO))

    world = World(draft())
    world.use(CutOff())
    answer = await world.ask()
    assert [s.text for s in answer.statements] == [GOOD.text, ALSO.text]
    assert outcomes(answer) == ["UNUSABLE", "VERIFIED"]


async def test_a_draft_that_is_not_what_was_streamed_counts_as_far_as_it_was():
    class Fickle(FakeGeneration):
        async def GenerateStream(self, request, context=None, **call):
            yield generation.GenerateStreamResponse(statement=GOOD)
            yield generation.GenerateStreamResponse(draft=draft(ALSO, MORE))

    world = World(draft())
    world.use(Fickle())
    assert [s.text for s in (await world.ask()).statements] == [GOOD.text]


async def test_missing_evidence_is_searched_for_in_the_drafters_words_with_neighbours():
    unknown = draft(insufficient=True, suggested_query="beneficial owner threshold")
    far = passage("p9")
    others = [passage(f"p{n}", f"Nothing of note, page {n}.") for n in range(8)]
    world = World(unknown, draft(statement("Yes.", source="p9")), passages=[*others, far])
    answer = await world.ask()
    first, second = world.retrieval.requests
    assert (first.query, first.limit, first.neighbours) == ("What must a UBO submit?", 8, 0)
    assert (second.query, second.limit, second.neighbours) == ("beneficial owner threshold", 16, 1)
    assert [a.query for a in answer.attempt_log] == [first.query, second.query]
    assert outcomes(answer) == ["INSUFFICIENT", "VERIFIED"]
    assert answer.search.query == second.query


async def test_without_the_drafters_words_the_questions_content_words_are_searched_for():
    world = World(INSUFFICIENT)
    await world.ask("What must a UBO submit under section 4.2?")
    assert world.retrieval.requests[1].query == "must UBO submit section 4.2"


async def test_what_was_found_first_stays_beside_what_a_wider_search_finds():
    world = World(draft(GOOD), passages=[passage()])

    async def other(request, **call):
        found = [passage("p2")] if request.neighbours else [passage()]
        return retrieval.RetrieveResponse(passages=found)

    world.retrieval.Retrieve = other
    world.generation.drafts = [INSUFFICIENT, draft(GOOD)]
    await world.ask()
    assert [p.id for p in world.generation.requests[1].passages] == ["p2", "p1"]


@pytest.mark.parametrize(
    "error", [Unavailable("down"), Overloaded("full", retry_after=1), DeadlineExceeded("slow")]
)
async def test_a_model_that_is_down_is_an_error_or_the_extractive_backend(error):
    class Down(FakeGeneration):
        async def GenerateStream(self, request, context=None, **call):
            self.requests.append(request.generate)
            if not request.generate.extractive:
                raise error
            yield generation.GenerateStreamResponse(statement=GOOD)
            yield generation.GenerateStreamResponse(draft=draft(GOOD))

    world = World(draft())
    down = Down()
    world.use(down)
    # One that is too slow is unavailable: it is not the caller's time that is used up.
    with pytest.raises(Overloaded if isinstance(error, Overloaded) else Unavailable):
        await world.ask()
    assert [r.extractive for r in down.requests] == [False]

    world.use(down, fallback=True)
    answer = await world.ask()
    assert [r.extractive for r in down.requests[1:]] == [False, True]
    assert answer.degraded
    assert answer.attempts == 1
    assert [s.text for s in answer.statements] == [GOOD.text]


async def test_a_model_that_stays_up_is_not_degraded():
    world = World(draft(GOOD))
    world.use(world.generation, fallback=True)
    assert not (await world.ask()).degraded


async def test_a_drafter_who_goes_away_after_something_was_said_leaves_a_partial_answer():
    class GoesAway(FakeGeneration):
        async def GenerateStream(self, request, context=None, **call):
            yield generation.GenerateStreamResponse(statement=GOOD)
            raise Unavailable("down")

    world = World(draft())
    world.use(GoesAway())
    answer = await world.ask(conversation_id="c")
    assert answer.status == Answer.STATUS_PARTIAL
    assert [s.text for s in answer.statements] == [GOOD.text]
    assert outcomes(answer) == ["UNAVAILABLE"]
    assert world.memory.records["t", answer.id] == answer


async def test_when_the_answers_time_is_used_up_what_was_verified_is_the_answer():
    world = World(draft(GOOD, BAD), draft(WORSE))
    world.use(world.generation, budgets=Budgets(1, 1, 1, 1, answer=0.0))
    answer = await world.ask()
    assert answer.status == Answer.STATUS_PARTIAL
    assert answer.attempts == 1
    world = World(draft(BAD))
    world.use(world.generation, budgets=Budgets(1, 1, 1, 1, answer=0.0))
    answer = await world.ask()
    assert answer.attempts == 1
    assert answer.abstention.type == core.Abstention.TYPE_UNVERIFIABLE


async def test_a_verification_that_contradicts_itself_ends_without_an_answer():
    world = World(draft(GOOD))

    def fickle(request):
        if not request.without_judge:
            return honest(request)
        doubted = [
            core.VerifiedStatement(text=s.text, verdict=core.VERDICT_UNSUPPORTED)
            for s in request.statements
        ]
        return verification.VerifyResponse(statements=doubted)

    world.verification.answering = fickle
    with pytest.raises(Unavailable):
        await world.ask(conversation_id="c")
    assert world.memory.records == {}
    assert world.total("verity.contradictions") == 1


async def test_the_whole_is_verified_once_more_without_the_judge_against_the_same_passages():
    world = World(draft(GOOD, BAD), draft(ALSO))
    await world.ask()
    last = world.verification.requests[-1]
    assert last.without_judge
    assert list(last.statements) == [GOOD, ALSO]
    assert [r.without_judge for r in world.verification.requests] == [False, True] * 2
    assert all(list(r.passages) == [passage()] for r in world.verification.requests)


async def test_what_a_wider_search_finds_against_a_statement_is_told_and_nothing_is_unsaid():
    world = World(draft(GOOD, insufficient=True, suggested_query="more"), draft(ALSO))
    other = passage("p2", "A UBO need not submit proof.")

    async def search(request, **call):
        found = [passage(), other] if request.neighbours else [passage()]
        return retrieval.RetrieveResponse(passages=found)

    world.retrieval.Retrieve = search

    def conflicting(request):
        reply = honest(request)
        for one in reply.statements:
            if one.text == GOOD.text and len(request.passages) > 1:
                both = [citation(passage(), "proof of funds"), citation(other, "need not")]
                one.verdict = core.VERDICT_CONTRADICTED
                one.reasons.add(code=core.Reason.CODE_CONFLICTING_SOURCES, citations=both)
        return reply

    world.verification.answering = conflicting
    answer = await world.ask()
    assert [s.text for s in answer.statements] == [GOOD.text, ALSO.text]
    assert answer.status == Answer.STATUS_PARTIAL
    assert [o.statement.text for o in answer.objections] == [GOOD.text]
    assert answer.objections[0].reasons[0].code == core.Reason.CODE_CONFLICTING_SOURCES


async def test_a_search_that_fails_after_something_was_said_leaves_what_was_said():
    world = World(draft(GOOD, insufficient=True, suggested_query="more"))

    async def once(request, **call):
        if request.neighbours:
            raise Unavailable("down")
        return retrieval.RetrieveResponse(passages=[passage()])

    world.retrieval.Retrieve = once
    answer = await world.ask()
    assert answer.status == Answer.STATUS_PARTIAL
    assert [s.text for s in answer.statements] == [GOOD.text]


async def test_a_follow_up_is_searched_for_and_drafted_as_it_was_resolved():
    world = World(draft(GOOD))
    await world.ask("What must a UBO submit?", conversation_id="c")
    assert world.generation.resolved == []
    world.generation.standalone = "What must a UBO submit in 2023?"
    answer = await world.ask("And the year before?", conversation_id="c")
    (asked,) = world.generation.resolved
    assert asked.question == "And the year before?"
    assert [turn.question for turn in asked.history] == ["What must a UBO submit?"]
    assert answer.question == "And the year before?"
    assert answer.standalone_question == "What must a UBO submit in 2023?"
    assert world.retrieval.requests[1].query == "What must a UBO submit in 2023?"
    assert world.generation.requests[1].question == "What must a UBO submit in 2023?"
    assert [t.stage for t in answer.stage_timings][:3] == ["recall", "resolve", "retrieve"]


async def test_a_question_that_stands_alone_or_cannot_be_resolved_is_asked_as_it_is():
    world = World(draft(GOOD))
    await world.ask("First?", conversation_id="c")
    assert not (await world.ask("Second?", conversation_id="c")).standalone_question

    async def failing(request, **call):
        raise grpc.aio.AioRpcError(
            grpc.StatusCode.UNIMPLEMENTED, grpc.aio.Metadata(), grpc.aio.Metadata()
        )

    world.generation.ResolveQuestion = failing
    answer = await world.ask("Third?", conversation_id="c")
    assert answer.status == Answer.STATUS_ANSWERED
    assert not answer.standalone_question
    assert world.retrieval.requests[2].query == "Third?"


async def test_the_day_goes_to_the_search_and_to_the_verification():
    world = World(draft(GOOD))
    answer = await world.ask(as_of="2024-06-30")
    assert world.retrieval.requests[0].as_of == "2024-06-30"
    assert {r.as_of for r in world.verification.requests} == {"2024-06-30"}
    assert answer.as_of == "2024-06-30"


@pytest.mark.parametrize("answers", [True, False])
async def test_what_only_a_superseded_version_answers_is_an_abstention_that_says_so(answers):
    old = passage("old")
    left_out = core.SearchReport.Exclusion(
        document_id=old.document_id,
        source_name="policy_2023.pdf",
        reason=core.SearchReport.Exclusion.REASON_SUPERSEDED,
        effective_to="2025-01-01",
        superseded_by_name="policy_2025.pdf",
        best=old,
    )

    class Extracting(FakeGeneration):
        async def GenerateStream(self, request, context=None, **call):
            self.requests.append(request.generate)
            if request.generate.extractive and answers:
                made = draft(statement("A UBO must submit proof.", source="old"))
                yield generation.GenerateStreamResponse(statement=made.statements[0])
                yield generation.GenerateStreamResponse(draft=made)
            else:
                yield generation.GenerateStreamResponse(draft=INSUFFICIENT)

    async def search(request, **call):
        report = core.SearchReport(exclusions=[left_out], as_of="2026-11-30")
        return retrieval.RetrieveResponse(passages=[passage("p2", "Nothing.")], report=report)

    world = World(draft())
    world.use(Extracting())
    world.retrieval.Retrieve = search
    answer = await world.ask()
    assert answer.status == Answer.STATUS_ABSTAINED
    assert answer.statements == []
    assert list(world.generation.requests[-1].passages) == [old]
    if answers:
        assert answer.abstention.type == core.Abstention.TYPE_SUPERSEDED
        assert answer.abstention.message == (
            "Only what does not apply on 2026-11-30 answers: policy_2023.pdf, superseded by"
            " policy_2025.pdf, no longer in force from 2025-01-01."
        )
    else:
        assert answer.abstention.type == core.Abstention.TYPE_NO_EVIDENCE
    assert answer.attempts == 1


async def test_facts_and_rules_are_searched_for_each_and_both_must_be_cited():
    world = World(
        draft(GOOD, statement("B.", source="p2"), compliance=core.COMPLIANCE_NON_COMPLIANT),
        draft(GOOD, compliance=core.COMPLIANCE_NON_COMPLIANT),
    )

    async def search(request, **call):
        world.retrieval.requests.append(request)
        name = "p1" if "policy" in request.filter.document_types else "p2"
        report = core.SearchReport(document_count=1, passage_count=10, query=request.query)
        return retrieval.RetrieveResponse(passages=[passage(name)], report=report)

    world.retrieval.Retrieve = search
    corpora = {
        "facts": retrieval.DocumentFilter(tags=["customer-7"]),
        "rules": retrieval.DocumentFilter(document_types=["policy"]),
    }
    answer = await world.ask(**corpora)
    assert [r.limit for r in world.retrieval.requests] == [4, 4]
    assert answer.search.passage_count == 20
    assert answer.compliance == core.COMPLIANCE_NON_COMPLIANT
    assert not answer.compliance_gaps
    answer = await world.ask(**corpora)
    assert answer.compliance == core.COMPLIANCE_UNKNOWN
    (gap,) = answer.compliance_gaps
    assert gap.corpus == grounding.ComplianceGap.CORPUS_FACTS


@pytest.mark.parametrize(
    "odd",
    [
        {"facts": retrieval.DocumentFilter()},
        {"rules": retrieval.DocumentFilter()},
        {
            "facts": retrieval.DocumentFilter(),
            "rules": retrieval.DocumentFilter(),
            "filter": retrieval.DocumentFilter(),
        },
    ],
)
async def test_one_corpus_alone_or_a_filter_beside_two_is_refused(odd):
    world = World(draft(GOOD))
    with pytest.raises(InvalidInput):
        await world.ask(**odd)
    assert world.retrieval.requests == []


async def test_two_hundred_statements_are_said_and_not_one_more():
    many = [statement(f"Number {n}.") for n in range(201)]
    world = World(draft(*many))
    answer = await world.ask()
    assert len(answer.statements) == 200
    assert answer.status == Answer.STATUS_PARTIAL


async def test_no_stage_of_an_answer_waits_for_the_clock(monkeypatch):
    sleep = asyncio.sleep

    async def at_once(delay, result=None):
        assert delay == 0
        return await sleep(0, result)

    monkeypatch.setattr(asyncio, "sleep", at_once)
    events = await World(draft(GOOD, BAD), draft(GOOD)).events()
    assert kinds(events)[-1] == "answer"
