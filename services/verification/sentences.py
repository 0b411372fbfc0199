"""Where sentences begin and end, and which of them state nothing that could be true or false."""

import re
from collections.abc import Iterator

import nupunkt

from services.verification.evidence import Span

# Breaks that hold whatever the words say: a blank line, the start of a list item, and the full stops
# of scripts that nupunkt's English model does not know.
_HARD_BREAK = re.compile(
    r"\n[^\S\n]*\n\s*|\n(?=[^\S\n]*(?:[•▪‣◦●*\-–]|\(?\w{1,3}[.)])\s)|(?<=[。！？।؟])"
)
_MARKUP = re.compile(r"\s*(?:#{1,6}\s|[-*•]\s*$|\|?[\s:|-]+$)")
_GREETING = re.compile(
    r"(?:hi|hello|hey|dear \w+|good (?:morning|afternoon|evening)|thank(?:s| you)\b.*|you'?re welcome"
    r"|welcome|sure|certainly|of course|absolutely|great question|happy to help"
    r"|(?:i )?hope (?:this|that) helps\b.*|let me know if\b.*|feel free to\b.*|please let me know\b.*"
    r"|(?:best|kind|warm)? ?regards\b.*|sincerely\b.*|is there anything else\b.*"
    r"|here(?:'s| is| are) (?:the|a|an|your|what)\b[^.:]{0,60}|(?:in )?(?:summary|conclusion)|sources?|references?"
    r"|(?:i|we)(?:'d| would) be happy to\b.*)(?: there| all| everyone| team)?",
    re.IGNORECASE,
)


def spans(text: str) -> list[Span]:
    """The sentences of a text in order, without the white space around them; takes linear time."""
    return [span for block in _blocks(text) for span in _split(text, block)]


def around(sentences: list[Span], span: Span) -> Span:
    """From the start of the sentence in which a span begins to the end of the one in which it ends."""
    touched = [s for s in sentences if s.start < span.end and span.start < s.end]
    if not touched:
        return span
    return Span(min(touched[0].start, span.start), max(touched[-1].end, span.end))


def states_something(sentence: str) -> bool:
    """False for greetings, headings, questions and bare markup: nothing in them is true or false."""
    bare = sentence.strip()
    if not any(c.isalnum() for c in bare) or _MARKUP.match(bare):
        return False
    if bare.endswith(("?", "？", "؟", ":")):
        return False
    return _GREETING.fullmatch(bare.rstrip(" .!,;:")) is None


def _blocks(text: str) -> Iterator[Span]:
    start = 0
    for found in _HARD_BREAK.finditer(text):
        if found.start() > start:
            yield Span(start, found.start())
        start = found.end()
    if start < len(text):
        yield Span(start, len(text))


def _split(text: str, block: Span) -> Iterator[Span]:
    for start, end in nupunkt.sent_spans(text[block.start : block.end]):
        piece = text[block.start + start : block.start + end]
        stripped = piece.strip()
        if stripped:
            first = block.start + start + len(piece) - len(piece.lstrip())
            yield Span(first, first + len(stripped))
