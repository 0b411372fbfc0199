"""What learning from the grounding log is worth, in a simulated world; the peer does not learn.

The graph and the strategy are the real ones. The agents are made up and deterministic: half of the
evidence lies deeper than the first search reaches, some is found by its content words alone, the
model misquotes what stands far down in its context, answers as `json_schema` with prose half of the
time, and sometimes drafts what only a stricter measure sees through. Both arms are asked the same
questions and draw the same lots, so that they differ in nothing but what they learned.
"""

import argparse
import asyncio
import hashlib
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable
from typing import Any, cast

from opentelemetry.metrics import NoOpMeterProvider
from verity.v1 import core_pb2 as core
from verity.v1 import generation_service_pb2 as generation
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import retrieval_service_pb2 as retrieval
from verity.v1 import verification_service_pb2 as verification

from services.orchestrator.asking import Asker, Limits
from services.orchestrator.graph import Agents, Budgets, build
from services.orchestrator.grounding_log import Entry, Log
from services.orchestrator.measures import Measures

CONVERSATIONS, QUESTIONS = 8, 25
# A conversation is told of in so many parts.
PARTS = 5
FIRST_SEARCH = 8
DEEPEST = 16
# Shares of what happens, each drawn for itself.
ONLY_BY_CONTENT_WORDS = 0.2
PROSE_AROUND_JSON = 0.5
MISQUOTES_NEAR, MISQUOTES_FAR, FAR = 0.05, 0.5, 4
MISSTATES, SUBTLY = 0.15, 0.4
MOST_ATTEMPTS = 2


