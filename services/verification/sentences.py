"""Where sentences begin and end, and which of them state nothing that could be true or false."""

# ruff: noqa: RUF001 - the full stops and dashes of several scripts are meant

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

import nupunkt

from services.verification.evidence import Span
from services.verification.phrases import any_of
from services.verification.words import STOPWORDS

_LINE = re.compile(r"[^\n\f]+")
_LIST_ITEM = re.compile(r"\s*(?:[•▪‣◦●*–-]|\(?\w{1,3}[.)])(?:\s|$)")
_LAST_WORD = re.compile(r"([^\W\d_]+)\W*$")
# Full stops that nupunkt's English model does not know.
_OTHER_STOP = re.compile(r"(?<=[。！？।؟])")
# nupunkt takes quadratic time where nothing ends a sentence, or a word.
_WINDOW = 4_000
_STOP = re.compile(r"[.!?][\"'”’)\]]{0,2}\s+(?=\W{0,2}[^\W\da-z])")
# A line that ends this much before the widest one was ended by its author, not by the margin.
_RAGGED = 0.8

_NO_STATEMENT = re.compile(r"#{1,6}\s|\|?[\s:|-]+$")
_GREETING = re.compile(
    any_of(
        r"""
        hi | hello | hey | dear \w+ | good (?:morning|afternoon|evening) | thank(?:s| you)\b.*
        you'?re welcome | welcome | sure | certainly | of course | absolutely | great question
        happy to help | (?:i )?hope (?:this|that) helps\b.* | (?:please )?let me know\b.*
        feel free to\b.* | (?:best |kind |warm )?regards\b.* | sincerely\b.*
        is there anything else\b.* | (?:in )?(?:summary|conclusion) | sources? | references?
        here(?:'s| is| are) (?:the|a|an|your|what)\b[^.:]{0,60}
        (?:i|we)(?:'d| would) be happy to\b.*
        """
    )
    + "(?: there| all| everyone| team)?",
    re.IGNORECASE | re.DOTALL,
)


def spans(text: str, titles: Collection[str] = ()) -> list[Span]:
    """The sentences of a text in order, without the white space around them.

    Args:
        text: Any text; line breaks in it may be the margin's or the author's.
        titles: Headings; a line that is one of them is a sentence of its own.
    """
    return [span for block in _blocks(text, titles) for span in _split(text, block)]


def around(sentences: Sequence[Span], span: Span) -> Span:
    """From the start of the sentence in which a span begins to the end of that in which it ends."""
    within = touched(sentences, span)
    if not within:
        return span
    return Span(min(within[0].start, span.start), max(within[-1].end, span.end))


def touched(sentences: Sequence[Span], span: Span) -> Sequence[Span]:
    """The sentences of which a span has a part."""
    first = bisect_right(sentences, span.start, key=lambda sentence: sentence.end)
    last = bisect_left(sentences, span.end, key=lambda sentence: sentence.start)
    return sentences[first:last]


def states_something(sentence: str) -> bool:
    """False for greetings, headings, questions and markup: nothing in them is true or false."""
    bare = sentence.strip()
    if not any(char.isalnum() for char in bare) or _NO_STATEMENT.match(bare):
        return False
    if bare.endswith(("?", "？", "؟", ":")):
        return False
    return _GREETING.fullmatch(bare.rstrip(" .!,;:")) is None


def is_list_item(sentence: str) -> bool:
    return _LIST_ITEM.match(sentence) is not None


def _blocks(text: str, titles: Collection[str]) -> Iterator[Span]:
    """Runs of lines in which only the margin broke the lines."""
    lines = [Span(found.start(), found.end()) for found in _LINE.finditer(text)]
    if not lines:
        return
    known = {_plain(title) for title in titles}
    width = max(len(text[line.start : line.end].strip()) for line in lines)
    start = lines[0].start
    for line, following in pairwise(lines):
        if _ends(text, line, following, width, known):
            yield Span(start, line.end)
            start = following.start
    yield Span(start, lines[-1].end)


def _ends(text: str, line: Span, following: Span, width: int, titles: set[str]) -> bool:
    """Whether what a line says ends with it."""
    one, other = text[line.start : line.end], text[following.start : following.end].strip()
    blank_line = text.count("\n", line.end, following.start) > 1
    if blank_line or not one.strip() or not other:
        return True
    if is_list_item(other) or {_plain(one), _plain(other)} & titles:
        return True
    room = width * _RAGGED - len(one.strip())
    if other[0].islower() or len(other.split(maxsplit=1)[0]) + 1 >= room:
        return False
    # No heading and no sentence ends with "that" or "the"; a line in large print may.
    last = _LAST_WORD.search(one)
    return last is None or last[1] not in STOPWORDS


def _split(text: str, block: Span) -> Iterator[Span]:
    edges = [block.start]
    edges += [found.start() for found in _OTHER_STOP.finditer(text, block.start, block.end)]
    for first, last in pairwise([*edges, block.end]):
        for window in _windows(text, Span(first, last)):
            for start, end in _found(text[window.start : window.end]):
                piece = text[window.start + start : window.start + end]
                if stripped := piece.strip():
                    begin = window.start + start + piece.index(stripped)
                    yield Span(begin, begin + len(stripped))


def _found(text: str) -> Iterator[tuple[int, int]]:
    """What nupunkt finds; the mark of an image in Markdown ends no sentence."""
    begin = 0
    for start, end in nupunkt.sent_spans(text):
        if text[end - 1 : end + 1] == "![":
            begin = begin or start + 1
            continue
        yield (begin - 1 if begin else start), end
        begin = 0


def _windows(text: str, span: Span) -> Iterator[Span]:
    """Pieces no longer than nupunkt reads in linear time, cut at a full stop, else at a space."""
    start = span.start
    while span.end - start > _WINDOW:
        limit = start + _WINDOW
        stops = [found.end() for found in _STOP.finditer(text, start + 1, limit)]
        cut = stops[-1] if stops else max(text.rfind(" ", start + 1, limit), start) + 1
        cut = cut if cut > start + 1 else limit
        yield Span(start, cut)
        start = cut
    yield Span(start, span.end)


def _plain(line: str) -> str:
    return " ".join(line.strip().lstrip("#").casefold().split())
