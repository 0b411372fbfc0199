"""Finds a quote in the text it claims to come from, and says where the real words stand."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import islice

from services.verification import typesetting, words
from services.verification.capitals import same_case
from services.verification.characters import starts_item, without_padding
from services.verification.dashes import DASHES, Dash
from services.verification.edges import is_whole
from services.verification.evidence import Match, Span
from services.verification.folding import Folded, fold
from services.verification.languages import LITTLE_WORDS, LITTLE_WORDS_ELSEWHERE
from services.verification.scope import changes_scope, is_scope_cut, sentence_at
from services.verification.source import Source

# A quote is looked at in this many places at most; with none good among them it is not found.
MAX_PLACES = 256
# A quote with few content words that stands in more places than this points at none of them.
MAX_OCCURRENCES = 8
ENOUGH_WORDS = 3
# An elided quote: so many parts, within so many adjacent sentences.
MAX_PARTS = 8
MAX_SENTENCES_ELIDED = 2
MAX_ELIDED = 4_000
MAX_PLACES_ELIDED = 16

# A quote is asked for in each of the passages, one after the other; longer ones fill the memory.
MAX_REMEMBERED = 2_000
# Comparing a long quote in many places takes no more than this many characters in all.
MAX_COMPARED = 4_000_000

_LITTLE = {
    language: frozenset(little.split()) | (words.STOPWORDS if language == "en" else frozenset())
    for language, little in (LITTLE_WORDS | LITTLE_WORDS_ELSEWHERE).items()
}
# What may stand before the first word of a sentence that is quoted.
_ITEM_MARK = re.compile(r"\W*(?:\(?\w{1,3}[.)]\s)?\W*")
_DOTS = r"(?:…|\.\s?\.\s?\.)+\.?"
_ELLIPSIS = re.compile(rf"\s*(?:\[\s?{_DOTS}\s?\]|\(\s?{_DOTS}\s?\)|{_DOTS})\s*")


class Cut(StrEnum):
    """How a quote that is literally there was cut so that it says something else."""

    # What governs it stands just outside.
    SCOPE = "SCOPE"
    # What it leaves out between its parts holds a negation, an exception or a condition.
    ELISION = "ELISION"


@dataclass(frozen=True, slots=True)
class Found:
    """Where a quote stands: from its first word to its last, with what it leaves out between."""

    span: Span
    match: Match
    cut: Cut | None = None


def locate(source: Source, quote: str) -> Found | None:
    """The first whole place of a quote: all of it, else as the parts of an elision.

    A place that is cut from under a negation or condition is given only when there is no other. A
    quote that holds furniture is looked for in the text as it is printed.
    """
    if not _wanted(quote).content:
        return None
    found = _locate(source, quote)
    if found or not source.as_printed:
        return found
    found = _locate(source.as_printed, quote)
    if found is None or not _holds_furniture(source, found.span):
        return None
    if not found.cut and _is_cut_in_body(source, found.span):
        return replace(found, cut=Cut.SCOPE)
    return found


def _locate(source: Source, quote: str) -> Found | None:
    best: Found | None = None
    for span, match in _places(source, quote):
        if not is_scope_cut(source.body, source.sentences, span):
            return Found(span, match)
        best = best or Found(span, match, Cut.SCOPE)
    return best or _locate_parts(source, quote)


def _holds_furniture(source: Source, span: Span) -> bool:
    return source.body[span.start : span.end] != source.text[span.start : span.end]


def _is_cut_in_body(source: Source, span: Span) -> bool:
    """Whether what a quote has beside furniture is cut from what governs it."""
    said = source.body[span.start : span.end]
    start = span.start + len(said) - len(said.lstrip())
    within = Span(start, span.start + len(said.rstrip()))
    return bool(said.strip()) and is_scope_cut(source.body, source.sentences, within)


def is_too_short(quote: str, source: Source | None) -> bool:
    """Whether a quote points at nothing: no content word, or few that stand in many places."""
    content = _wanted(quote).content
    if content == 0 or source is None or content >= ENOUGH_WORDS:
        return content == 0
    return source.folded.key.count(_wanted(quote).folded.key) > MAX_OCCURRENCES


def forget() -> None:
    """Drop what is remembered of quotes: a measurement wants the first time."""
    _remembered.cache_clear()
    _last.cache_clear()


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A quote as it is searched, and how many of its words carry content, up to ENOUGH_WORDS."""

    folded: Folded
    content: int


