"""Short forms by their letters: a CEO is a chief executive officer, whichever is asked for."""

import re
from collections.abc import Iterator

# Two letters stand for too many pairs of words.
_ACRONYM = re.compile(r"\b[A-Z]{3,5}(?=s?\b)")
# Words that carry grammar are shorter and give no letter.
_WORD = re.compile(r"[^\W\d_]{3,}")
_BETWEEN = r"[^\W\d_]{2,}[\s-]+"


class Acronyms:
    """The short forms in a question, and those that its words may have."""

    def __init__(self, question: str) -> None:
        self._asked = {
            acronym: re.compile(
                rf"\b{_BETWEEN.join(acronym)}[^\W\d_]{{2,}}",
                re.IGNORECASE,
            )
            for acronym in _ACRONYM.findall(question)
        }
        self._possible = dict(_initials(_WORD.findall(question)))

    def told(self, sentence: str) -> Iterator[str]:
        """Words of the question that the sentence says in their other form."""
        for acronym, spelled_out in self._asked.items():
            if spelled_out.search(sentence):
                yield acronym
        for acronym in _ACRONYM.findall(sentence):
            yield from self._possible.get(acronym, ())


def _initials(words: list[str]) -> Iterator[tuple[str, list[str]]]:
    for length in range(3, 6):
        for start in range(len(words) - length + 1):
            spelled = words[start : start + length]
            yield "".join(word[0] for word in spelled).upper(), spelled
