"""A document's text cut into passages: inside a section, at sentences, tables whole."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import nupunkt

from services.retrieval.document import Chunk, Heading, ParsedDocument
from services.retrieval.embedded_text import table_around, without

# However few tokens a tokenizer makes of an endless word, a passage stays readable.
_CHARACTERS_PER_TOKEN = 16
# nupunkt takes quadratic time on unbroken runs and on long text without an end of sentence.
_UNBROKEN = re.compile(r"\S{200,}")
_SENTENCE_WINDOW = 10_000
_VISIBLE = re.compile(r"\S")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
# A line above a table, no longer than this, is its caption.
_CAPTION_CHARACTERS = 160
# A last chunk with less than this share of what fits is a remainder.
_REMAINDER = 0.25

Span = tuple[int, int]


def chunk(
    document: ParsedDocument, *, count_tokens: Callable[[str], int], max_tokens: int = 200
) -> list[Chunk]:
    """Cut a document's text into chunks that follow each other without gap or overlap.

    A chunk holds as many paragraphs of one section as fit; a paragraph that does not fit is cut at
    its sentences, and only a sentence or a table that has too many tokens by itself is cut
    further, at lines and then between words. A table's caption stays with it. A section's heading
    is in the section's first chunk, and its last chunk is no mere remainder.
    White space and running headers belong to the chunk before them. A chunk is all white space
    only where more of it follows itself than a chunk may hold.

    Args:
        document: What was parsed.
        count_tokens: Tokens of a text, without special tokens. Called once for each sentence, and
            again for the parts of those that must be cut.
        max_tokens: At most this many tokens in a chunk, headings and running headers aside.
    """
    masked = _mask(document)
    cutter = _Cutter(document, masked, count_tokens, max_tokens)
    page_starts = [page.start for page in document.pages]
    chunks: list[Chunk] = []
    for section in _sections(document, masked):
        for start, end in cutter.cut(section):
            visible = _VISIBLE.search(masked, start, end)
            page = bisect_right(page_starts, visible.start() if visible else start) - 1
            chunks.append(
                Chunk(
                    start=start,
                    end=end,
                    page_number=document.pages[page].number,
                    section_id=section.section_id,
                    heading_path=section.heading_path,
                )
            )
    return chunks


def _mask(document: ParsedDocument) -> str:
    """The text at the same offsets, its running headers blank: they part no sentence."""
    return without(document.text, 0, len(document.text), document.furniture, blank=" ")


@dataclass(frozen=True, slots=True)
class _Section:
    """A section without those below it: `body` is where its text begins, after its heading."""

    start: int
    body: int
    end: int
    section_id: str
    heading_path: tuple[str, ...]


def _sections(document: ParsedDocument, masked: str) -> Iterator[_Section]:
    """All sections in order; a heading directly above a deeper one opens that one's section.

    So does a title without a number above another: a passage of a lone title would say nothing.
    """
    above: list[Heading] = []
    start = body = 0
    ends = [*(heading.start for heading in document.headings), len(masked)]
    for position, end in enumerate(ends):
        following = document.headings[position] if position < len(document.headings) else None
        opens = following is not None and (
            not above
            or following.level > above[-1].level
            or (following.level == above[-1].level and not above[-1].section_id)
        )
        if end > start and (_VISIBLE.search(masked, body, end) or not opens):
            numbers = [heading.section_id for heading in above if heading.section_id]
            yield _Section(
                start=start,
                body=body,
                end=end,
                section_id=numbers[-1] if numbers else "",
                heading_path=tuple(heading.title for heading in above),
            )
            start = end
        if following:
            while above and above[-1].level >= following.level:
                above.pop()
            above.append(following)
            body = following.end


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a section that is not cut further, up to the start of the next."""

    start: int
    end: int
    tokens: int