def _wanted(quote: str) -> _Wanted:
    return (_remembered if len(quote) <= MAX_REMEMBERED else _last)(quote)


def _read(quote: str) -> _Wanted:
    folded = fold(without_padding(quote))
    return _Wanted(folded, _content(folded.text))


_remembered = lru_cache(maxsize=1_000)(_read)
_last = lru_cache(maxsize=2)(_read)


def _content(text: str) -> int:
    """Numbers and little words carry none; counted as of the language in which it says least."""
    counts = dict.fromkeys(_LITTLE, 0)
    for found in words.WORD.finditer(text):
        word = found.group().lower()
        if not word[0].isalpha():
            continue
        for language, little in _LITTLE.items():
            counts[language] += word not in little
        if min(counts.values()) >= ENOUGH_WORDS:
            break
    return min(counts.values())


def _places(source: Source, quote: str) -> Iterator[tuple[Span, Match]]:
    """The places where a quote stands whole, in the order of the text."""
    exact = quote.strip()
    found = False
    for span in _standing(source.folded, source.body, _wanted(exact).folded):
        found = True
        yield span, Match.EXACT if source.text[span.start : span.end] == exact else Match.FOLDED
    if not found:
        # Page furniture that is quoted for its own sake.
        for start in _occurrences(source.text, exact):
            span = Span(start, start + len(exact))
            if _holds_furniture(source, span) and is_whole(source.text, span):
                found = True
                yield span, Match.EXACT
    if not found:
        yield from ((span, Match.FOLDED) for span in _set_otherwise(source, exact))


def _set_otherwise(source: Source, quote: str) -> Iterator[Span]:
    """The places of a quote that is set in another way than the text: see typesetting.py."""
    copied = typesetting.copied(quote)
    found = False
    if copied != quote or source.plain is not source.folded:
        for span in _standing(source.plain, source.unmarked, _wanted(copied).folded):
            found = True
            yield span
    if not found and copied.endswith(".") and not copied.endswith(".."):
        # A full stop put to a line that has none: an item of a list, a cell, a heading.
        for span in _standing(source.plain, source.unmarked, _wanted(copied[:-1]).folded):
            sentence = source.sentences[sentence_at(source.sentences, span.end - 1)]
            if source.body[span.end : sentence.end].strip() in {"", ";"}:
                yield span


def _standing(text: Folded, body: str, wanted: Folded) -> Iterator[Span]:
    """The whole places of a folded quote in a folded text, and where they are in its body."""
    if not wanted.key:
        return
    for start in _occurrences(text.key, wanted.key):
        span = _unfold(text, body, wanted, start)
        if span and is_whole(body, span):
            yield span


