"""Finds a quote in the text it claims to come from, and says where the real words stand."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from services.verification import words
from services.verification.capitals import same_case
from services.verification.edges import is_whole
from services.verification.evidence import Match, Span
from services.verification.folding import Folded, Hyphen, fold
from services.verification.scope import changes_scope, is_scope_cut
from services.verification.source import Source

# A quote is looked at in this many places at most; with none good among them it is not found.
MAX_PLACES = 256
# A quote with few content words that stands in more places than this points at none of them.
MAX_OCCURRENCES = 8
ENOUGH_WORDS = 3
# An elided quote: so many parts, within so many adjacent sentences.
MAX_PARTS = 8
MAX_SENTENCES_ELIDED = 2

_CLOSEST_CHARS = 600
_CLOSEST_SENTENCES = 400
_CLOSEST_SCORE = 45.0
_ELLIPSIS = re.compile(r"\s*(?:\[\s?(?:…|\.\.\.)\s?\]|\(\s?(?:…|\.\.\.)\s?\)|…|\.\.\.)\s*")


@dataclass(frozen=True, slots=True)
class Found:
    """Where a quote stands. `is_cut` when what governs it stands just outside."""

    span: Span
    match: Match
    is_cut: bool = False


def locate(source: Source, quote: str) -> Found | None:
    """The first whole place of a quote: as it is, else folded, else as the parts of an elision.

    A place that is cut from under a negation or condition is given only when there is no other.
    """
    if not _content(quote):
        return None
    best: Found | None = None
    for span, match in _places(source, quote):
        if not is_scope_cut(source.text, source.sentences, span):
            return Found(span, match)
        best = best or Found(span, match, is_cut=True)
    return best or _locate_parts(source, quote)


def is_too_short(quote: str, source: Source | None) -> bool:
    """Whether a quote points at nothing: no content word, or few that stand in many places."""
    content = _content(quote)
    if content == 0 or source is None or content >= ENOUGH_WORDS:
        return content == 0
    return source.folded.key.count(fold(quote).key.strip()) > MAX_OCCURRENCES


def closest(quote: str, sources: Sequence[Source]) -> str:
    """The sentence most like a quote, as a hint for the next attempt; empty when none is like it.

    The sources are searched in order, and the first that has such a sentence gives it.
    """
    wanted = quote[:_CLOSEST_CHARS]
    for source in sources:
        near = [
            source.text[span.start : min(span.end, span.start + _CLOSEST_CHARS)]
            for span in source.sentences[:_CLOSEST_SENTENCES]
        ]
        best = process.extractOne(
            wanted,
            near,
            scorer=fuzz.partial_ratio,
            processor=_comparable,
            score_cutoff=_CLOSEST_SCORE,
        )
        if best:
            return str(best[0])
    return ""


def _content(quote: str) -> int:
    return sum(word.is_content for word in words.words(fold(quote).text))


def _comparable(text: str) -> str:
    # A lone surrogate is no text to a C++ library.
    return " ".join(text.casefold().split()).encode("utf-8", "replace").decode()


def _places(source: Source, quote: str) -> Iterator[tuple[Span, Match]]:
    """The places where a quote stands whole, the exact ones first."""
    exact = quote.strip()
    for start in _occurrences(source.text, exact):
        span = Span(start, start + len(exact))
        if is_whole(source.text, span):
            yield span, Match.EXACT
    wanted = fold(quote.strip())
    for start in _occurrences(source.folded.key, wanted.key):
        folded = _unfold(source, wanted, start)
        if folded and is_whole(source.text, folded):
            yield folded, Match.FOLDED


def _occurrences(text: str, part: str) -> Iterator[int]:
    at = -1
    for _ in range(MAX_PLACES):
        at = text.find(part, at + 1)
        if at < 0:
            return
        yield at


def _unfold(source: Source, wanted: Folded, start: int) -> Span | None:
    """The source's words for a match in folded text; None where more than presentation differs."""
    there, end = source.folded, start + len(wanted.key)
    first, last = there.source_start(start), there.source_end(end)
    if first is None or last is None or not same_case(there.text[start:end], wanted.text):
        return None
    ours, theirs = wanted.hyphens, there.hyphens_within(start, end)
    agree = all(
        ours.get(at, Hyphen.NONE).agrees(theirs.get(at, Hyphen.NONE))
        for at in ours.keys() | theirs.keys()
    )
    return Span(first, last) if agree else None


def _locate_parts(source: Source, quote: str) -> Found | None:
    """The stretch from the first to the last part of an elided quote.

    It is given whole, so that what was left out is shown; when that holds a negation, an exception
    or a condition, the quote was cut.
    """
    parts = [part for part in _ELLIPSIS.split(quote.strip()) if part.strip()]
    if not 1 < len(parts) <= MAX_PARTS or not all(map(_content, parts)):
        return None
    stretch: Span | None = None
    cut = False
    for part in parts:
        begin = stretch.end if stretch else 0
        place = next((span for span, _ in _places(source, part) if span.start >= begin), None)
        if place is None:
            return None
        if stretch:
            cut = cut or changes_scope(source.text[stretch.end : place.start])
        stretch = Span(stretch.start if stretch else place.start, place.end)
    if stretch is None or _sentences_touched(source, stretch) > MAX_SENTENCES_ELIDED:
        return None
    cut = cut or is_scope_cut(source.text, source.sentences, stretch)
    return Found(stretch, Match.FOLDED, cut)


def _sentences_touched(source: Source, stretch: Span) -> int:
    return sum(s.start < stretch.end and stretch.start < s.end for s in source.sentences)
