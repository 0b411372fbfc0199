"""Whom a question is about, and which documents are about others.

A figure of another company answers the words of a question and not the question. Where the question
names somebody, and some of the given documents do too, the statements of fact of all others are
about somebody else. Rules are not: they hold for whoever they meet, and name nobody.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[^\W\d_]+")
# What may stand between two words of one name: Best Buy, Coca-Cola, Johnson & Johnson.
_JOINTS = frozenset((" ", "-", " & "))
_SENTENCE_END = re.compile(r"[.?!:]\s+[\"'\u201c\u2018(]*$")
_DAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())  # noqa: SIM905
_MONTHS = frozenset(
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Subjects:
    """The names in a question, each as the terms that a document about it holds."""

    names: tuple[frozenset[str], ...]

    def strangers(self, documents: Mapping[str, Iterable[str]]) -> frozenset[str]:
        """The documents that are about others than the question.

        Args:
            documents: The terms of each document, as far as it is given.

        Returns:
            Those that hold none of the names which some document holds.
        """
        held = {key: frozenset(terms) for key, terms in documents.items()}
        known = [name for name in self.names if any(name <= terms for terms in held.values())]
        if not known:
            return frozenset()
        return frozenset(
            key for key, terms in held.items() if not any(name <= terms for name in known)
        )


def names(question: str) -> Sequence[str]:
    """The proper names of a question, as they are written: runs of words with a capital.

    Not those in capitals throughout, which name kinds (UBO), nor days and months, nor a first word
    that has its capital from its place; one inside a word is no such accident (TechCorp).
    """
    runs: list[list[re.Match[str]]] = []
    for word in filter(lambda found: _is_name(question, found), _WORD.finditer(question)):
        if runs and question[runs[-1][-1].end() : word.start()] in _JOINTS:
            runs[-1].append(word)
        else:
            runs.append([word])
    return [question[run[0].start() : run[-1].end()] for run in runs]


def _is_name(question: str, found: re.Match[str]) -> bool:
    word, before = found[0], question[: found.start()]
    if not word[0].isupper() or word.isupper() or word.casefold() in _DAYS | _MONTHS:
        return False
    opens = not before.strip("\"'\u201c\u2018(") or _SENTENCE_END.search(before) is not None
    return not (opens and word[1:].islower())
