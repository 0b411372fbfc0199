"""The nearest real words to a quote that was not found, and in which words it differs."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from rapidfuzz import fuzz, process

from services.verification.source import Source

_CLOSEST_CHARS = 600
_CLOSEST_SENTENCES = 400
_CLOSEST_SCORE = 45.0
_MAX_DIFFERENCES = 5
_WORD = re.compile(r"\S+")


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


def differences(quote: str, text: str) -> str:
    """What a quote says for the words of a text, as in: "26" for "25", without "not"."""
    ours, theirs = _WORD.findall(quote[:_CLOSEST_CHARS]), _WORD.findall(text[:_CLOSEST_CHARS])
    return ", ".join(list(_differences(ours, theirs))[:_MAX_DIFFERENCES])


def _differences(ours: list[str], theirs: list[str]) -> Iterator[str]:
    matcher = SequenceMatcher(
        None,
        [word.casefold() for word in theirs],
        [word.casefold() for word in ours],
        autojunk=False,
    )
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    for kind, start, end, from_, to in changes:
        real, said = " ".join(theirs[start:end]), " ".join(ours[from_:to])
        if kind == "replace":
            yield f'"{said}" for "{real}"'
        elif kind == "insert":
            yield f'"{said}" added'
        elif start > 0 and end < len(theirs):
            # What stands before or behind the quote's own words is not missing from it.
            yield f'"{real}" left out'


def _comparable(text: str) -> str:
    # A lone surrogate is no text to a C++ library.
    return " ".join(text.casefold().split()).encode("utf-8", "replace").decode()
