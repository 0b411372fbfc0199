"""The words of a sentence that say what each of its figures or dates is one of.

In "sales were 40 in Asia and 25 in Europe" both are sales, and only the first is of Asia.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

from services.verification.evidence import Span
from services.verification.words import content_stems, words

# Where one figure's part of a sentence may end, the firmest break first.
_BREAKS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"[.;!?]\s",
        r"\b(?:while|whereas|but|versus|vs|against|compared (?:with|to)|(?:up|down) from)\b",
        r",? and (?=the |an? |its |their |then )",
        r",\s|\b(?:and|or|from|to)\b",
    )
)
_BEGINS_SENTENCE = 0
# "and 25 in Europe", "and in Europe 25": what stands before belongs to both.
_GOES_ON = re.compile(
    r"\W*(?:(?:and|or|but|while|versus|vs|against|compared (?:with|to)|(?:up |down )?from|to)\b)?"
    r"[\s,]*(?:(?:in|at|for|of|on|by|under|within|during|among)\b.*)?",
    re.IGNORECASE | re.DOTALL,
)
# "opened in 1994 and was widened in 2008": of one thing.
_SHARES_SUBJECT = re.compile(
    r"\W*(?:and|or|but)\s+(?:then\s+)?(?:was|were|is|are|has|had|will|\w+ed)\b", re.IGNORECASE
)
_OF = re.compile(r"\w of\s*\Z", re.IGNORECASE)
# Words of time and of saying tell no two figures apart.
_NEUTRAL = content_stems(
    """
    year quarter month week day period time figure total amount rose fell rise fall increase
    decrease grew grow decline drop stood record report post result respectively compared annual
    """
)


def labels(text: str, figures: Sequence[Span], blank: Sequence[Span]) -> list[frozenset[str]]:
    """The stems of the words that belong to each figure, in the order of the figures.

    Args:
        text: One or more sentences.
        figures: Where the figures stand, in order.
        blank: Stretches whose words say nothing of them: figures, dates and the like.
    """
    if not figures:
        return []
    taken = sorted(blank)
    stems = [
        (word.span.start, word.stem)
        for word in words(text)
        if word.is_content and word.stem not in _NEUTRAL and not _is_in(word.span, taken)
    ]
    edges = [_edge(text, one.end, other.start) for one, other in pairwise(figures)]
    verbs = {word.stem for word in words(text) if word.text.endswith("ed")}
    found = []
    before: frozenset[str] = frozenset()
    starts = [(0, _BEGINS_SENTENCE), *edges]
    ends = [start for start, _ in edges] + [len(text)]
    for figure, (start, firmness), end in zip(figures, starts, ends, strict=True):
        own = _between(stems, start, figure.start)
        # "on revenue of 25" measures revenue, whatever stood before.
        is_of = _OF.search(text, start, figure.start) is not None
        goes_on = not own or (_GOES_ON.fullmatch(text, start, figure.start) and not is_of)
        if firmness > _BEGINS_SENTENCE and goes_on:
            own |= before
        elif firmness > _BEGINS_SENTENCE and _SHARES_SUBJECT.match(text, start, figure.start):
            own |= before - verbs
        before = own
        found.append(own | _between(stems, figure.end, end))
    # "In 2023, sales were": what stands alone in front is of what follows.
    for at in range(len(found) - 2, -1, -1):
        if not found[at] and starts[at + 1][1] > _BEGINS_SENTENCE:
            found[at] = found[at + 1]
    return found


def _edge(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the part of one figure ends and that of the next begins, and how firmly."""
    for firmness, pattern in enumerate(_BREAKS):
        if match := pattern.search(text, start, end):
            return match.start(), firmness
    return start, len(_BREAKS)


def _between(stems: Sequence[tuple[int, str]], start: int, end: int) -> frozenset[str]:
    first = bisect_left(stems, start, key=lambda stem: stem[0])
    last = bisect_left(stems, end, key=lambda stem: stem[0])
    return frozenset(stem for _, stem in stems[first:last])


def _is_in(span: Span, taken: Sequence[Span]) -> bool:
    position = bisect_right(taken, span.start, key=lambda other: other.start) - 1
    return position >= 0 and span.start < taken[position].end
