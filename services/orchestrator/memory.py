"""What the orchestrator remembers of conversations, and the names under which it does."""

import hashlib
import re
import uuid
from dataclasses import dataclass
from typing import Protocol

from verity.v1 import generation_service_pb2 as generation
from verity.v1 import grounding_service_pb2 as grounding

from services.orchestrator.grounding_log import Entry, Log

_ANSWER_ID = re.compile(r"([0-9a-f]{32})-[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Lease:
    """The right of one call to answer under an idempotency key."""

    key: str
    # Of the request: the same words give the same.
    fingerprint: str
    # Known to this call alone: nobody gives back another's lease.
    token: str


@dataclass(frozen=True, slots=True)
class Held:
    """A conversation that was held, as a list shows it."""

    id: str
    first_question: str
    # Of its last answer, in microseconds since 1970; no two of a tenant's have the same.
    last_micros: int


class Memory(Protocol):
    """Kept per tenant and conversation, which is named as `kept_as` says.

    Every method raises Unavailable while the store is down.

    An answer, its place in the conversation, its turn, its grounding confidence and its entry in
    the conversation's log are written together or not at all, and no call loses what another wrote.
    """

    async def recall(self, tenant: str, conversation: str) -> list[generation.Turn]:
        """The last turns, oldest first; none for an unknown conversation."""
        ...

    async def claim(
        self, tenant: str, conversation: str, lease: Lease, seconds: float
    ) -> grounding.Answer | None:
        """Takes an idempotency key for so long, unless it was answered: then returns that answer.

        Raises:
            Aborted: Another call holds the key.
            FailedPrecondition: The key belongs to another question.
        """
        ...

    async def release(self, tenant: str, conversation: str, lease: Lease) -> None:
        """Gives an unanswered key back; nothing if it is answered or another's."""
        ...

    async def log(self, tenant: str, conversation: str) -> Log:
        """What can be learned from the answers before; nothing for an unknown conversation."""
        ...

    async def remember(
        self,
        tenant: str,
        answer: grounding.Answer,
        lease: Lease | None,
        entry: Entry | None = None,
    ) -> float:
        """Stores an answer, with what is to be learned from it, and fulfils its lease.

        Returns:
            The conversation's historical quality, this answer included. It is part of the answer
            from now on: `answer` and `answers` return it in its field.
        """
        ...

    async def answer(self, tenant: str, answer_id: str) -> grounding.Answer:
        """One answer as it was given.

        Raises:
            NotFound: It is unknown, of another tenant, or has expired.
        """
        ...

    async def answers(
        self, tenant: str, conversation: str, *, limit: int, before: str
    ) -> tuple[list[grounding.Answer], bool]:
        """A page of answers, newest first, and whether there are older ones.

        Args:
            tenant: Whose.
            conversation: Which.
            limit: The most to return; fewer where they would not fit into one reply.
            before: Id of an answer; only older ones are returned. Empty: from the newest.

        Raises:
            NotFound: The conversation is unknown or has expired.
        """
        ...

    async def note(self, tenant: str, kept: str, question: str) -> None:
        """Puts a conversation first in its subject's list, under the first question noted of it."""
        ...

    async def conversations(
        self, tenant: str, subject: str, *, limit: int, before: int
    ) -> tuple[list[Held], bool]:
        """A page of conversations, the one answered last first, and whether there are older ones.

        Args:
            tenant: Whose.
            subject: Of them, whose own.
            limit: The most to return.
            before: Only those answered last before this moment, in microseconds; 0: any.
        """
        ...

    async def quality(self, tenant: str, conversation: str) -> list[float]:
        """The grounding confidences of the last answers, oldest first.

        Raises:
            NotFound: The conversation is unknown or has expired.
        """
        ...


def new_answer_id(conversation: str) -> str:
    """Unguessable, and names its conversation by a digest: the id alone finds the answer."""
    return f"{digest(conversation)}-{uuid.uuid4().hex}"


def owner_of(kept: str) -> tuple[str, str]:
    """The subject whose a conversation is, and its name."""
    subject, _, conversation = kept.rpartition("\n")
    return subject, conversation


def kept_as(subject: str, conversation: str) -> str:
    """What a conversation is kept as: its own subject's, and nobody else's of the same name."""
    # No name of a conversation has a line break.
    return f"{subject}\n{conversation}" if subject else conversation


def conversation_digest(answer_id: str) -> str | None:
    """The digest of an answer's conversation; None for what is no answer's id."""
    match = _ANSWER_ID.fullmatch(answer_id)
    return match[1] if match else None


def digest(*parts: str | bytes) -> str:
    """A short name for anything: 32 hexadecimal digits of a SHA-256."""
    hashed = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        hashed.update(len(data).to_bytes(8, "big") + data)
    return hashed.hexdigest()[:32]


def mean(qualities: list[float]) -> float:
    """Historical quality from the confidences of the last answers."""
    return sum(qualities) / len(qualities)
