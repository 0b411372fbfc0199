"""Passages that say the same in the same words in several documents: one is enough.

What counts as the same is narrow on purpose: the same words in the same order, whatever their
case, punctuation and line breaks, but for a few words at the edges, such as a caption. Where they
differ in a figure or a "not" inside, both must be seen: that is a conflict, not a copy.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace

from services.retrieval.passage import Copy, Passage

# Shorter ones are titles and cells, which mean what the headings above them say.
_MIN_WORDS = 8
_MAX_EXTRA = 8
_WORD = re.compile(r"\w+")
# Words of the languages of the corpora that turn or bind what they stand beside.
_TURNING = frozenset(
    """
    no not never none nor without unless except only if may must shall should cannot least most more
    less than before after until nicht kein keine ohne außer nur wenn muss darf kann ne pas sans
    sauf si seulement doit peut sin salvo solo debe puede non senza deve
    """.split()  # noqa: SIM905 - as a text it is read and changed
)


def collapse(ranked: Sequence[Passage]) -> tuple[list[Passage], int]:
    """Each text once, at the place of its best copy; and how many passages fell out.

    Of the copies the one with the most authority stands for all, then the most recent, then the one
    that ranks best; it names the others.
    """
    groups: list[tuple[str, list[Passage]]] = []
    for passage in ranked:
        words = _words(passage.text)
        for other, members in groups:
            if _is_copy(words, other) and all(
                passage.document_id != member.document_id for member in members
            ):
                members.append(passage)
                break
        else:
            groups.append((words, [passage]))
    return [_standing_for(members) for _, members in groups], len(ranked) - len(groups)


def _standing_for(members: Sequence[Passage]) -> Passage:
    if len(members) == 1:
        return members[0]
    best = max(members, key=lambda passage: (passage.metadata.authority, _day(passage)))
    others = tuple(
        Copy(
            passage_id=passage.id,
            document_id=passage.document_id,
            source_name=passage.metadata.source_name,
            version=passage.version,
            authority=passage.metadata.authority,
            readers=passage.metadata.readers,
        )
        for passage in members
        if passage is not best
    )
    return replace(best, score=members[0].score, copies=others)


def _day(passage: Passage) -> str:
    # ISO dates sort as text.
    return max(passage.metadata.effective_from, passage.metadata.published)


def _is_copy(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if short.count(" ") + 1 < _MIN_WORDS:
        return False
    return short == long or (
        f" {short} " in f" {long} "
        and long.count(" ") - short.count(" ") <= _MAX_EXTRA
        and not any(_binds(word) for word in _extra(short, long))
    )


def _extra(short: str, long: str) -> Iterator[str]:
    before, _, after = f" {long} ".partition(f" {short} ")
    yield from before.split()
    yield from after.split()


def _binds(word: str) -> bool:
    return word in _TURNING or any(letter.isdigit() for letter in word)


def _words(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    for mark in ("-\n", "\N{SOFT HYPHEN}"):
        folded = folded.replace(mark, "")
    return " ".join(_WORD.findall(folded))
