"""What can be counted about how far cited words carry a statement."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from services.verification.evidence import Code, Reason, Span
from services.verification.opposites import OPPOSITES
from services.verification.scope import NEGATION
from services.verification.source import Cited
from services.verification.words import Word, words

# What a statement says is looked for in this many neighbouring sentences together.
WINDOW = 3
# More of one kind than this tell nothing new.
MAX_COUNT = 3
_FIGURES = frozenset(
    {
        Code.NUMBER_MISMATCH,
        Code.DATE_MISMATCH,
        Code.UNIT_MISMATCH,
        Code.CURRENCY_MISMATCH,
        Code.COMPARATOR_MISMATCH,
    }
)


class Features(NamedTuple):
    """The first two speak for a statement, the others against it; 0 where nothing is found.

    In a table names are abbreviated and a statement's figures are reckoned from its cells: where a
    table is cited, names and figures that it does not have are not held against the statement.

    Attributes:
        coverage: The share of the statement's words in the best few neighbouring sentences; a word
            that few sentences have counts more.
        phrasing: The share of its runs of three words that are cited as they are.
        figures: Its numbers, dates and units that are not the cited ones, up to 3.
        names: Its names that are not cited, up to 3.
        contradicted: 1 where the cited words give another value for one of its figures.
        negated: 1 where it has a negation and the nearest sentence has none.
        turned: Its clauses that say the opposite of the nearest cited ones, up to 3.
        opposed: Its words that are not in the nearest sentences while their opposite is, up to 3.
    """

    coverage: float = 0.0
    phrasing: float = 0.0
    figures: float = 0.0
    names: float = 0.0
    contradicted: float = 0.0
    negated: float = 0.0
    turned: float = 0.0
    opposed: float = 0.0


SUPPORTING = frozenset({"coverage", "phrasing"})


def measure(statement: str, cited: Sequence[Cited], reasons: Sequence[Reason]) -> Features:
    """Counts everything, in time linear in the cited text.

    Args:
        statement: One sentence, without citation markers.
        cited: What it rests on.
        reasons: What facts.py and polarity.py have found wrong with the one, given the other.
    """
    said = words(statement)
    wanted = _keys(said)
    sentences = list(_sentences(cited))
    if not wanted or not sentences:
        return Features()
    read = [words(one.text) for one in sentences]
    stems = [{word.stem for word in sentence} for sentence in read]
    spread = Counter(stem for sentence in stems for stem in sentence)
    # A word tells the more the fewer sentences have it.
    weight = {stem: math.log(1 + len(stems) / (1 + spread[stem])) for stem in wanted}
    held = [wanted & sentence for sentence in stems]
    best, carried = _best_window(held, weight)
    near = sentences[best : best + WINDOW]
    nearest = max(range(len(near)), key=lambda at: _sum(held[best + at], weight))
    around = set().union(*stems[best : best + WINDOW])
    counted = [] if _has_table(cited) else reasons
    negated = NEGATION.search(statement) and not NEGATION.search(near[nearest].text)
    return Features(
        coverage=carried / _sum(wanted, weight),
        phrasing=_phrasing(said, read),
        figures=_count(reason.code in _FIGURES for reason in counted),
        names=_count(reason.code is Code.ENTITY_MISMATCH for reason in counted),
        contradicted=float(any(r.contradicts and r.code in _FIGURES for r in counted)),
        negated=float(bool(negated)),
        turned=_count(reason.code is Code.NEGATION_MISMATCH for reason in reasons),
        opposed=_count(_is_opposed(stem, around, wanted) for stem in wanted),
    )


def _keys(read: Sequence[Word]) -> frozenset[str]:
    """The words that say what a text is about, and its numbers."""
    return frozenset(w.stem for w in read if w.is_content or w.text[0].isdigit())


def _sentences(cited: Sequence[Cited]) -> Iterator[Cited]:
    """The sentences of the cited stretches, each as far as it is cited."""
    for one in cited:
        for span in one.source.sentences:
            start, end = max(span.start, one.span.start), min(span.end, one.span.end)
            if start < end:
                yield Cited(one.source, Span(start, end))


def _best_window(held: Sequence[frozenset[str]], weight: dict[str, float]) -> tuple[int, float]:
    """Where the neighbouring sentences begin that together hold most, and what they hold."""
    best, most = 0, -1.0
    for start in range(len(held)):
        together = frozenset[str]().union(*held[start : start + WINDOW])
        carried = _sum(together, weight)
        if carried > most:
            best, most = start, carried
    return best, most


def _sum(stems: frozenset[str], weight: dict[str, float]) -> float:
    # Exact, and so the same in whatever order a set gives its members.
    return math.fsum(weight[stem] for stem in stems)


def _phrasing(said: Sequence[Word], read: Sequence[Sequence[Word]]) -> float:
    ours = set(_runs(said))
    theirs = {run for sentence in read for run in _runs(sentence)}
    return len(ours & theirs) / len(ours) if ours else 0.0


def _runs(read: Sequence[Word]) -> Iterator[tuple[str, str, str]]:
    stems = [word.stem for word in read]
    return zip(stems, stems[1:], stems[2:], strict=False)


def _is_opposed(stem: str, around: set[str], wanted: frozenset[str]) -> bool:
    opposites = OPPOSITES.get(stem, frozenset())
    return stem not in around and bool(opposites & around) and not opposites & wanted


def _has_table(cited: Sequence[Cited]) -> bool:
    """Whether what is cited has rows of cells one under the other."""
    lines = [line for one in cited for line in one.source.text.splitlines()]
    return any(" | " in one and " | " in other for one, other in pairwise(lines))


def _count(found: Iterator[bool]) -> float:
    return float(min(MAX_COUNT, sum(found)))