def measure(arguments: list[str]) -> dict[str, Any]:
    """Both arms over the same questions."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks learning", description=__doc__)
    parser.add_argument("--conversations", type=int, default=CONVERSATIONS)
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="of each conversation")
    options = parser.parse_args(arguments)
    return asyncio.run(simulated(options.conversations, options.questions))


async def simulated(conversations: int, questions: int) -> dict[str, Any]:
    """The figures of both arms, and the differences that learning makes."""
    learned = await _arm(conversations, questions, learns=True)
    peer = await _arm(conversations, questions, learns=False)
    return {
        "conversations": conversations,
        "questions": conversations * questions,
        "learning": learned,
        "peer_without": peer,
        "right_gained": round(learned["answered_right"] - peer["answered_right"], 3),
    }


async def _arm(conversations: int, questions: int, *, learns: bool) -> dict[str, Any]:
    memory = _Memory(learns=learns)
    agents = Agents(
        retrieval=cast("Any", _Retrieval()),
        generation=cast("Any", _Generation()),
        verification=cast("Any", _Verification()),
        memory=cast("Any", memory),
        budgets=Budgets(9, 9, 9, 9),
        measures=Measures(NoOpMeterProvider().get_meter("simulation")),
    )
    asker = Asker(build().compile(), agents, Limits(MOST_ATTEMPTS, FIRST_SEARCH))
    answers = [
        await asker.ask(
            "tenant",
            grounding.AskRequest(question=f"What is Q{c}x{q}?", conversation_id=f"c{c}"),
        )
        for c in range(conversations)
        for q in range(questions)
    ]
    said = [one for answer in answers for one in answer.statements]
    right = sum(one.text.startswith("right") for one in said)
    return {
        "answered_right": round(right / len(answers), 3),
        "answered_wrong": round((len(said) - right) / len(answers), 3),
        "wrong_of_said": round((len(said) - right) / max(1, len(said)), 3),
        "mean_grounding_confidence": round(
            sum(one.confidence.grounding_confidence for one in answers) / len(answers), 3
        ),
        "mean_attempts": round(sum(one.attempts for one in answers) / len(answers), 3),
        # From the first questions of the conversations to the last.
        "right_by_part": [
            _share(
                [one for n, one in enumerate(answers) if n % questions * PARTS // questions == part]
            )
            for part in range(PARTS)
        ],
    }


def _share(answers: list[grounding.Answer]) -> float:
    """Of the answers, those that are right."""
    right = sum(any(s.text.startswith("right") for s in one.statements) for one in answers)
    return round(right / max(1, len(answers)), 2)


def _lot(question: str, attempt: int, what: str) -> float:
    """The same for the same, 0 to 1."""
    digest = hashlib.sha256(f"{question}/{attempt}/{what}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def _name(text: str) -> str:
    return next(word.strip("?") for word in text.split() if word.startswith("Q"))


class _Retrieval:
    async def Retrieve(
        self, request: retrieval.RetrieveRequest, **_: Any
    ) -> retrieval.RetrieveResponse:
        name = _name(request.query)
        place = 1 + int(_lot(name, 0, "place") * DEEPEST)
        hidden = "What" in request.query and _lot(name, 0, "words") < ONLY_BY_CONTENT_WORDS
        ids = [f"{name}-other-{n}" for n in range(request.limit)]
        if place <= request.limit and not hidden:
            # A reranker puts the evidence first.
            ids[0 if request.rerank else place - 1] = f"{name}-evidence"
        passages = [
            core.Passage(id=id_, text=f"The words of {id_}.", document_id=id_, source_name=id_)
            for id_ in ids
        ]
        return retrieval.RetrieveResponse(passages=passages)


class _Generation:
    def GenerateStream(self, request: generation.GenerateStreamRequest, **_: Any) -> "_Replies":
        return _Replies(_drafted(request.generate))

    async def ResolveQuestion(
        self, request: generation.ResolveQuestionRequest, **_: Any
    ) -> generation.ResolveQuestionResponse:
        return generation.ResolveQuestionResponse(standalone_question=request.question)


class _Replies:
    def __init__(self, draft: generation.GenerateResponse) -> None:
        self._draft = draft

    async def __aiter__(self) -> AsyncGenerator[generation.GenerateStreamResponse, None]:
        yield generation.GenerateStreamResponse(draft=self._draft)

    def cancel(self) -> None:
        """Nothing is under way."""


def _drafted(request: generation.GenerateRequest) -> generation.GenerateResponse:
    name = _name(request.question)
    attempt = 1 + max((one.attempt for one in request.objections), default=0)
    mode = request.structured_mode or "json_schema"
    draft = generation.GenerateResponse(generator="simulated/1", structured_mode=mode)
    ids = [passage.id for passage in request.passages]
    if mode == "json_schema" and _lot(name, attempt, "prose") < PROSE_AROUND_JSON:
        draft.failure = draft.FAILURE_NOT_JSON
    elif f"{name}-evidence" not in ids:
        draft.insufficient = True
    else:
        far = ids.index(f"{name}-evidence") >= FAR
        said = "right"
        if _lot(name, attempt, "quote") < (MISQUOTES_FAR if far else MISQUOTES_NEAR):
            said = "misquoted"
        elif _lot(name, attempt, "fact") < MISSTATES:
            said = "subtle" if _lot(name, attempt, "subtle") < SUBTLY else "misstated"
        cited = core.DraftCitation(passage_id=f"{name}-evidence", quote="The words")
        text = f"{said} {name}, attempt {attempt}."
        draft.statements.append(core.DraftStatement(text=text, citations=[cited]))
    return draft


_CODES = {
    "misquoted": core.Reason.CODE_QUOTE_NOT_FOUND,
    "misstated": core.Reason.CODE_NUMBER_MISMATCH,
    "subtle": core.Reason.CODE_NO_ENTAILMENT,
}


class _Verification:
    async def Verify(
        self, request: verification.VerifyRequest, **_: Any
    ) -> verification.VerifyResponse:
        found = [_verdict(one, request) for one in request.statements]
        return verification.VerifyResponse(statements=found, verifier="simulated/1")

    async def ScoreConfidence(
        self, request: verification.ScoreConfidenceRequest, **_: Any
    ) -> verification.ScoreConfidenceResponse:
        passed = sum(one.verdict == core.VERDICT_SUPPORTED for one in request.statements)
        share = passed / len(request.statements)
        return verification.ScoreConfidenceResponse(
            confidence=core.Confidence(grounding_confidence=share)
        )


def _verdict(
    one: core.DraftStatement, request: verification.VerifyRequest
) -> core.VerifiedStatement:
    kind = one.text.split()[0]
    if kind == "right" or (kind == "subtle" and not request.min_coverage):
        source = next(p for p in request.passages if p.id == one.citations[0].passage_id)
        quote = one.citations[0].quote
        cited = core.Citation(
            quote=quote,
            passage_id=source.id,
            document_id=source.document_id,
            span=core.Span(start=0, end=len(quote)),
        )
        return core.VerifiedStatement(
            text=one.text, verdict=core.VERDICT_SUPPORTED, citations=[cited]
        )
    return core.VerifiedStatement(
        text=one.text,
        verdict=core.VERDICT_UNSUPPORTED,
        reasons=[core.Reason(code=_CODES[kind], message="Simulated.")],
    )


class _Memory:
    """Keeps the log alone; without learning it keeps it to itself."""

    def __init__(self, *, learns: bool) -> None:
        self._learns = learns
        self._logs: dict[str, list[Entry]] = defaultdict(list)
        self._all: list[Entry] = []

    async def recall(self, *_: str) -> list[generation.Turn]:
        return []

    async def log(self, _tenant: str, conversation: str) -> Log:
        return Log(self._logs[conversation], self._all) if self._learns else Log()

    async def note(self, *_: str) -> None:
        return

    async def remember(
        self, _tenant: str, answer: grounding.Answer, _lease: Callable[..., Any], entry: Entry
    ) -> float:
        self._logs[answer.conversation_id].append(entry)
        self._all.append(entry)
        return entry.confidence
