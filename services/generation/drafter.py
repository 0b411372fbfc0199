"""What is drafted from, what a draft is, and what can draft."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Passage:
    """A text that a draft may cite.

    Attributes:
        id: What a citation names.
        text: The exact text; quotes are cut from it.
        source_name: The file it is from.
        authority: Weight of the source; higher wins where two passages say the same.
        heading_path: The headings above it, outermost first.
        document_id: Passages of one document are read in the order of `start`.
        start: Where it begins in its document.
        score: Its relevance to the question, comparable within one task.
    """

    id: str
    text: str
    source_name: str = ""
    authority: int = 0
    heading_path: tuple[str, ...] = ()
    document_id: str = ""
    start: int = 0
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Citation:
    """The words that a statement rests on, as the drafter gives them; not yet checked."""

    passage_id: str
    quote: str


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of a draft."""

    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """A reason why a statement was rejected: its code, a sentence, the nearest real words."""

    code: str
    message: str
    closest_text: str = ""


@dataclass(frozen=True, slots=True)
class Objection:
    """A statement of an earlier draft that did not pass, and why."""

    statement: Statement
    faults: tuple[Fault, ...]
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """A question asked before, with its answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be answered, from what, and what came of the attempts before.

    Attributes:
        kept: Statements that were verified and will be released: neither repeated nor contradicted.
        mode: How a model is to be held to the form; empty, as it does best.
    """

    question: str
    passages: Sequence[Passage]
    objections: Sequence[Objection] = ()
    history: Sequence[Turn] = ()
    kept: Sequence[Statement] = ()
    mode: str = ""


class Compliance(Enum):
    """The drafter's judgement; NOT_ASKED where the question is not one of compliance."""

    NOT_ASKED = "not_asked"
    COMPLIANT = "compliant"
    NON_COMPLIANT = "non_compliant"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens spent; `estimated` when the endpoint did not say."""

    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False


class Failure(Enum):
    """Why a model's reply is no draft."""

    REFUSED = "refused"
    TRUNCATED = "truncated"
    MALFORMED = "malformed"
    NOT_JSON = "not_json"
    WRONG_SHAPE = "wrong_shape"
    EMPTY = "empty"
    TOO_LARGE = "too_large"


class NoDraft(Exception):
    """What a model sent is no draft. Stays within the adapter, which says it in a Draft."""

    def __init__(self, failure: Failure, usage: Usage | None = None) -> None:
        super().__init__(failure.value)
        self.failure = failure
        self.usage = usage


@dataclass(frozen=True, slots=True)
class Draft:
    """Statements in reading order; none of them means that the passages do not answer.

    Attributes:
        failure: Why there is no draft at all; another attempt may give one.
        suggested_query: Where nothing answers, another wording to search for.
        dropped: Ids of passages that did not fit, the least relevant first.
        mode: How the model was held to the form.
    """

    statements: tuple[Statement, ...] = ()
    compliance: Compliance = Compliance.NOT_ASKED
    usage: Usage = field(default_factory=Usage)
    failure: Failure | None = None
    suggested_query: str = ""
    dropped: tuple[str, ...] = ()
    mode: str = ""

    @property
    def insufficient(self) -> bool:
        """Whether the drafter found no answer."""
        return not self.statements and self.failure is None


@dataclass(frozen=True, slots=True)
class Resolution:
    """A question that stands alone, and what made it so; nothing did where it already did."""

    question: str
    resolver: str = ""
    usage: Usage = field(default_factory=Usage)


class Drafter(Protocol):
    """Anything that can draft an answer.

    Its methods raise only what `services.chassis.errors` knows, and may be cancelled at any time:
    then they stop what they started.
    """

    @property
    def generator(self) -> str:
        """Backend, model and prompt version, such as "extractive/1"."""

    async def draft(self, task: Task) -> Draft:
        """One attempt."""

    def stream(self, task: Task) -> AsyncGenerator[Statement | Draft]:
        """One attempt: each statement as soon as it is drafted, the whole draft last."""

    async def resolve(self, question: str, history: Sequence[Turn]) -> Resolution:
        """The question, said so that it stands alone."""
