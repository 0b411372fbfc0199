"""Which sentences of the given facts speak of the same things as a text."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from heapq import nlargest
from math import fsum

from services.verification.source import Cited, Source
from services.verification.words import words

# So many sentences are found by their rarest words and looked at; common words only rank them.
MAX_LOOKED_AT = 300
# The most promising of them are weighed against each other.
MAX_WEIGHED = 48
# More sentences than this with all the words asked for are not told apart by them.
MAX_HOLDING = 32


class Index:
    """The sentences of some sources by the stems they hold.

    Args:
        sources: Searched by their position here.
        proceed: Called between two sources; raises when the work is no longer wanted.
    """

    def __init__(self, sources: Sequence[Source], proceed: Callable[[], None]) -> None:
        self.sources = sources
        self._sentences: list[Cited] = []
        self._stems: list[frozenset[str]] = []
        self._owners: list[int] = []
        self._by_owner: list[range] = []
        self._by_stem: dict[str, list[int]] = defaultdict(list)
        for number, source in enumerate(sources):
            proceed()
            self._add(number, source)

    def nearest(self, text: str, allowed: Collection[int], limit: int) -> list[Cited]:
        """The sentences of the allowed sources that together carry most of a text, best first.

        Each one adds words that those before it did not have.
        """
        wanted = _stems(text)
        # A rare word tells more of what a text is about; its presence counts most of all.
        weight = {stem: 1 + 1 / (1 + len(self._by_stem.get(stem, ()))) for stem in wanted}

        def worth(sentence: int) -> tuple[float, int]:
            # fsum: the same whatever the order, which in a set differs from process to process.
            return fsum(weight[stem] for stem in wanted & self._stems[sentence]), -sentence

        best = nlargest(MAX_WEIGHED, self._candidates(wanted, allowed), key=worth)
        carries = {sentence: wanted & self._stems[sentence] for sentence in best}
        chosen: list[Cited] = []
        while len(chosen) < limit and carries:
            first = max(carries, key=lambda s: (fsum(weight[stem] for stem in carries[s]), -s))
            covered = carries.pop(first)
            chosen.append(self._sentences[first])
            carries = {s: left for s, stems in carries.items() if (left := stems - covered)}
        return chosen

    def holding(
        self, groups: Sequence[Collection[str]], _sections: Collection[str] = ()
    ) -> list[Cited]:
        """The first sentences that hold a stem of each group."""
        rarest = min(groups, key=self._commonness)
        found = sorted({n for stem in rarest for n in self._by_stem.get(stem, ())[:MAX_LOOKED_AT]})
        held = (n for n in found if all(self._stems[n].intersection(g) for g in groups))
        return [self._sentences[n] for n, _ in zip(held, range(MAX_HOLDING), strict=False)]

    def _candidates(self, wanted: Iterable[str], allowed: Collection[int]) -> Iterable[int]:
        """The sentences with a word that is asked for, those with rare ones first."""
        within = [self._by_owner[owner] for owner in allowed]
        if sum(map(len, within)) <= MAX_LOOKED_AT:
            return (n for sentences in within for n in sentences if self._stems[n] & set(wanted))
        found: dict[int, None] = {}
        asked = frozenset(wanted)
        for stem in sorted(wanted, key=lambda stem: self._commonness([stem])):
            postings = self._by_stem.get(stem, ())[:MAX_LOOKED_AT]
            new = [n for n in postings if n not in found and self._owners[n] in allowed]
            found.update(dict.fromkeys(new))
            # A sentence that has it all is near enough; so are enough of them.
            if len(found) >= MAX_LOOKED_AT or any(asked <= self._stems[n] for n in new):
                break
        return found

    def _commonness(self, stems: Collection[str]) -> tuple[int, list[str]]:
        """In how many places some stems stand; then by the alphabet, to leave nothing open."""
        return sum(len(self._by_stem.get(stem, ())) for stem in stems), sorted(stems)

    def _add(self, number: int, source: Source) -> None:
        first = len(self._sentences)
        for span in source.sentences:
            sentence = Cited(source, span)
            stems = _stems(sentence.text)
            for stem in stems:
                self._by_stem[stem].append(len(self._sentences))
            self._sentences.append(sentence)
            self._stems.append(stems)
            self._owners.append(number)
        self._by_owner.append(range(first, len(self._sentences)))


def _stems(text: str) -> frozenset[str]:
    """Content words and numbers: both tell which sentence is meant."""
    return frozenset(w.stem for w in words(text) if w.is_content or w.text[0].isdigit())
