"""`verity ask` and `verity answers` against a grounding service on a real channel."""

import asyncio

import pytest
from google.protobuf.duration_pb2 import Duration
from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as pb
from verity.v1.grounding_service_pb2_grpc import GroundingServiceServicer

from services.chassis.errors import NotFound, Unavailable
from tests.cli_command import served, verity


def answer(number: int = 1) -> pb.Answer:
    text = "Proof must be notarized."
    citation = core.Citation(
        quote="notarized proof of funds",
        passage_id="p1",
        document_sha256="ab" * 32,
        source_name="policy.pdf",
        page_number=42,
        section_id="4.2",
        span=core.Span(start=3, end=27),
    )
    return pb.Answer(
        id=f"a{number}",
        conversation_id="c1",
        question="What is due?",
        text=f"{text} [1]",
        status=pb.Answer.STATUS_ANSWERED,
        statements=[
            core.VerifiedStatement(text=text, verdict=core.VERDICT_SUPPORTED, citations=[citation])
        ],
        compliance=core.COMPLIANCE_NON_COMPLIANT,
        confidence=core.Confidence(grounding_confidence=0.93, citation_accuracy=1.0),
        stage_timings=[core.StageTiming(stage="verify", attempt=1, duration=Duration(nanos=10**6))],
        attempts=1,
        generator="fake/1",
        verifier="fake/1",
    )


class FakeGrounding(GroundingServiceServicer):
    """Remembers what it was asked, and answers with what it was given."""

    def __init__(self, *events: pb.AskStreamResponse, error: Exception | None = None) -> None:
        self.events, self.error = events, error
        self.asked: list[pb.AskRequest] = []
        self.metadata: dict[str, str] = {}
        self.seconds_left = 0.0
        self.hang = False

    async def AskStream(self, request, context):
        self.asked.append(request.ask)
        self.metadata = dict(context.invocation_metadata())
        self.seconds_left = context.time_remaining()
        for event in self.events:
            yield event
        if self.hang:
            await asyncio.Event().wait()
        if self.error:
            raise self.error

    async def GetAnswer(self, request, context):
        if request.answer_id != "a1":
            raise NotFound("No answer of this id, or it has expired.")
        return pb.GetAnswerResponse(answer=answer())

    async def ListAnswers(self, request, context):
        page = int(request.page_token or 1)
        token = str(page + 1) if page < 3 else ""
        return pb.ListAnswersResponse(answers=[answer(page)], next_page_token=token)

    async def GetGroundingQuality(self, request, context):
        return pb.GetGroundingQualityResponse(
            historical_quality=0.7, answer_count=2, recent=[0.5, 0.9]
        )


def events() -> list[pb.AskStreamResponse]:
    event = pb.AskStreamResponse
    return [
        event(attempt_started={"attempt": 1}),
        event(stage_started={"stage": "retrieve", "attempt": 1}),
        event(passages_found={"passages": [core.Passage(id="p1", source_name="policy.pdf")]}),
        event(stage_finished=core.StageTiming(stage="retrieve", attempt=1)),
        event(statement_verified={"statement": answer().statements[0]}),
        event(answer=answer()),
    ]


async def test_json_is_exactly_one_object_with_the_answer(tmp_path):
    fake = FakeGrounding(*events())
    async with served("GroundingService", fake) as address:
        asked = await verity(
            "ask", "What is due?", "--json", "--address", address, "--conversation", "c1",
            "--max-attempts", "2", "--timeout", "9", cwd=tmp_path,
        )  # fmt: skip
    assert asked.code == 0
    assert asked.stderr == ""
    assert asked.stdout.count("\n") == 1
    view = asked.json
    assert view["answer"] == "Proof must be notarized. [1]"
    assert view["status"] == "ANSWERED"
    assert view["compliance"] == "NON_COMPLIANT"
    assert view["historical_quality"] is None
    (statement,) = view["statements"]
    (citation,) = statement["citations"]
    assert (citation["start"], citation["end"], citation["page_number"]) == (3, 27, 42)
    (request,) = fake.asked
    assert (request.question, request.conversation_id, request.max_attempts) == (
        "What is due?",
        "c1",
        2,
    )
    assert 0 < fake.seconds_left <= 9


async def test_a_reader_sees_the_answer_with_its_source(tmp_path):
    async with served("GroundingService", FakeGrounding(*events())) as address:
        asked = await verity("ask", "What is due?", "--address", address, cwd=tmp_path)
    assert asked.code == 0
    assert "Proof must be notarized. [1]" in asked.stdout
    assert "policy.pdf, page 42, section 4.2" in asked.stdout
    assert "0.93 high" in asked.stdout
    assert "verify" in asked.stdout


async def test_the_address_may_come_from_the_environment_and_the_question_from_stdin(tmp_path):
    fake = FakeGrounding(*events())
    async with served("GroundingService", fake) as address:
        asked = await verity("ask", "-", cwd=tmp_path, stdin="Why?", VERITY_ADDRESS=address)
    assert asked.code == 0
    assert fake.asked[0].question == "Why?"


async def test_an_abstention_is_an_answer_and_not_a_failure(tmp_path):
    abstained = pb.Answer(
        status=pb.Answer.STATUS_ABSTAINED,
        text="Insufficient information in the provided sources.",
        abstention=core.Abstention(type=core.Abstention.TYPE_NO_EVIDENCE, message="None."),
    )
    fake = FakeGrounding(pb.AskStreamResponse(answer=abstained))
    async with served("GroundingService", fake) as address:
        asked = await verity("ask", "x", "--json", "--address", address, cwd=tmp_path)
    assert asked.code == 0
    assert asked.json["abstention"]["type"] == "NO_EVIDENCE"


