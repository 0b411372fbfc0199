"""The form in which a model must answer, and the strict reading of what it sent."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from services.chassis.errors import Unavailable
from services.generation.drafter import Citation, Compliance, Draft, Statement, Usage

# Bounds of core.proto and generation_service.proto: past them the draft could not be verified.
MAX_STATEMENTS = 200
MAX_CITATIONS = 50
MAX_TEXT_BYTES = 20_000
MAX_QUOTE_BYTES = 1_000_000
MAX_ID_CHARS = 100
MAX_REPLY_CHARS = 1_000_000


class Failure(Enum):
    """Why a reply is no draft."""

    REFUSED = "refused"
    TRUNCATED = "truncated"
    MALFORMED = "malformed"
    NOT_JSON = "not_json"
    WRONG_SHAPE = "wrong_shape"
    EMPTY = "empty"
    TOO_LARGE = "too_large"


_SAID = {
    Failure.REFUSED: "The model refused to answer.",
    Failure.TRUNCATED: "The model's reply was cut off; allow it more output tokens.",
    Failure.MALFORMED: "The model's endpoint sent something other than a chat completion.",
    Failure.NOT_JSON: "The model's reply is not the JSON it was asked for.",
    Failure.WRONG_SHAPE: "The model's JSON is not of the form it was asked for.",
    Failure.EMPTY: "The model neither answered nor said that the sources do not.",
    Failure.TOO_LARGE: "The model's reply is over the size limits.",
}


class UnusableDraft(Unavailable):
    """The model answered, and what it sent is no draft; another attempt may give one."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(_SAID[failure])
        self.failure = failure


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)


class _Citation(_Strict):
    source: str
    quote: str


class _Statement(_Strict):
    text: str
    citations: list[_Citation]


class _Reply(_Strict):
    """A draft answer: statements with citations, or the word that the sources do not answer."""

    statements: list[_Statement]
    insufficient: bool
    compliance: Literal["not_asked", "compliant", "non_compliant", "unknown"]


def schema() -> dict[str, Any]:
    """The JSON Schema that goes with a request; without bounds, which not all endpoints know."""
    return {**_Reply.model_json_schema(), "title": "draft"}


def read(text: str, passage_ids: Mapping[str, str], usage: Usage) -> Draft:
    """The draft that `text` is.

    Args:
        text: The reply; JSON and nothing else.
        passage_ids: What each source id stands for. An id that is none of them is kept, so that
            verification says that it names no passage.
        usage: What it cost.

    Raises:
        UnusableDraft: It is no draft. Nothing in it is repaired.
    """
    if len(text) > MAX_REPLY_CHARS:
        raise UnusableDraft(Failure.TOO_LARGE)
    if not text.strip():
        raise UnusableDraft(Failure.EMPTY)
    try:
        reply = _Reply.model_validate_json(text)
    except ValidationError as error:
        not_json = any(fault["type"] == "json_invalid" for fault in error.errors())
        failure = Failure.NOT_JSON if not_json else Failure.WRONG_SHAPE
        raise UnusableDraft(failure) from None  # Its text quotes the reply.
    if reply.insufficient and reply.statements:
        raise UnusableDraft(Failure.WRONG_SHAPE)
    if not reply.insufficient and not reply.statements:
        raise UnusableDraft(Failure.EMPTY)
    if not all(statement.text.strip() for statement in reply.statements):
        raise UnusableDraft(Failure.EMPTY)
    if not _fits(reply):
        raise UnusableDraft(Failure.TOO_LARGE)
    return Draft(
        tuple(
            Statement(
                statement.text,
                tuple(
                    Citation(passage_ids.get(citation.source, citation.source), citation.quote)
                    for citation in statement.citations
                ),
            )
            for statement in reply.statements
        ),
        # No answer, no judgement: the sources that would bear it are not cited.
        Compliance.NOT_ASKED if reply.insufficient else Compliance(reply.compliance),
        usage,
    )


def _fits(reply: _Reply) -> bool:
    return len(reply.statements) <= MAX_STATEMENTS and all(
        len(statement.text.encode()) <= MAX_TEXT_BYTES
        and len(statement.citations) <= MAX_CITATIONS
        and all(
            len(citation.source) <= MAX_ID_CHARS and len(citation.quote.encode()) <= MAX_QUOTE_BYTES
            for citation in statement.citations
        )
        for statement in reply.statements
    )
