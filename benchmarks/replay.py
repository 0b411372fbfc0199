"""Plays scripted drafts through the real graph, and reads all that came out of it again."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import redis.asyncio as redis
from verity.v1 import core_pb2 as core
from verity.v1 import generation_service_pb2 as generation
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import grounding_service_pb2_grpc as grounding_rpc
from verity.v1 import retrieval_service_pb2 as retrieval
from verity.v1 import retrieval_service_pb2_grpc as retrieval_rpc

from benchmarks.drafts import Row
from benchmarks.in_process import Context, system
from cli.scripted_model.script import Behaviour, Script
from cli.scripted_model.server import ScriptedModel
from services.generation import __main__ as generation_main
from services.orchestrator.redis_memory import Keeping, open_memory

_FIRST_SEARCH = 8
_DOCUMENTS = 5


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a row, by each way out."""

    row: Row
    # Of Ask, and the last event of AskStream.
    answers: Sequence[grounding.Answer]
    # Sent by AskStream before its answer.
    streamed: Sequence[core.VerifiedStatement]
    # As GetAnswer gives them, and as they lie in the store.
    stored: Sequence[grounding.Answer]
    kept: Sequence[grounding.Answer]
    # What the next question of the conversation would be read with.
    remembered: Sequence[str]

    @property
    def answered(self) -> list[str]:
        """The statements of the answer that Ask gave."""
        return [one.text for one in self.answers[0].statements]

    @property
    def became(self) -> str:
        """What came of the question."""
        answer = self.answers[0]
        if answer.status == answer.STATUS_ABSTAINED:
            return "abstained"
        if answer.status == answer.STATUS_PARTIAL:
            return "partial"
        return "first attempt" if answer.attempts == 1 else "corrected"

    @property
    def released(self) -> list[str]:
        """Every statement that left by any way."""
        given = [*self.answers, *self.stored, *self.kept]
        texts = [one.text for answer in given for one in answer.statements]
        return [*texts, *(one.text for one in self.streamed)]

    @property
    def unverified(self) -> list[str]:
        """What came out and should not have: as text, as a statement, or not as it was verified."""
        given = [*self.answers, *self.stored, *self.kept]
        wrong = self.row.wrong - self.row.right
        found = [text for text in self.released if text in wrong]
        said = [*(answer.text for answer in given), *self.remembered]
        hidden = [text for text in wrong if not any(text in one for one in self.row.right)]
        found += [text for text in hidden if any(text in one for one in said)]
        statements = [*(one for answer in given for one in answer.statements), *self.streamed]
        return found + [one.text for one in statements if not self._is_sound(one)]

    def _is_sound(self, one: core.VerifiedStatement) -> bool:
        """Whether it is SUPPORTED, and each quote stands where it says,."""
        texts = {p.id: p.text for p in [*self.row.passages, *self.row.more]}
        return (
            one.verdict == core.VERDICT_SUPPORTED
            and bool(one.citations)
            and all(
                c.quote.strip()
                and texts.get(c.passage_id, "")[c.span.start : c.span.end] == c.quote
                for c in one.citations
            )
        )

    @property
    def faults(self) -> list[str]:
        """Where what came out is not what the row says must come out."""
        row, found = self.row, []
        if self.unverified:
            found.append(f"unverified: {self.unverified}")
        for name, answers in (("answer", self.answers), ("stored", [*self.stored, *self.kept])):
            for answer in answers:
                seen = outcome(answer)
                wanted = (row.status, row.abstention, row.attempts, list(row.released))
                if seen != wanted:
                    found.append(f"{name}: {seen} instead of {wanted}; {_reasons(answer)}")
        if [one.text for one in self.streamed] != list(row.released):
            found.append("what was streamed is not what was answered")
        if len(self.stored) != len(self.answers) or len(self.kept) != len(self.answers):
            found.append("an answer is not stored")
        expected = {said.why for draft in row.drafts[: row.attempts] for said in draft if said.why}
        for answer in self.answers:
            missing = expected - set(_reasons(answer))
            if missing:
                found.append(f"objections: {_reasons(answer)} lack {sorted(missing)}")
        return list(dict.fromkeys(found))