async def test_an_empty_question_is_refused_by_name(tmp_path):
    async with served("GroundingService", FakeGrounding()) as address:
        asked = await verity("ask", " ", "--json", "--address", address, cwd=tmp_path)
    assert asked.code == 1
    error = asked.json["error"]
    assert error["code"] == "INVALID_ARGUMENT"
    assert error["violations"][0]["field"] == "ask.question"


async def test_a_question_of_100_kb_is_refused_by_name(tmp_path):
    async with served("GroundingService", FakeGrounding()) as address:
        asked = await verity("ask", "-", "--address", address, cwd=tmp_path, stdin="x" * 100_000)
    assert asked.code == 1
    assert asked.stderr.startswith("error: ask.question ")
    assert asked.stdout == ""
    assert "Traceback" not in asked.stderr


async def test_an_error_after_some_events_is_one_object_and_no_answer(tmp_path):
    fake = FakeGrounding(*events()[:-1], error=Unavailable("Retrieval cannot be reached."))
    async with served("GroundingService", fake) as address:
        asked = await verity("ask", "x", "--json", "--address", address, cwd=tmp_path)
    assert asked.code == 1
    assert asked.json["error"]["code"] == "UNAVAILABLE"
    assert "Retrieval cannot be reached." in asked.json["error"]["message"]


async def test_an_unexpected_error_is_not_told_in_its_own_words(tmp_path):
    fake = FakeGrounding(error=ValueError("secret"))
    async with served("GroundingService", fake) as address:
        asked = await verity("ask", "x", "--address", address, cwd=tmp_path)
    assert asked.code == 1
    assert "internal error" in asked.stderr
    assert "secret" not in asked.stderr


async def test_a_stream_that_ends_without_an_answer_is_an_error(tmp_path):
    async with served("GroundingService", FakeGrounding(*events()[:-1])) as address:
        asked = await verity("ask", "x", "--json", "--address", address, cwd=tmp_path)
    assert asked.code == 1
    assert asked.json["error"]["code"] == "INTERNAL"


async def test_a_service_that_hangs_is_left_at_the_deadline(tmp_path):
    fake = FakeGrounding()
    fake.hang = True
    async with served("GroundingService", fake) as address:
        asked = await verity(
            "ask", "x", "--json", "--address", address, "--timeout", "0.3", cwd=tmp_path
        )
    assert asked.code == 1
    assert asked.json["error"]["code"] == "DEADLINE_EXCEEDED"


async def test_nobody_listening_is_one_line_that_says_what_to_do(tmp_path):
    asked = await verity("ask", "x", "--address", "127.0.0.1:1", cwd=tmp_path)
    assert asked.code == 1
    assert asked.stderr.count("\n") == 1
    assert "Nothing answers for GroundingService at 127.0.0.1:1." in asked.stderr
    assert "verity up" in asked.stderr


async def test_the_pages_of_a_conversation_are_one_list(tmp_path):
    async with served("GroundingService", FakeGrounding()) as address:
        listed = await verity("answers", "list", "c1", "--json", "--address", address, cwd=tmp_path)
    assert [one["answer_id"] for one in listed.json["answers"]] == ["a1", "a2", "a3"]


async def test_an_answer_is_shown_as_it_was_given(tmp_path):
    async with served("GroundingService", FakeGrounding()) as address:
        shown = await verity("answers", "show", "a1", "--address", address, cwd=tmp_path)
        as_json = await verity(
            "answers", "show", "a1", "--json", "--address", address, cwd=tmp_path
        )
        unknown = await verity("answers", "show", "a9", "--address", address, cwd=tmp_path)
    assert shown.stdout.startswith("What is due?\n")
    assert as_json.json["answer_id"] == "a1"
    assert unknown.code == 1
    assert unknown.stderr == "error: No answer of this id, or it has expired.\n"


async def test_the_quality_of_a_conversation_is_told(tmp_path):
    async with served("GroundingService", FakeGrounding()) as address:
        told = await verity("answers", "quality", "c1", "--address", address, cwd=tmp_path)
        as_json = await verity(
            "answers", "quality", "c1", "--json", "--address", address, cwd=tmp_path
        )
    assert told.stdout == "0.70 fair over 2 answers\n"
    assert as_json.json == {
        "historical_quality": 0.7,
        "answer_count": 2,
        "recent": [0.5, 0.9],
        "failing_documents": [],
        "strategy": None,
    }


@pytest.mark.parametrize("traced", [True, False])
async def test_a_call_carries_the_trace_only_when_traces_are_sent_somewhere(tmp_path, traced):
    fake = FakeGrounding(*events())
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"} if traced else {}
    async with served("GroundingService", fake) as address:
        asked = await verity(
            "ask", "x", "--json", "--address", address, cwd=tmp_path, **environment
        )
    assert asked.json["answer_id"] == "a1"
    assert ("traceparent" in fake.metadata) == traced


async def test_the_day_and_the_two_corpora_of_a_question_go_along(tmp_path):
    service = FakeGrounding(pb.AskStreamResponse(answer=answer()))
    async with served("GroundingService", service) as address:
        await verity(
            *("ask", "Does it comply?", "--as-of", "2025-06-30", "--facts", "tag:customer-7"),
            *("--rules", "policy", "--rules", "law", "--address", address),
            cwd=tmp_path,
        )
    (asked,) = service.asked
    assert asked.as_of == "2025-06-30"
    assert list(asked.facts.tags) == ["customer-7"]
    assert list(asked.rules.document_types) == ["policy", "law"]
