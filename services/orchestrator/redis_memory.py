"""The memory in Redis 6.2 or newer, or Valkey: core commands, one script for each write."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import accumulate

from verity.v1 import generation_service_pb2 as generation
from verity.v1 import grounding_service_pb2 as grounding

from services.chassis.errors import Aborted, FailedPrecondition, NotFound, Unavailable
from services.orchestrator import redis_scripts
from services.orchestrator.grounding_log import Entry, Log, decoded, encoded
from services.orchestrator.memory import Held, Lease, conversation_digest, digest, owner_of
from services.orchestrator.readership import UNKNOWN_ANSWER
from services.orchestrator.redis_store import RedisStore, open_store, reply

_UNKNOWN_CONVERSATION = "No such conversation, or it has expired."
# Raised when what a key holds changes so that what was kept before cannot be read. Answers and
# turns are messages of the contract, to which fields are only added.
SCHEMA_VERSION = 1

_ANSWERED = "answered"
_FIELDS = ("body", "historical_quality")

# What one reply of ListAnswers may hold of the channel's 16 MiB.
_MOST_PAGE_BYTES = 8 * 1024 * 1024
# Turn.answer takes no more bytes.
_MOST_TURN_BYTES = 100_000


@dataclass(frozen=True, slots=True)
class Keeping:
    """How much is kept, and for how long."""

    ttl_seconds: int
    # Turns a new question is read with.
    turns: int
    # Answers and confidences of one conversation.
    log_length: int = 100
    # Conversations in a subject's list.
    conversations: int = 1000


class RedisMemory:
    """The `Memory` of `memory.py`.

    Keys are `verity:VERSION:{tenant:conversation}:...`, so a conversation is one hash slot of a
    cluster. `answers` (ids), `turns`, `quality` and `log` are capped lists, `answer:ID` is a hash
    of the answer's bytes and its historical quality, `claim:KEY` says who is answering under an
    idempotency key, or which answer it got. `verity:VERSION:{tenant}:log` is the log of all
    conversations of a tenant, `verity:VERSION:{tenant:subject}:held` and `:questions` list a
    subject's conversations by the time of their last answer, and the first question of each.

    Args:
        store: Where it is kept.
        keeping: How much is kept.
    """

    def __init__(self, store: RedisStore, keeping: Keeping) -> None:
        self.store = store
        self._client = client = store.client
        self._keeping = keeping
        self._remember = client.register_script(redis_scripts.REMEMBER)
        self._learn = client.register_script(redis_scripts.LEARN)
        self._note = client.register_script(redis_scripts.NOTE)
        self._release = client.register_script(redis_scripts.RELEASE)

    async def recall(self, tenant: str, conversation: str) -> list[generation.Turn]:
        scope = _scope(tenant, digest(conversation))
        async with self.store.operation():
            turns = await reply(self._client.lrange(f"{scope}:turns", 0, -1))
        return [generation.Turn.FromString(turn) for turn in turns]

    async def claim(
        self, tenant: str, conversation: str, lease: Lease, seconds: float
    ) -> grounding.Answer | None:
        scope = _scope(tenant, digest(conversation))
        key, milliseconds = f"{scope}:claim:{lease.key}", round(seconds * 1000)
        answer = None
        async with self.store.operation():
            if await self._client.set(key, _held(lease), nx=True, px=milliseconds):
                return None
            # Nothing there any more: given back in between, and as good as held until the next try.
            claimed: bytes = await reply(self._client.get(key)) or _held(lease).encode()
            state, fingerprint, by = claimed.decode().split(":")
            if state == _ANSWERED and fingerprint == lease.fingerprint:
                answer = await self._read(scope, by)
        if fingerprint != lease.fingerprint:
            raise FailedPrecondition(
                "The idempotency key was used for another question; use a new one."
            )
        if state != _ANSWERED:
            raise Aborted("Another call is answering under this idempotency key; try again.")
        if answer is None:
            raise FailedPrecondition("The answer to this idempotency key is lost; use a new key.")
        return answer

    async def release(self, tenant: str, conversation: str, lease: Lease) -> None:
        scope = _scope(tenant, digest(conversation))
        async with self.store.operation():
            await self._release(keys=[f"{scope}:claim:{lease.key}"], args=[_held(lease)])

    async def log(self, tenant: str, conversation: str) -> Log:
        scope = _scope(tenant, digest(conversation))
        async with self.store.operation():
            own = await reply(self._client.lrange(f"{scope}:log", 0, -1))
            all_ = await reply(self._client.lrange(_log_of(tenant), 0, -1))
        return Log(_entries(own), _entries(all_))

    async def remember(
        self,
        tenant: str,
        answer: grounding.Answer,
        lease: Lease | None,
        entry: Entry | None = None,
    ) -> float:
        scope = _scope(tenant, conversation_digest(answer.id) or "")
        lists = [f"{scope}:{name}" for name in ("answers", "turns", "quality", "log")]
        learned = encoded(entry) if entry else b""
        keys = [_record(scope, answer.id), *lists]
        args: list[str | bytes | int] = [
            answer.id,
            answer.SerializeToString(),
            _turn(answer).SerializeToString(),
            repr(answer.confidence.grounding_confidence),
            learned,
            self._keeping.ttl_seconds,
            self._keeping.log_length,
            self._keeping.turns,
        ]
        if lease:
            keys.append(f"{scope}:claim:{lease.key}")
            args += [_held(lease), f"{_ANSWERED}:{lease.fingerprint}:{answer.id}"]
        async with self.store.operation():
            quality = float(await self._remember(keys=keys, args=args))
        if learned:
            # The answer is kept; what is not learned from it is no reason to say that it is not.
            with suppress(Unavailable):
                await self._teach(tenant, learned)
        return quality

    async def answer(self, tenant: str, answer_id: str) -> grounding.Answer:
        conversation = conversation_digest(answer_id)
        if conversation is not None:
            async with self.store.operation():
                answer = await self._read(_scope(tenant, conversation), answer_id)
            if answer is not None:
                return answer
        raise NotFound(UNKNOWN_ANSWER)

    async def answers(
        self, tenant: str, conversation: str, *, limit: int, before: str
    ) -> tuple[list[grounding.Answer], bool]:
        scope = _scope(tenant, digest(conversation))
        async with self.store.operation():
            oldest_first = await reply(self._client.lrange(f"{scope}:answers", 0, -1))
            if not oldest_first:
                raise NotFound(_UNKNOWN_CONVERSATION)
            ids = [name.decode() for name in reversed(oldest_first)]
            if before:
                # What is no longer in the log is older than all that is.
                ids = ids[ids.index(before) + 1 :] if before in ids else []
            async with self._client.pipeline(transaction=False) as pipeline:
                for name in ids[:limit]:
                    pipeline.hmget(_record(scope, name), *_FIELDS)
                records = await pipeline.execute()
        kept = [record for record in records if record[0] is not None]
        sizes = accumulate(len(body) for body, _ in kept)
        fitting = max(1, sum(size <= _MOST_PAGE_BYTES for size in sizes))
        page = [_answer(*record) for record in kept[:fitting]]
        return page, bool(page) and (len(kept) > fitting or len(ids) > limit)

    async def note(self, tenant: str, kept: str, question: str) -> None:
        subject, conversation = owner_of(kept)
        most = [self._keeping.ttl_seconds, self._keeping.conversations]
        async with self.store.operation():
            await self._note(keys=_lists_of(tenant, subject), args=[conversation, question, *most])

    async def conversations(
        self, tenant: str, subject: str, *, limit: int, before: int
    ) -> tuple[list[Held], bool]:
        held, questions = _lists_of(tenant, subject)
        oldest = (time.time() - self._keeping.ttl_seconds) * 1e6
        async with self.store.operation():
            newest_first: list[tuple[bytes, float]] = await reply(
                self._client.zrevrangebyscore(
                    held,
                    f"({before}" if before else "+inf",
                    oldest,
                    start=0,
                    num=limit + 1,
                    withscores=True,
                )
            )
            page = newest_first[:limit]
            if not page:
                return [], False
            asked = await reply(self._client.hmget(questions, [name for name, _ in page]))
        found = [
            Held(name.decode(), (question or b"").decode(), int(score))
            for (name, score), question in zip(page, asked, strict=True)
        ]
        return found, len(newest_first) > limit

    async def quality(self, tenant: str, conversation: str) -> list[float]:
        scope = _scope(tenant, digest(conversation))
        async with self.store.operation():
            log = await reply(self._client.lrange(f"{scope}:quality", 0, -1))
        if not log:
            raise NotFound(_UNKNOWN_CONVERSATION)
        return [float(value) for value in log]

    async def _teach(self, tenant: str, learned: bytes) -> None:
        kept: list[str | bytes | int] = [
            learned,
            self._keeping.log_length,
            self._keeping.ttl_seconds,
        ]
        async with self.store.operation():
            await self._learn(keys=[_log_of(tenant)], args=kept)

    async def _read(self, scope: str, answer_id: str) -> grounding.Answer | None:
        record = await reply(self._client.hmget(_record(scope, answer_id), *_FIELDS))
        return _answer(*record) if record[0] is not None else None


@asynccontextmanager
async def open_memory(
    url: str, keeping: Keeping, *, timeout_seconds: float, pause_seconds: float
) -> AsyncIterator[RedisMemory]:
    """A memory on the store at `url`; it need not be up yet."""
    async with open_store(
        url, timeout_seconds=timeout_seconds, pause_seconds=pause_seconds
    ) as store:
        yield RedisMemory(store, keeping)


def _scope(tenant: str, conversation: str) -> str:
    return f"verity:{SCHEMA_VERSION}:{{{tenant}:{conversation}}}"


def _log_of(tenant: str) -> str:
    return f"verity:{SCHEMA_VERSION}:{{{tenant}}}:log"


def _lists_of(tenant: str, subject: str) -> tuple[str, str]:
    scope = _scope(tenant, digest("subject", subject))
    return f"{scope}:held", f"{scope}:questions"


def _entries(kept: list[bytes]) -> list[Entry]:
    return [entry for one in kept if (entry := decoded(one)) is not None]


def _record(scope: str, answer_id: str) -> str:
    return f"{scope}:answer:{answer_id}"


def _held(lease: Lease) -> str:
    return f"held:{lease.fingerprint}:{lease.token}"


def _turn(answer: grounding.Answer) -> generation.Turn:
    text = answer.text.encode()[:_MOST_TURN_BYTES].decode(errors="ignore")
    asked = answer.standalone_question or answer.question  # What the next one leans on in turn.
    return generation.Turn(question=asked, answer=text, readers=answer.readers)


def _answer(body: bytes, historical_quality: bytes) -> grounding.Answer:
    answer = grounding.Answer.FromString(body)
    answer.historical_quality = float(historical_quality)
    return answer