def outcome(answer: grounding.Answer) -> tuple[str, str, int, list[str]]:
    kind = core.Abstention.Type.Name(answer.abstention.type).removeprefix("TYPE_")
    return (
        grounding.Answer.Status.Name(answer.status).removeprefix("STATUS_"),
        "" if kind == "UNSPECIFIED" else kind,
        answer.attempts,
        [one.text for one in answer.statements],
    )


def _reasons(answer: grounding.Answer) -> list[str]:
    return [
        core.Reason.Code.Name(reason.code).removeprefix("CODE_")
        for one in answer.objections
        for reason in one.reasons
    ]


class Given(retrieval_rpc.RetrievalServiceServicer):
    """Finds the passages of the row whose id is the request's tag."""

    def __init__(self, rows: Mapping[str, Row]) -> None:
        self._rows = rows

    async def Retrieve(
        self, request: retrieval.RetrieveRequest, _context: Context
    ) -> retrieval.RetrieveResponse:
        [tag] = request.filter.tags
        row = self._rows[tag]
        wider = row.more if request.limit > _FIRST_SEARCH else ()
        report = core.SearchReport(
            query=request.query,
            as_of=request.as_of,
            document_count=_DOCUMENTS,
            passage_count=len(self._rows),
            exclusions=[
                core.SearchReport.Exclusion(
                    document_id=one.document_id,
                    source_name=one.source_name,
                    reason=core.SearchReport.Exclusion.REASON_NO_LONGER_EFFECTIVE,
                    effective_to=one.effective_to,
                    best=one,
                )
                for one in row.excluded
            ],
        )
        return retrieval.RetrieveResponse(passages=[*row.passages, *wider], report=report)


async def replay(rows: Sequence[Row], redis_url: str) -> AsyncIterator[Played]:
    """Each row by Ask and by AskStream, one after the other.

    The store is emptied between rows: what was learned from one must not change the next.
    """
    store: Any = redis.from_url(redis_url)  # Typed for both its clients at once.
    async with _player(rows, redis_url) as stub, store:
        for row in rows:
            await store.flushall()
            answers = [(await stub.Ask(row.request)).answer]
            streamed = []
            async for event in stub.AskStream(grounding.AskStreamRequest(ask=row.request)):
                if event.HasField("statement_verified"):
                    streamed.append(event.statement_verified.statement)
                elif event.HasField("answer"):
                    answers.append(event.answer)
            requests = [grounding.GetAnswerRequest(answer_id=one.id) for one in answers]
            stored = [(await stub.GetAnswer(one)).answer for one in requests]
            bodies = [await store.hgetall(key) async for key in store.scan_iter(match="*:answer:*")]
            kept = [grounding.Answer.FromString(one[b"body"]) for one in bodies]
            turns = [
                generation.Turn.FromString(turn).answer
                async for key in store.scan_iter(match="*:turns")
                for turn in await store.lrange(key, 0, -1)
            ]
            yield Played(row, answers, streamed, stored, kept, turns)


@asynccontextmanager
async def _player(
    rows: Sequence[Row], redis_url: str
) -> AsyncIterator[grounding_rpc.GroundingServiceStub]:
    rules = [rule for row in rows for rule in row.rules()]
    script = Script(rules, default=Behaviour("error", {"message": "no row asks this"}))
    keeping = Keeping(60, turns=3)
    async with (
        ScriptedModel(script).listening() as model,
        open_memory(redis_url, keeping, timeout_seconds=5, pause_seconds=1) as memory,
        system(
            Given({row.id: row for row in rows}),
            generation_main.Settings(
                backend="openai",
                model="scripted",
                openai_base_url=f"{model.url}/v1",
                openai_api_key="none",
                structured_output="json_schema",
            ),
            memory,
            passages=_FIRST_SEARCH,
        ) as stub,
    ):
        yield stub
