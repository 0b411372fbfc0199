"""Which sentences of the given facts speak of the same things as a text."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence

from services.verification.source import Cited, Source
from services.verification.words import content_stems, words

# A stem that stands in more sentences than this tells them apart no more.
MAX_POSTINGS = 2_000


class Index:
    """The sentences of some sources by the stems they hold.

    Args:
        sources: Searched by their position here.
        proceed: Called between two sources; raises when the work is no longer wanted.
    """

    def __init__(self, sources: Sequence[Source], proceed: Callable[[], None]) -> None:
        self.sources = sources
        self._sentences: list[Cited] = []
        self._owners: list[int] = []
        self._by_stem: dict[str, list[int]] = defaultdict(list)
        self._sources_by_stem: dict[str, set[int]] = defaultdict(set)
        for number, source in enumerate(sources):
            proceed()
            self._add(number, source)

    def nearest(self, text: str, allowed: Collection[int], limit: int) -> list[Cited]:
        """The sentences of the allowed sources that together carry most of a text, best first.

        Each one adds words that those before it did not have.
        """
        wanted = _stems(text)
        carries: dict[int, set[str]] = defaultdict(set)
        for stem in wanted:
            for sentence in self._by_stem.get(stem, ())[:MAX_POSTINGS]:
                if self._owners[sentence] in allowed:
                    carries[sentence].add(stem)
        # A rare word tells more of what a text is about; its presence counts most of all.
        weight = {stem: 1 + 1 / (1 + len(self._by_stem.get(stem, ()))) for stem in wanted}
        chosen: list[Cited] = []
        while len(chosen) < limit and carries:
            best = max(carries, key=lambda s: (sum(weight[stem] for stem in carries[s]), -s))
            covered = carries.pop(best)
            chosen.append(self._sentences[best])
            carries = {s: left for s, stems in carries.items() if (left := stems - covered)}
        return chosen

    def holding(
        self, groups: Sequence[Collection[str]], _sections: Collection[str] = ()
    ) -> list[Cited]:
        """The sentences that hold a stem of each group."""
        postings = [
            {sentence for stem in group for sentence in self._by_stem.get(stem, ())}
            for group in groups
        ]
        return [self._sentences[number] for number in sorted(set.intersection(*postings))]

    def support(self, text: str) -> float:
        """The share of a text's content words that the best single source carries, 0 to 1."""
        stems = content_stems(text)
        held = Counter(n for stem in stems for n in self._sources_by_stem.get(stem, ()))
        return max(held.values(), default=0) / len(stems) if stems else 0.0

    def _add(self, number: int, source: Source) -> None:
        for span in source.sentences:
            sentence = Cited(source, span)
            for stem in _stems(sentence.text):
                self._by_stem[stem].append(len(self._sentences))
                self._sources_by_stem[stem].add(number)
            self._sentences.append(sentence)
            self._owners.append(number)


def _stems(text: str) -> frozenset[str]:
    """Content words and numbers: both tell which sentence is meant."""
    return frozenset(w.stem for w in words(text) if w.is_content or w.text[0].isdigit())
