"""Whether a stretch of text begins and ends where a word or a number does."""

# ruff: noqa: RUF001 - typographic hyphens and apostrophes are meant

import re
import unicodedata

from services.verification import quantities
from services.verification.evidence import Span
from services.verification.folding import is_unspaced, unwrapped

# Inside a word or between the parts of one.
_HYPHENS = "-‐‑"
_CONNECTORS = _HYPHENS + "'’/_"
_POINTS = ".,:"
_INVISIBLE = "\u00ad\u200b\u2060"
# A word that goes on over a line end.
_WRAPPED_BEFORE = re.compile(rf"[^\W_][{re.escape(_HYPHENS)}][^\S\n]{{0,8}}\n\s{{0,8}}\Z")
_WRAPPED_AFTER = re.compile(rf"[{re.escape(_HYPHENS)}][^\S\n]{{0,8}}\n\s{{0,8}}[^\W_]")
# How far a number with its sign, currency, scale and unit may reach.
_REACH = 80


def is_whole(text: str, span: Span) -> bool:
    """Whether a span cuts neither a word nor a number with its sign, currency, scale and unit."""
    return not any(
        _is_joined(text, edge) or _cuts_number(text, edge) for edge in (span.start, span.end)
    )


def _is_joined(text: str, at: int) -> bool:
    """Whether the characters on both sides of a position belong to one word or number."""
    left = text[max(0, at - 4) : at].rstrip(_INVISIBLE)
    right = text[at : at + 4].lstrip(_INVISIBLE)
    if not left or not right:
        return False
    before, after = left[-1], right[0]
    if _is_inner(before) and _is_inner(after):
        if before.isdigit() or after.isdigit():
            return not is_unspaced(before)
        return not (is_unspaced(before) and is_unspaced(after))
    if _is_inner(before):
        return _goes_on(right) or _WRAPPED_AFTER.match(text, at) is not None
    return _is_inner(after) and (
        _goes_on(left[::-1]) or _WRAPPED_BEFORE.search(text, max(0, at - 20), at) is not None
    )


def _goes_on(run: str) -> bool:
    """Whether a run of characters, leading away from a word, connects it with more of the same."""
    bridge, beyond = run[0], run[1:]
    if not beyond or not _is_inner(beyond[0]):
        return False
    return bridge in _CONNECTORS or (bridge in _POINTS and beyond[0].isdigit())


def _is_inner(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char)[0] == "M"


def _cuts_number(text: str, edge: int) -> bool:
    before = unwrapped(text[max(0, edge - _REACH) : edge]).text
    near = before + unwrapped(text[edge : edge + _REACH]).text
    return any(q.span.start < len(before) < q.span.end for q in quantities.find(near))
