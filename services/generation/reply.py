"""The form in which a model must answer, and the strict reading of what it sent."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from services.generation.drafter import Citation, Compliance, Draft, Failure, Statement, Usage

# Bounds of core.proto and generation_service.proto: past them the draft could not be verified.
MAX_STATEMENTS = 200
MAX_CITATIONS = 50
MAX_TEXT_BYTES = 20_000
MAX_QUOTE_BYTES = 1_000_000
MAX_ID_CHARS = 100
MAX_REPLY_CHARS = 1_000_000


class NoDraft(Exception):
    """The model answered, and what it sent is no draft. Never leaves the adapter."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.value)
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
        NoDraft: It is no draft. Nothing in it is repaired.
    """
    if len(text) > MAX_REPLY_CHARS:
        raise NoDraft(Failure.TOO_LARGE)
    if not text.strip():
        raise NoDraft(Failure.EMPTY)
    try:
        reply = _Reply.model_validate_json(text)
    except ValidationError as error:
        not_json = any(fault["type"] == "json_invalid" for fault in error.errors())
        failure = Failure.NOT_JSON if not_json else Failure.WRONG_SHAPE
        raise NoDraft(failure) from None  # Its text quotes the reply.
    if reply.insufficient and reply.statements:
        raise NoDraft(Failure.WRONG_SHAPE)
    if not reply.insufficient and not reply.statements:
        raise NoDraft(Failure.EMPTY)
    if not all(statement.text.strip() for statement in reply.statements):
        raise NoDraft(Failure.EMPTY)
    if not _fits(reply):
        raise NoDraft(Failure.TOO_LARGE)
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
