"""Citation markers inside an answer's text: [1], [src_0], (p. 42), and which facts they mean."""

import re
from collections.abc import Iterator, Sequence

_NUMBERED = r"(?:\^?\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*)"
_NAMED = r"(?:(?:src|source|doc|fact|ref|citation|passage)[ _:#-]?[\w.-]{1,64}(?:\s?[,;]\s?(?:src|source|doc|fact|ref)[ _:#-]?[\w.-]{1,64})*)"
_MARKER = re.compile(
    rf"\s?(?:\[(?P<refs>{_NUMBERED}|{_NAMED})\]|【[^】]{{1,40}}】|[(\[](?:see )?(?:pp?\.|pages?)\s?\d+(?:\s?[–-]\s?\d+)?[)\]])",
    re.IGNORECASE,
)


def without_markers(text: str) -> str:
    """The text with blanks where its markers were, so that every offset stays what it was."""
    return _MARKER.sub(lambda found: " " * len(found[0]), text)


def cited_facts(text: str, ids: Sequence[str]) -> Iterator[int | None]:
    """The facts that the markers of a text name, in order; None for a marker that names none of them.

    A marker is a fact's id, or else its number: [1] is the first fact, [src_0] counts from nought.
    """
    by_id = {id_: index for index, id_ in reversed(list(enumerate(ids)))}
    for found in _MARKER.finditer(text):
        for name in _names(found["refs"] or ""):
            yield by_id.get(name, _by_number(name, len(ids)))


def _names(refs: str) -> Iterator[str]:
    for part in re.split(r"\s?[,;]\s?", refs.strip("^")):
        bounds = re.fullmatch(r"(\d+)\s?[–-]\s?(\d+)", part)
        if bounds and 0 <= int(bounds[2]) - int(bounds[1]) < 100:  # noqa: PLR2004 - a longer range is no citation
            yield from map(str, range(int(bounds[1]), int(bounds[2]) + 1))
        elif part:
            yield part


def _by_number(name: str, count: int) -> int | None:
    digits = re.search(r"\d+$", name)
    if digits is None:
        return None
    index = int(digits[0]) - (1 if name.isdigit() else 0)
    return index if 0 <= index < count else None
