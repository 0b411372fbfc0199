"""The form in which a model must answer, and the strict reading of what it sent."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeVar

from langchain_core.utils.json_schema import dereference_refs
from pydantic import BaseModel, ConfigDict, ValidationError

from services.generation import strict_json
from services.generation.drafter import (
    Citation,
    Compliance,
    Draft,
    Failure,
    NoDraft,
    Statement,
)
from services.generation.modes import Form

# Bounds of core.proto and generation_service.proto: past them the draft could not be verified.
MAX_STATEMENTS = 200
MAX_CITATIONS = 50
MAX_TEXT_BYTES = 20_000
MAX_QUOTE_BYTES = 1_000_000
MAX_ID_CHARS = 100
MAX_QUERY_CHARS = 1000


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)


_Kind = TypeVar("_Kind", bound=_Strict)


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
    # Required in the schema, as strict endpoints want it; where only words ask, some leave it out.
    suggested_query: str = ""


def form() -> Form:
    """The form that goes with a request; without bounds, which not all endpoints know."""
    schema = dereference_refs(_Reply.model_json_schema())  # Not all endpoints follow references.
    del schema["$defs"]
    properties = schema["properties"]
    del properties["suggested_query"]["default"]
    return Form("draft", {**schema, "title": "draft", "required": list(properties)})


class Reading:
    """Reads a reply as it comes: each statement once it is whole, the draft at its end.

    Args:
        passage_ids: What each source id stands for. An id that is none of them is kept, so that
            verification says that it names no passage.
    """

    def __init__(self, passage_ids: Mapping[str, str]) -> None:
        self._passage_ids = passage_ids
        self._elements = strict_json.Elements("statements")
        self._read: list[Statement] = []

    @property
    def text(self) -> str:
        """What was read so far."""
        return self._elements.text

    def feed(self, piece: str) -> Iterator[Statement]:
        """The statements that end in this piece.

        Raises:
            NoDraft: The reply can become no draft any more, whatever follows.
        """
        for element in self._elements.feed(piece):
            statement = self._statement(_valid(_Statement, strict_json.loads(element)))
            self._read.append(statement)
            if len(self._read) > MAX_STATEMENTS:
                raise NoDraft(Failure.TOO_LARGE)
            yield statement

    def draft(self) -> Draft:
        """The draft that the whole reply is.

        Raises:
            NoDraft: It is none. Nothing in it is repaired.
        """
        if not self.text.strip():
            raise NoDraft(Failure.EMPTY)
        reply = _valid(_Reply, strict_json.loads(self.text))
        statements = tuple(map(self._statement, reply.statements))
        if reply.insufficient and statements:
            raise NoDraft(Failure.WRONG_SHAPE)
        if not reply.insufficient and not statements:
            raise NoDraft(Failure.EMPTY)
        if len(statements) > MAX_STATEMENTS:
            raise NoDraft(Failure.TOO_LARGE)
        if self._read and tuple(self._read) != statements:
            raise NoDraft(Failure.WRONG_SHAPE)
        if reply.insufficient:
            # No answer, no judgement: the sources that would bear it are not cited.
            return Draft(suggested_query=reply.suggested_query.strip()[:MAX_QUERY_CHARS])
        return Draft(statements, Compliance(reply.compliance))

    def _statement(self, read: _Statement) -> Statement:
        if not read.text.strip():
            raise NoDraft(Failure.EMPTY)
        if not _fits(read):
            raise NoDraft(Failure.TOO_LARGE)
        cited = (
            Citation(self._passage_ids.get(one.source, one.source), one.quote)
            for one in read.citations
        )
        return Statement(read.text, tuple(dict.fromkeys(cited)))


def read(text: str, passage_ids: Mapping[str, str]) -> Draft:
    """The draft that a whole reply is; raises NoDraft as `Reading` does."""
    reading = Reading(passage_ids)
    for _ in reading.feed(text):
        pass
    return reading.draft()


def _valid(kind: type[_Kind], value: Any) -> _Kind:
    try:
        return kind.model_validate(value)
    except ValidationError:
        raise NoDraft(Failure.WRONG_SHAPE) from None  # Its text quotes the reply.


def _fits(statement: _Statement) -> bool:
    return (
        len(statement.text.encode()) <= MAX_TEXT_BYTES
        and len(statement.citations) <= MAX_CITATIONS
        and all(
            len(citation.source) <= MAX_ID_CHARS and len(citation.quote.encode()) <= MAX_QUOTE_BYTES
            for citation in statement.citations
        )
    )