class _Cutter:
    """Cuts sections into pieces that fit, and packs these into chunks."""

    def __init__(
        self,
        document: ParsedDocument,
        masked: str,
        count_tokens: Callable[[str], int],
        max_tokens: int,
    ) -> None:
        self._document = document
        self._masked = masked
        self._count_tokens = count_tokens
        self._max_tokens = max_tokens
        self._sentences = nupunkt.load("default")

    def cut(self, section: _Section) -> Iterator[Span]:
        """The section's chunks, each of as many pieces as fit."""
        chunks: list[list[_Piece]] = [[]]
        start, tokens = section.start, 0
        for piece in self._pieces(section):
            if chunks[-1] and not self._fits(start, piece.end, tokens + piece.tokens):
                chunks.append([])
                start, tokens = piece.start, 0
            chunks[-1].append(piece)
            tokens += piece.tokens
        start = section.start
        for pieces in self._balanced(chunks):
            end = pieces[-1].end if pieces else section.body
            yield start, end
            start = end

    def _balanced(self, chunks: list[list[_Piece]]) -> list[list[_Piece]]:
        """The chunks, the last two about as long as each other if the last is a mere remainder."""
        *before, above, last = chunks if len(chunks) > 1 else [[], *chunks]
        pieces = [*above, *last]
        left, right = _tokens(above), _tokens(last)
        if not above or right >= _REMAINDER * self._max_tokens:
            return chunks
        parts = [
            (pieces[:at], pieces[at:])
            for at in range(1, len(above))
            if not table_around(self._document, pieces[at].start)
            and self._fits(pieces[at].start, pieces[-1].end, _tokens(pieces[at:]))
        ]
        evenness = {abs(_tokens(a) - _tokens(b)): (a, b) for a, b in parts}
        if not evenness or min(evenness) >= left - right:
            return chunks
        return [*before, *evenness[min(evenness)]]

    def _fits(self, start: int, end: int, tokens: int) -> bool:
        return (
            tokens <= self._max_tokens and end - start <= _CHARACTERS_PER_TOKEN * self._max_tokens
        )

    def _pieces(self, section: _Section) -> Iterator[_Piece]:
        tables = {self._captioned(section, table) for table in self._tables(section)}
        cuts = {section.body, section.end, *self._paragraph_starts(section.body, section.end)}
        for start, end in tables:
            cuts -= set(self._paragraph_starts(start, end))
            cuts |= {start, end}
        for start, end in pairwise(sorted(cuts)):
            if (start, end) in tables:
                yield from self._divided(self._piece(start, end))
            else:
                yield from self._paragraph(start, end)

    def _tables(self, section: _Section) -> set[Span]:
        tables = self._document.tables
        first = bisect_left(tables, (section.body, 0))
        last = bisect_left(tables, (section.end, 0))
        return {table for table in tables[first:last] if table[1] <= section.end}

    def _captioned(self, section: _Section, table: Span) -> Span:
        """A table with the line above it, if both together fit."""
        start, end = table
        starts = self._paragraph_starts(section.body - 1, start)
        above = starts[-1] if starts else section.body
        caption = self._masked[above:start].strip()
        is_caption = caption and "\n" not in caption and len(caption) <= _CAPTION_CHARACTERS
        if not is_caption or any(above < edge <= start for _, edge in self._document.tables):
            return table
        whole = self._piece(above, end)
        return (above, end) if self._fits(above, end, whole.tokens) else table

    def _paragraph_starts(self, start: int, end: int) -> Sequence[int]:
        starts = self._document.paragraphs
        return starts[bisect_right(starts, start) : bisect_left(starts, end)]

    def _paragraph(self, start: int, end: int) -> Iterator[_Piece]:
        sentences = [self._piece(*span) for span in self._sentence_spans(start, end)]
        tokens = sum(sentence.tokens for sentence in sentences)
        if self._fits(start, end, tokens):
            yield _Piece(start, end, tokens)
            return
        for sentence in sentences:
            yield from self._divided(sentence)

    def _sentence_spans(self, start: int, end: int) -> Iterator[Span]:
        """Sentences, each up to the start of the next."""
        while start < end:
            window_end = self._window_end(start, end, _SENTENCE_WINDOW)
            window = _UNBROKEN.sub(
                lambda run: "x" * len(run.group()), self._masked[start:window_end]
            )
            spans = self._sentences.spans(window, paragraph_breaks=False)
            edges = [start, *(start + span[0] for span in spans[1:]), window_end]
            yield from pairwise(edges)
            start = window_end

    def _window_end(self, start: int, end: int, length: int) -> int:
        """Where to stop within `length` characters: at a line's end, at a space, or anywhere."""
        if end - start <= length:
            return end
        for white in ("\n", " "):
            found = self._masked.rfind(white, start, start + length)
            if found > start:
                return found + 1
        return start + length

    def _divided(self, piece: _Piece) -> Iterator[_Piece]:
        """The piece, or parts of it that fit: its lines, and parts of lines between words."""
        length = piece.end - piece.start
        if length <= 1 or self._fits(piece.start, piece.end, piece.tokens):
            yield piece
            return
        lines = [line.span() for line in _LINE.finditer(self._masked, piece.start, piece.end)]
        if len(lines) == 1:
            lines = list(self._parts(piece))
        for line in lines:
            yield from self._divided(self._piece(*line))

    def _parts(self, piece: _Piece) -> Iterator[Span]:
        """Parts of a line of about the length that fits, and at most half as long as it is."""
        length = piece.end - piece.start
        fitting = length * self._max_tokens // max(piece.tokens, 1)
        step = max(1, min(fitting, length // 2, _CHARACTERS_PER_TOKEN * self._max_tokens))
        start = piece.start
        while start < piece.end:
            end = self._window_end(start, piece.end, step)
            yield start, end
            start = end

    def _piece(self, start: int, end: int) -> _Piece:
        words = self._masked[start:end].split()
        return _Piece(start, end, self._count_tokens(" ".join(words)) if words else 0)


def _tokens(pieces: Iterable[_Piece]) -> int:
    return sum(piece.tokens for piece in pieces)
