"""A text that may be cited, with what is computed from it once, and its cited stretches."""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from services.verification import sentences, typesetting
from services.verification.evidence import Passage, Span
from services.verification.folding import Folded, fold, lower, unwrapped
from services.verification.furniture import body

# The passages of one question come again with its next attempt, and with the next question.
MAX_REMEMBERED, MAX_REMEMBERED_CHARS = 500, 20_000


class Indexed:
    """What is computed from a text, each when it is first needed."""

    def __init__(
        self, text: str, titles: tuple[str, ...], furniture: tuple[Span, ...] = ()
    ) -> None:
        self._text, self._titles, self._furniture = text, titles, furniture

    @cached_property
    def lowered(self) -> str:
        """In lower case, one character for each character."""
        return lower(self._text)

    @cached_property
    def body(self) -> str:
        """The text at the same offsets, blank where page furniture stands."""
        return body(self._text, self._furniture)

    @cached_property
    def folded(self) -> Folded:
        return fold(self.body)

    @cached_property
    def unmarked(self) -> str:
        """The body at the same offsets, without reference marks; see typesetting.py."""
        return typesetting.unmarked(self.body)

    @cached_property
    def plain(self) -> Folded:
        plain = typesetting.plain(self.unmarked)
        return self.folded if plain == self.body else fold(plain)

    @cached_property
    def sentences(self) -> list[Span]:
        return sentences.spans(self.body, self._titles)


_remembered = lru_cache(maxsize=MAX_REMEMBERED)(Indexed)


class Source:
    """A passage with its folded text and its sentences."""

    def __init__(self, passage: Passage) -> None:
        self.passage = passage
        short = len(passage.text) <= MAX_REMEMBERED_CHARS
        self._indexed = (_remembered if short else Indexed)(
            passage.text, passage.heading_path, passage.furniture
        )

    @property
    def text(self) -> str:
        return self.passage.text

    @property
    def lowered(self) -> str:
        return self._indexed.lowered

    @property
    def body(self) -> str:
        return self._indexed.body

    @property
    def folded(self) -> Folded:
        return self._indexed.folded

    @property
    def unmarked(self) -> str:
        return self._indexed.unmarked

    @property
    def plain(self) -> Folded:
        return self._indexed.plain

    @property
    def sentences(self) -> list[Span]:
        return self._indexed.sentences

    @cached_property
    def as_printed(self) -> "Source | None":
        """With what the parser found to be furniture among its words; None where it found none."""
        if not self.passage.furniture:
            return None
        return Source(replace(self.passage, furniture=()))

    def part(self, span: Span) -> "Source":
        """A stretch of it, as a source of its own."""
        text = self.body[span.start : span.end]
        return Source(replace(self.passage, text=text, regions=(), furniture=()))


@dataclass(frozen=True)
class Cited:
    """A stretch of a source that a statement rests on."""

    source: Source
    span: Span

    @cached_property
    def reading(self) -> Folded:
        return unwrapped(self.source.body[self.span.start : self.span.end])

    @property
    def text(self) -> str:
        """The words as they are read: without line breaks, split words and the like."""
        return self.reading.text

    def in_source(self, span: Span) -> Span:
        """Where a part of the text stands in the source."""
        return Span(*self.reading.source_span(span.start, span.end)).shifted(self.span.start)

    @property
    def key(self) -> tuple[str, Span]:
        """Which stretch of which source it is."""
        return self.source.passage.id, self.span

    @property
    def sentences(self) -> "list[Cited]":
        """The sentences it lies in, one by one."""
        return [
            Cited(self.source, sentence)
            for sentence in sentences.touched(self.source.sentences, self.span)
        ]

    @cached_property
    def around(self) -> "Cited":
        """The sentences it lies in, whole."""
        return Cited(self.source, sentences.around(self.source.sentences, self.span))
