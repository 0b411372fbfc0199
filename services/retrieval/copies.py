"""Passages that say the same in the same words in several documents: one is enough.

What counts as the same is narrow on purpose: two texts that differ in nothing but how they are set,
in spaces, line breaks, hyphens at line ends, forms of quotation marks and of dashes between words,
and in that one may be all in capitals. Where they differ in a figure, a sign, a "not" or in a word
more at an edge, both must be seen: that is a conflict or an exception, not a copy.
"""

# ruff: noqa: RUF001 - look-alikes are what is told apart here

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from services.retrieval.passage import Copy, Passage

# Shorter ones are titles and cells, which mean what the headings above them say.
_MIN_WORDS = 8
_WORD = re.compile(r"\w+")
_EAST_ASIAN = "\u3001-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U000323af"
# Written without spaces: two characters are about a word.
_UNSPACED = re.compile(rf"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff{_EAST_ASIAN}]")
_MIN_UNSPACED = 2 * _MIN_WORDS
_SPACE_OF_EAST_ASIAN = re.compile(rf"(?<=[{_EAST_ASIAN}])\s+|\s+(?=[{_EAST_ASIAN}])")
_INVISIBLE = re.compile(r"\u00ad(?:[^\S\n]*\n\s*)?|[\u200b-\u200d\u2060\ufeff]")
# Ligatures and forms of another width. Raised figures and fractions are none: 10² is not 102.
_FORMS = re.compile("[\ufb00-\ufb06\uff01-\uff9f\uffe0-\uffe6]+")
_SIGNS = str.maketrans(
    dict.fromkeys("“”„‟«»「」『』", '"')
    | dict.fromkeys("‘’‚‛‹›", "'")
    | dict.fromkeys("\u2010\u2011\ufe63", "-")
    | {"…": "..."}
)
_LETTER = r"[^\W\d_]"
_PAUSE = re.compile(rf"(?<={_LETTER})(?:\s*[—―]\s*|\s+[-–‒]+\s+)(?={_LETTER})")
_JOINT = re.compile(rf"(?<={_LETTER})[-–‒](?P<line_end>[^\S\n]*\n\s*)?(?={_LETTER})")
_UNIT = re.compile(rf"\d\s?{_LETTER}+")


def collapse(ranked: Sequence[Passage]) -> tuple[list[Passage], int]:
    """Each text once, at the place of its best copy; and how many passages fell out.

    Of the copies the one with the most authority stands for all, then the most recent, then the one
    that ranks best; it names the others.
    """
    # The words of most texts are those of no other: these need not be read more closely.
    words = [_words(passage.text) for passage in ranked]
    times = Counter(words)
    read = cache(_read)
    groups: list[_Group] = []
    alike: defaultdict[str, list[_Group]] = defaultdict(list)
    for passage, said in zip(ranked, words, strict=True):
        for group in alike[said]:
            if passage.document_id not in group.documents and (
                passage.text in group.texts
                or all(read(passage.text).is_same_as(read(text)) for text in group.texts)
            ):
                break
        else:
            group = _Group()
            groups.append(group)
            if times[said] > 1 and _is_long(passage.text):
                alike[said].append(group)
        group.members.append(passage)
        group.documents.add(passage.document_id)
        group.texts.add(passage.text)
    return [_standing_for(group.members) for group in groups], len(ranked) - len(groups)


@dataclass(frozen=True, slots=True)
class _Group:
    """Copies of each other, and the documents they are of."""

    members: list[Passage] = field(default_factory=list)
    documents: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)


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


@dataclass(frozen=True, slots=True)
class _Text:
    """A text apart from how it is set.

    Attributes:
        letters: All of it, but for hyphens within words.
        hyphens: Where there is one.
        line_ends: Where one stands at a line's end, and may be the word's or the line's.
    """

    letters: str
    hyphens: frozenset[int]
    line_ends: frozenset[int]

    def is_same_as(self, other: "_Text") -> bool:
        """Whether no more than how they are set tells it from the other."""
        return (
            (self.letters == other.letters or self._is_but_for_capitals(other))
            and self.hyphens <= other.hyphens | other.line_ends
            and other.hyphens <= self.hyphens | self.line_ends
        )

    def _is_but_for_capitals(self, other: "_Text") -> bool:
        one, another = self.letters, other.letters
        # mW is no MW.
        return (
            (one.isupper() or another.isupper())
            and one.lower() == another.lower()
            and _UNIT.findall(one) == _UNIT.findall(another)
        )


def _read(text: str) -> _Text:
    text = _INVISIBLE.sub("", unicodedata.normalize("NFC", text))
    text = _FORMS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    text = _PAUSE.sub(" – ", text.translate(_SIGNS))
    letters, done = "", 0
    hyphens: dict[int, bool] = {}
    for joint in _JOINT.finditer(text):
        letters += _spaced(text[done : joint.start()])
        hyphens[len(letters)] = joint["line_end"] is not None
        done = joint.end()
    letters += _spaced(text[done:])
    return _Text(
        letters,
        frozenset(at for at, is_line_end in hyphens.items() if not is_line_end),
        frozenset(at for at, is_line_end in hyphens.items() if is_line_end),
    )


def _words(text: str) -> str:
    # In one row: a line's end may part a word, and East Asian texts are broken anywhere.
    return "".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def _is_long(text: str) -> bool:
    return len(_WORD.findall(text)) >= _MIN_WORDS or len(_UNSPACED.findall(text)) >= _MIN_UNSPACED


def _spaced(text: str) -> str:
    return " ".join(_SPACE_OF_EAST_ASIAN.sub("", text).split())
