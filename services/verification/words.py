"""The words of a text: where they stand, which carry content, and by what they are compared."""

# ruff: noqa: RUF001 - the typographic apostrophe is meant

import re
from dataclasses import dataclass
from functools import lru_cache

import snowballstemmer

from services.verification.evidence import Span

# Letters and digits with the marks that belong to them; Python's \w leaves out the vowel signs of
# Hebrew, Arabic and the Indic scripts. Han and Kana stand one by one, as they are written.
_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u0900-\u0903\u093a-\u094f\u0951-\u0963\u0980-\u0dff"
)
_UNSPACED = "\u3040-\u309f\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ffff"
WORD = re.compile(
    rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[\w{_MARKS}])+(?:['’](?:(?![{_UNSPACED}])[\w{_MARKS}])+)*"
)

# Words that say how a sentence is built, not what it is about. Negation, modality and comparators
# are here because they are compared by rule; counted as content they could be outvoted.
_STOPWORDS = """
    a about above across after against all also although am an and another any are as at be
    because been before being below between both but by can cannot could did do does doing
    down during each either etc even every few for from further had has have having he her
    here hers him his how however i if in into is it its itself just least less let like may
    me might more most much must my neither no nor not now of off on once only onto or other
    others our out over own per rather same shall she should since so some such than that
    the their theirs them then there therefore these they this those though through thus to
    too under unless until up upon us very via was we well were what when where whether
    which while who whom whose why will with within without would you your yours n't s t d
    ll re ve million billion trillion thousand hundred percent cent percentage point points
"""
STOPWORDS = frozenset(_STOPWORDS.split())
# Longer runs of letters are no words of English.
MAX_STEMMED = 40
# Each check asks for the words of the same few sentences; longer texts would fill the memory.
MAX_REMEMBERED = 2_000


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it stands in a text, with the stem by which it is compared."""

    text: str
    stem: str
    span: Span
    is_content: bool


def words(text: str) -> tuple[Word, ...]:
    """Every word of a text in order; takes linear time."""
    return _words_of_sentence(text) if len(text) <= MAX_REMEMBERED else _words(text)


def content_stems(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in words(text) if word.is_content)


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The word without its inflection; a word that is not English is only lower-cased."""
    lowered = word.lower().replace("’", "'")
    lowered = lowered.removesuffix("'s")
    if not lowered.isascii() or len(lowered) > MAX_STEMMED:
        return lowered
    # A stemmer keeps the word it works on in itself: one a call, since calls come from threads.
    return str(snowballstemmer.stemmer("english").stemWord(lowered))


def stems(text: str) -> frozenset[str]:
    """The stems of a list of words."""
    return frozenset(map(stem, text.split()))


def _words(text: str) -> tuple[Word, ...]:
    return tuple(
        Word(found.group(), stem(found.group()), Span(*found.span()), _is_content(found.group()))
        for found in WORD.finditer(text)
    )


def _is_content(word: str) -> bool:
    return word.lower() not in STOPWORDS and not word[0].isdigit()


_words_of_sentence = lru_cache(maxsize=1_000)(_words)
