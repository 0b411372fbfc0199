"""What is drafted from, what a draft is, and what can draft."""

from collections.abc import Sequence
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
    """

    id: str
    text: str
    source_name: str = ""
    authority: int = 0
    heading_path: tuple[str, ...] = ()
    document_id: str = ""
    start: int = 0


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


@dataclass(frozen=True, slots=True)
class Turn:
    """A question asked before, with its answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be answered, from what, and what was wrong with the attempts before."""

    question: str
    passages: Sequence[Passage]
    objections: Sequence[Objection] = ()
    history: Sequence[Turn] = ()


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


@dataclass(frozen=True, slots=True)
class Draft:
    """Statements in reading order; none of them means that the passages do not answer."""

    statements: tuple[Statement, ...]
    compliance: Compliance = Compliance.NOT_ASKED
    usage: Usage = field(default_factory=Usage)

    @property
    def insufficient(self) -> bool:
        """Whether the drafter found no answer."""
        return not self.statements


class Drafter(Protocol):
    """Anything that can draft an answer.

    Raises from `draft` only what `services.chassis.errors` knows: a failure is never a draft.
    """

    @property
    def generator(self) -> str:
        """Backend, model and prompt version, such as "extractive/1"."""

    async def draft(self, task: Task) -> Draft:
        """One attempt. May be cancelled at any time, and then stops what it started."""
