"""The rows the support scorer is fitted on: licensed, clean of every set reported, and varied.

The licensed sets alone say little of evidence that does not fit at all, or of a statement that is
right but for one word, which are what a drafter gets wrong. Both are made from supported claims.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchmarks.claim_rows import Row
from services.verification.evidence import Passage
from services.verification.source import Source
from services.verification.words import STOPWORDS, content_stems

# Not fool-me-twice: its evidence is cut from articles whose titles the pool leaves out, so that
# what a true claim is about is named nowhere. The other sets of the pool state no licence.
LICENSED = ("expertqa", "fever-symmetric", "wice")
# The same sentence at this many letters is the same sentence, not a phrase.
_LONG = 100
_SAME = 200
# A word in more evidence than this finds no neighbour.
_COMMON = 300
_CANDIDATES = 12
_AUXILIARIES = frozenset({"is", "was", "are", "were", "has", "had", "can", "will", "should", "may"})
_WORD = re.compile(r"[\w'-]+")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}")
_NAMES_DRAWN = 20


def clean(pool: Sequence[Row], reported: Sequence[Row]) -> list[Row]:
    """The licensed rows that share neither claim nor evidence with a reported one."""
    claims = {_plain(row.claim) for row in reported}
    evidence = {key for row in reported for key in _keys(row)}
    return [
        row
        for row in pool
        if row.source in LICENSED
        and _plain(row.claim) not in claims
        and not any(key in evidence for key in _keys(row))
    ]


def varied(rows: Sequence[Row], seed: int = 7) -> list[Row]:
    """The rows and what is made of them; the same for the same seed.

    Of a supported claim: its evidence among other evidence (supported); the nearest evidence of
    another claim, its own without the best sentence, and the claim with one edit (not supported).
    """
    draw = random.Random(seed)
    made = list(rows)
    for source in sorted({row.source for row in rows}):
        supported = [row for row in rows if row.source == source and row.supported]
        neighbours = _Neighbours([row for row in rows if row.source == source])
        names = _names([row.claim for row in supported])
        for row in supported:
            made += _other_evidence(row, neighbours, draw)
            made += _cut(row)
            made += _edited(row, names, draw)
    return made


class _Neighbours:
    """Which other rows have evidence about the same things."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        self._by_stem: dict[str, list[int]] = defaultdict(list)
        for number, row in enumerate(rows):
            for stem in sorted(content_stems("\n".join(row.evidence))):
                self._by_stem[stem].append(number)

    def of(self, row: Row) -> list[Row]:
        """Nearest first; none with the same claim, or evidence that says the same."""
        near: dict[int, float] = defaultdict(float)
        for stem in sorted(content_stems(row.claim)):
            numbers = self._by_stem[stem]
            if len(numbers) < _COMMON:
                for number in numbers:
                    near[number] += 1 / len(numbers)
        own = " ".join(row.evidence)
        nearest = sorted(near, key=near.__getitem__, reverse=True)[:_CANDIDATES]
        others = [self._rows[number] for number in nearest]
        return [
            other
            for other in others
            if other.claim != row.claim
            and not any(text in own or own in text for text in other.evidence)
        ]


def _other_evidence(row: Row, neighbours: _Neighbours, draw: random.Random) -> Iterator[Row]:
    near = neighbours.of(row)[:3]
    if near:
        yield replace(row, evidence=near[0].evidence, supported=False, kind="other evidence")
    if len(near) > 1:
        more = tuple(text for other in near[1:] for text in other.evidence)
        first = draw.random() < 0.5
        evidence = row.evidence + more if first else more + row.evidence
        yield replace(row, evidence=evidence, kind="among other evidence")


def _cut(row: Row) -> Iterator[Row]:
    source = Source(Passage(row.id, "\n".join(row.evidence)))
    sentences = [source.text[span.start : span.end] for span in source.sentences]
    if len(sentences) < 4:
        return
    wanted = content_stems(row.claim)
    best = max(range(len(sentences)), key=lambda n: len(content_stems(sentences[n]) & wanted))
    rest = (*sentences[:best], *sentences[best + 1 :])
    yield replace(row, evidence=rest, supported=False, kind="best sentence cut")


def _edited(row: Row, names: Sequence[str], draw: random.Random) -> Iterator[Row]:
    """One number, name or negation changed."""
    edits = defaultdict(list)
    for at, word in enumerate(_WORD.finditer(row.claim)):
        text = word.group()
        if re.fullmatch(r"\d[\d,.]*", text):
            edits["number"].append(word)
        elif at and text[0].isupper() and text.lower() not in STOPWORDS and len(text) > 2:
            edits["name"].append(word)
        elif text.lower() in _AUXILIARIES or text.lower() == "not":
            edits["negation"].append(word)
    if not edits:
        return
    kind = draw.choice(sorted(edits))
    word = draw.choice(edits[kind])
    new = _changed(kind, word.group(), row, names, draw)
    claim = " ".join(f"{row.claim[: word.start()]}{new}{row.claim[word.end() :]}".split())
    if claim != row.claim:
        yield replace(row, claim=claim, supported=False, kind=f"{kind} edited")


def _changed(kind: str, text: str, row: Row, names: Sequence[str], draw: random.Random) -> str:
    if kind == "number":
        at = draw.choice([at for at, char in enumerate(text) if char.isdigit()])
        digit = draw.choice([char for char in "123456789" if char != text[at]])
        return text[:at] + digit + text[at + 1 :]
    if kind == "negation":
        return "" if text.lower() == "not" else f"{text} not"
    near = [name for name in _names(row.evidence) if name.lower() not in row.claim.lower()]
    far = draw.sample(names, min(_NAMES_DRAWN, len(names)))
    choices = near if near and draw.random() < 0.5 else [name for name in far if name != text]
    return draw.choice(choices) if choices else text


def _names(texts: Sequence[str]) -> list[str]:
    return sorted({found.group() for text in texts for found in _NAME.finditer(text)})


def _keys(row: Row) -> Iterator[str]:
    for text in map(_plain, row.evidence):
        if len(text) > _LONG:
            yield text[:_SAME]


def _plain(text: str) -> str:
    """The letters and digits alone, without citation markers."""
    return " ".join(re.findall(r"\w+", re.sub(r"\[\d+\]", "", text).lower()))
