"""Citation markers inside an answer's text: [1], [src_0], (p. 42), and which facts they mean."""

# ruff: noqa: RUF001 - en dashes between numbers are meant

import re
from collections.abc import Iterator, Sequence

_NUMBERS = r"\^?\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*"
_NAME = r"(?:src|source|doc|fact|ref|citation|passage)[ _:#-]?[\w.-]{1,64}"
_PAGE = r"[(\[](?:see )?(?:pp?\.|pages?)\s?\d+(?:\s?[–-]\s?\d+)?[)\]]"
_MARKER = re.compile(
    rf"\s?(?:\[(?P<refs>{_NUMBERS}|{_NAME}(?:\s?[,;]\s?{_NAME})*)\]|{_PAGE})", re.IGNORECASE
)
_RANGE = re.compile(r"(\d+)\s?[–-]\s?(\d+)")
_FROM_NOUGHT = re.compile(r"\[0\s?[],;]")
_LONGEST_RANGE = 50


def without_markers(text: str) -> str:
    """The text with blanks where its markers were, so that every offset stays what it was."""
    return _MARKER.sub(lambda found: " " * len(found[0]), text)


class Naming:
    """How an answer names its facts.

    A marker is a fact's id; else a bare number counts the facts from 1, or from 0 in an answer that
    has a [0]; else the number behind a word, as in [src_0], counts from 0.
    """

    def __init__(self, answer: str, ids: Sequence[str]) -> None:
        self._count = len(ids)
        self._first = 0 if _FROM_NOUGHT.search(answer) else 1
        # Ids that are only the positions are no names of the caller's.
        named = [] if list(ids) == [str(n) for n in range(len(ids))] else list(enumerate(ids))
        self._by_id = {id_: index for index, id_ in reversed(named)}

    def cited(self, text: str) -> Iterator[int | None]:
        """The facts that the markers of a text name, in order; None where one names no fact."""
        for found in _MARKER.finditer(text):
            for name in _names(found["refs"] or ""):
                yield self._by_id.get(name, self._by_number(name))

    def _by_number(self, name: str) -> int | None:
        digits = re.search(r"\d{1,9}$", name)
        if digits is None:
            return None
        index = int(digits[0]) - (self._first if name.isdecimal() else 0)
        return index if 0 <= index < self._count else None


def _names(refs: str) -> Iterator[str]:
    for part in re.split(r"\s?[,;]\s?", refs.lstrip("^")):
        bounds = _RANGE.fullmatch(part)
        if bounds and 0 <= int(bounds[2]) - int(bounds[1]) < _LONGEST_RANGE:
            yield from map(str, range(int(bounds[1]), int(bounds[2]) + 1))
        elif part:
            yield part