def _occurrences(text: str, part: str) -> Iterator[int]:
    at = -1
    for _ in range(max(1, min(MAX_PLACES, MAX_COMPARED // max(len(part), 1)))):
        at = text.find(part, at + 1)
        if at < 0:
            return
        yield at


def _unfold(there: Folded, body: str, wanted: Folded, start: int) -> Span | None:
    """The source's words for a match in folded text; None where more than presentation differs."""
    end = start + len(wanted.key)
    first, last = there.source_start(start), there.source_end(end)
    ours, theirs, length = wanted.dashes, there.dashes_within(start, end), end - start
    if first is None or last is None:
        return None
    if not same_case(there.text[start:end], wanted.text, ours.keys() | theirs.keys()):
        return None
    # A dash of the source around the quote is none of the quote's.
    inner = {at for at in theirs if 0 < at < length}
    for at in ours.keys() | inner:
        if not ours.get(at, Dash.NONE).agrees(theirs.get(at, Dash.NONE)):
            return None
    if 0 in ours and 0 in theirs:
        first = there.dash_start(start)
    elif 0 in ours and not starts_item(body, first):
        return None
    if length in ours and length in theirs:
        last = there.dash_start(end)
        while body[last : last + 1] in DASHES:
            last += 1
    return Span(first, last)


def _locate_parts(source: Source, quote: str) -> Found | None:
    """The stretch from the first to the last part of an elided quote.

    It is given whole, so that what was left out is shown; when that holds a negation, an exception
    or a condition, the quote was cut.
    """
    parts = [part for part in _ELLIPSIS.split(quote.strip()) if part.strip()]
    if not parts or len(parts) > MAX_PARTS or parts == [quote.strip()]:
        return None
    best: Found | None = None
    anchor = max(range(len(parts)), key=lambda number: len(parts[number]))
    for place, _ in islice(_places(source, parts[anchor]), MAX_PLACES_ELIDED):
        found = _around(source, parts, anchor, place)
        if found and not found.cut:
            return found
        best = best or found
    return best


def _around(source: Source, parts: list[str], anchor: int, place: Span) -> Found | None:
    """The other parts in order around one of them, each as near as it stands."""
    sentences = source.sentences
    first, last = sentence_at(sentences, place.start), sentence_at(sentences, place.end - 1)
    window = Span(
        max(sentences[max(first - 1, 0)].start, place.start - MAX_ELIDED),
        min(sentences[min(last + 1, len(sentences) - 1)].end, place.end + MAX_ELIDED),
    )
    near = source.part(window)
    stretch = place.shifted(-window.start)
    gaps: list[Span] = []
    for part in reversed(parts[:anchor]):
        before = [span for span, _ in _places(near, part) if span.end <= stretch.start]
        if not before:
            return None
        gaps.append(Span(before[-1].end, stretch.start))
        stretch = Span(before[-1].start, stretch.end)
    for part in parts[anchor + 1 :]:
        behind = next((s for s, _ in _places(near, part) if s.start >= stretch.end), None)
        if behind is None:
            return None
        gaps.append(Span(stretch.end, behind.start))
        stretch = Span(stretch.start, behind.end)
    whole = stretch.shifted(window.start)
    touched = sentence_at(sentences, whole.end - 1) - sentence_at(sentences, whole.start) + 1
    if touched > MAX_SENTENCES_ELIDED:
        return None
    said = near.body[stretch.start : stretch.end]
    if any(changes_scope(near.body[gap.start : gap.end], said) for gap in gaps):
        return Found(whole, Match.FOLDED, Cut.ELISION)
    if any(_joins_sentences(source, gap.shifted(window.start)) for gap in gaps):
        return None
    cut = is_scope_cut(source.body, sentences, whole)
    return Found(whole, Match.FOLDED, Cut.SCOPE if cut else None)


def _joins_sentences(source: Source, gap: Span) -> bool:
    """Whether what is left out makes one sentence of parts of two.

    The next part begins a sentence, or follows a whole one and lacks no more than its pronoun. One
    that is broken off must hold no negation and no condition: it would be read with what follows.
    """
    before = source.sentences[sentence_at(source.sentences, gap.start - 1)]
    behind = source.sentences[sentence_at(source.sentences, gap.end)]
    if before == behind:
        return False
    is_broken_off = words.WORD.search(source.body, gap.start, before.end) is not None
    head = source.body[behind.start : gap.end]
    if not _ITEM_MARK.fullmatch(head):
        return is_broken_off or not _is_little(head)
    said = source.body[before.start : gap.start]
    return is_broken_off and changes_scope(said, said)


def _is_little(text: str) -> bool:
    return all(found[0].lower() in words.STOPWORDS for found in words.WORD.finditer(text))
