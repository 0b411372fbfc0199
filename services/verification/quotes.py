"""Finds a quote in the text it claims to come from, and cuts the real words from there."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from rapidfuzz import fuzz, process

from services.verification import quantities, sentences, words
from services.verification.evidence import Match, Passage, Span
from services.verification.folding import Folded, Hyphen, fold, is_unspaced
from services.verification.scope import changes_scope, is_scope_cut

# A quote is looked at in this many places of a passage at most; none good among them is "not found".
MAX_PLACES = 256
# A quote with few content words that occurs more often than this points at nothing.
MAX_OCCURRENCES = 8
MIN_WORDS_OF_A_REPEATED_QUOTE = 3

_CLOSEST_CHARS = 600
_CLOSEST_SENTENCES = 400
_CLOSEST_SCORE = 45.0
_NEIGHBOURHOOD = 80
_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:…|\.\.\.)\s*\]|\(\s*(?:…|\.\.\.)\s*\)|…|\.\.\.)\s*")
_INSIDE_WORDS = "-‐‑'’/_\u00ad"
# All caps, these are other words; capitalized, those are.
_OTHER_IN_CAPS = frozenset({"us", "it", "who", "aids", "or", "in", "am", "pm", "un", "eu"})
_OTHER_IN_TITLE = frozenset({"may", "march", "august", "polish", "turkey", "china"})


class Source:
    """A passage with what is computed from its text once, when it is first needed."""

    def __init__(self, passage: Passage) -> None:
        self.passage = passage

    @property
    def text(self) -> str:
        return self.passage.text

    @cached_property
    def folded(self) -> Folded:
        return fold(self.text)

    @cached_property
    def sentences(self) -> list[Span]:
        return sentences.spans(self.text)


@dataclass(frozen=True, slots=True)
class Cited:
    """A stretch of a source that a statement rests on."""

    source: Source
    span: Span

    @property
    def text(self) -> str:
        return self.source.text[self.span.start : self.span.end]

    @property
    def sentence(self) -> Span:
        """The sentences it lies in."""
        return sentences.around(self.source.sentences, self.span)


@dataclass(frozen=True, slots=True)
class Found:
    """Where a quote stands. `is_cut` when what governs it stands just outside."""

    span: Span
    match: Match
    is_cut: bool = False


def locate(source: Source, quote: str) -> Found | None:
    """The first whole place of a quote in a source: as it is, else folded, else as the parts of an elision.

    A place that is cut out of the scope of a negation or condition is given only when there is no other.
    """
    wanted = fold(quote)
    if not _content(wanted.text):
        return None
    best: Found | None = None
    for found in _places(source, quote, wanted):
        place = Found(
            found.span, found.match, is_scope_cut(source.text, source.sentences, found.span)
        )
        if not place.is_cut:
            return place
        best = best or place
    return best or _locate_parts(source, quote)


def is_too_short(quote: str, source: Source | None) -> bool:
    """Whether a quote points at nothing: no content word, or few words that stand in many places."""
    wanted = fold(quote)
    content = _content(wanted.text)
    if not content:
        return True
    if source is None or content >= MIN_WORDS_OF_A_REPEATED_QUOTE:
        return False
    return source.folded.key.count(wanted.key.strip()) > MAX_OCCURRENCES


def closest(quote: str, sources: Sequence[Source]) -> str:
    """The sentence most like a quote, as a hint for the next attempt; empty when none is like it."""
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
            score_cutoff=_CLOSEST_SCORE,
            processor=_comparable,
        )
        if best:
            return str(best[0])
    return ""


def is_whole(text: str, span: Span) -> bool:
    """Whether a span neither begins nor ends inside a word or a number."""
    if _is_joined(text, span.start) or _is_joined(text, span.end):
        return False
    return not any(_cuts_number(text, edge) for edge in (span.start, span.end))


def _comparable(text: str) -> str:
    return " ".join(text.casefold().split()).encode("utf-8", "replace").decode()


def _content(text: str) -> int:
    return sum(word.is_content for word in words.words(text))


def _places(source: Source, quote: str, wanted: Folded) -> Iterator[Found]:
    exact = quote.strip()
    at = source.text.find(exact)
    for _ in range(MAX_PLACES):
        if at < 0:
            break
        span = Span(at, at + len(exact))
        if is_whole(source.text, span):
            yield Found(span, Match.EXACT)
        at = source.text.find(exact, at + 1)
    key = wanted.key.strip()
    lead = len(wanted.key) - len(wanted.key.lstrip())
    at = source.folded.key.find(key)
    for _ in range(MAX_PLACES):
        if at < 0:
            return
        folded_span = _unfold(source, wanted, lead, at, at + len(key))
        if folded_span and is_whole(source.text, folded_span):
            yield Found(folded_span, Match.FOLDED)
        at = source.folded.key.find(key, at + 1)


def _unfold(source: Source, wanted: Folded, lead: int, start: int, end: int) -> Span | None:
    """The place in the source of a match in its folded text; None where they differ in more than presentation."""
    there = source.folded
    first, last = there.source_start(start), there.source_end(end)
    if first is None or last is None:
        return None
    ours = wanted.hyphens_within(lead, lead + end - start)
    theirs = there.hyphens_within(start, end)
    if any(
        not ours.get(at, Hyphen.NONE).agrees(theirs.get(at, Hyphen.NONE))
        for at in ours.keys() | theirs.keys()
    ):
        return None
    if not _same_case(there.text[start:end], wanted.text[lead : lead + end - start]):
        return None
    return Span(first, last)


def _same_case(theirs: str, ours: str) -> bool:
    """Whether two texts that differ in case only mean the same: not US for us, mW for MW or May for may."""
    if theirs == ours:
        return True
    pairs = [(theirs[w.span.start : w.span.end], w.text, w.span) for w in words.words(ours)]
    for index, (a, b, span) in enumerate(pairs):
        if a == b:
            continue
        if any(c.isdigit() for c in a) or re.search(
            r"\d\s?$", ours[max(0, span.start - 2) : span.start]
        ):
            return False
        if not all(_is_plain_case(form) for form in (a, b)):
            return False
        shouted = a if a.isupper() and len(a) > 1 else b
        if shouted.isupper() and shouted.lower() in _OTHER_IN_CAPS:
            # In a line of capitals a capital says nothing.
            side = 0 if shouted is a else 1
            neighbours = [
                p[side] for p in pairs[max(0, index - 1) : index + 2] if p is not pairs[index]
            ]
            if not all(n.isupper() and len(n) > 1 for n in neighbours) or not neighbours:
                return False
        if a.lower() in _OTHER_IN_TITLE and not (a.isupper() or b.isupper()):
            return False
    return True


def _is_plain_case(word: str) -> bool:
    return word.islower() or word.isupper() or word[1:].islower() or word == word.lower()


def _is_joined(text: str, at: int) -> bool:
    """Whether the characters on both sides of a position belong to one word or number."""
    before, after = text[max(0, at - 4) : at], text[at : at + 4]
    left, right = before.rstrip("\u00ad\u200b\u2060"), after.lstrip("\u00ad\u200b\u2060")
    if not left or not right:
        return False
    if _is_inner(left[-1]) and _is_inner(right[0]):
        if left[-1].isdigit() or right[0].isdigit():
            return not is_unspaced(left[-1])
        return not (is_unspaced(left[-1]) and is_unspaced(right[0]))
    if _is_inner(left[-1]) and _is_connector(right):
        return True
    return _is_inner(right[0]) and _is_connector(left[::-1])


def _is_connector(run: str) -> bool:
    """Whether a run that starts outside a word and leads away from it goes on with the same word."""
    bridge = run[0]
    beyond = run[1:]
    if bridge in "-‐‑" and beyond[:1] in {"\n", "\r"}:
        beyond = beyond.lstrip()
    elif bridge in "\n\r" and beyond.lstrip()[:1] in {"-", "‐", "‑"}:
        bridge, beyond = "-", beyond.lstrip()[1:]
    if not beyond or not _is_inner(beyond[0]):
        return False
    return bridge in _INSIDE_WORDS or (bridge in ".,:" and beyond[0].isdigit())


def _is_inner(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char)[0] == "M"


def _cuts_number(text: str, edge: int) -> bool:
    """Whether an edge lies inside a number with its sign, parentheses, currency, scale or unit."""
    start = max(0, edge - _NEIGHBOURHOOD)
    near = text[start : edge + _NEIGHBOURHOOD]
    if not any(c.isnumeric() for c in near[max(0, edge - start - 30) : edge - start + 30]):
        return False
    return any(q.span.start < edge - start < q.span.end for q in quantities.find(near))


def _locate_parts(source: Source, quote: str) -> Found | None:
    """The stretch from the first to the last part of an elided quote, all inside adjacent sentences.

    The stretch is given whole, so that what was left out is shown; when that holds a negation, an exception
    or a condition, the quote was cut.
    """
    parts = [part for part in _ELLIPSIS.split(quote.strip()) if part.strip()]
    if not 2 <= len(parts) <= MAX_PARTS:
        return None
    stretch: Span | None = None
    cut = False
    for part in parts:
        wanted = fold(part)
        if not _content(wanted.text):
            return None
        begin = stretch.end if stretch else 0
        place = next((f for f in _places(source, part, wanted) if f.span.start >= begin), None)
        if place is None:
            return None
        if stretch is None:
            stretch = place.span
        else:
            cut = cut or changes_scope(source.text[stretch.end : place.span.start])
            stretch = Span(stretch.start, place.span.end)
    if (
        stretch is None
        or len([s for s in source.sentences if s.start < stretch.end and stretch.start < s.end]) > 2
    ):
        return None
    return Found(stretch, Match.FOLDED, cut or is_scope_cut(source.text, source.sentences, stretch))


MAX_PARTS = 8
