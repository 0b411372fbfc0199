"""The terms by which texts of any language are searched: stems, numbers, numbers of sections.

Case, width and accents are folded here and nowhere else: a term is for finding, never for showing.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import snowballstemmer

from services.retrieval.folding import LINE_HYPHEN, UNSPACED, folded

# Chinese characters and Korean syllables: alone they may be a word.
_IDEOGRAPH = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U000323af]")
# Vowel signs and points belong to their word, though they are no letters.
_LETTERS = r"(?:[^\W\d_]|[\u0300-\u036f\u0591-\u05c7\u064b-\u0652\u0900-\u0dff])"
# A number keeps its marks ("4.2", "14.2.3", "2,450"), a word its apostrophe.
_TERM = re.compile(
    rf"(?P<unspaced>[{UNSPACED}]+)|(?P<number>\d+(?:[.,]\d+)*)"
    rf"|(?P<word>(?:(?![{UNSPACED}]){_LETTERS})+"
    rf"(?:['\u2019](?:(?![{UNSPACED}]){_LETTERS})+)*)(?P<digits>\d*)"
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
# What is also looked for as a whole: "14.2.3.Guidance.10", "SEC_4.2", "48(1)", "anti-money", and a
# word that is broken at the end of a line.
_BETWEEN = rf"(?:{LINE_HYPHEN}|[._-])"
_COMPOUND = re.compile(
    # It begins where a word does: to try all of a long run takes the square of its length.
    rf"(?<![^\W_])(?:[^\W_]+{_BETWEEN})*"
    rf"(?:[^\W_]+\.?\([^\W_]{{1,4}}\)(?:\.?\([^\W_]{{1,4}}\))*(?:{_BETWEEN}[^\W_]+)*"
    rf"|[^\W_]+{_BETWEEN}[^\W_]+(?:{_BETWEEN}[^\W_]+)*)"
)
_NUMBER = re.compile(r"[\d.,]+")
_JOINT = re.compile(r"[._()\u2010\s-]+")

# What is longer is no word, and has no ending: to look for one takes a stemmer its time.
_LONGEST_WORD = 100
_ENGLISH = "english"
# Words that stand in almost every sentence of a language, and in few of another.
_LITTLE_WORDS = {
    _ENGLISH: "the of and to is are that for shall be by with as which what how does who when this",
    "german": "der die das und ist nicht den dem des ein eine für auf von zu wird oder bei wie was",
    "french": "le la les des et est une du dans qui que par pour au aux sur ne pas quelles quels",
    "spanish": "el la los las y que en por del se una con para al es su cuál cuáles qué",
    "italian": "il lo di che e del della dei per una con gli le si al nel quali quale cosa",
    "portuguese": "os as que e do da em um uma não para com no na dos das ao quais qual",
    "dutch": "de het een en van is dat op te voor met niet zijn door wat welke wie",
}
_LANGUAGES = {language: frozenset(words.split()) for language, words in _LITTLE_WORDS.items()}
_NONE: frozenset[str] = frozenset()
_BY_SCRIPT = (
    (re.compile("[\u0400-\u04ff]"), "russian"),
    (re.compile("[\u0370-\u03ff]"), "greek"),
    (re.compile("[\u0600-\u06ff]"), "arabic"),
    (re.compile("[\u0900-\u097f]"), "hindi"),
)


def terms(text: str) -> Iterator[str]:
    """A passage's terms in order; what is also looked for as a whole comes at the end."""
    plain = folded(text)
    return _terms(plain, (_language(plain) or _ENGLISH,))


def query_terms(text: str) -> Iterator[str]:
    """A query's terms. One too short to tell its language is stemmed as each it may be in."""
    plain = folded(text)
    language = _language(plain)
    return _terms(plain, (language,) if language else tuple(_LANGUAGES))


def little_terms(text: str) -> frozenset[str]:
    """The terms of the little words of a text's language; none when it tells no language."""
    language = _language(folded(text))
    return frozenset(_stem(word, language) for word in _LANGUAGES[language]) if language else _NONE


def characters(text: str) -> Iterator[str]:
    """Those that may be words by themselves, which a passage's pairs of them do not show."""
    return (match[0] for match in _IDEOGRAPH.finditer(folded(text)))


def _terms(plain: str, languages: tuple[str, ...]) -> Iterator[str]:
    for match in _TERM.finditer(plain):
        if match["unspaced"]:
            yield from _pairs(match["unspaced"])
        elif match["number"]:
            yield _number(match["number"])
        elif match["digits"]:
            word = _plain(match["word"])
            # "FY2022" is of 2022; "Q3" is itself.
            yield word + match["digits"]
            if len(match["digits"]) == len("2022"):
                yield match["digits"]
        else:
            yield from dict.fromkeys(_stem(match["word"], language) for language in languages)
    for match in _COMPOUND.finditer(plain):
        whole = _JOINT.sub("", match[0])
        if whole.isalpha():
            yield from dict.fromkeys(_stem(whole, language) for language in languages)
        elif not _NUMBER.fullmatch(match[0]):
            yield _plain(whole)


def _number(printed: str) -> str:
    # "8,832" and "8832" are one number; "4,2" is left as it is printed.
    return printed.replace(",", "") if _THOUSANDS.fullmatch(printed) else printed


def _pairs(run: str) -> Iterator[str]:
    """Each two neighbouring characters; a character that stands alone is itself."""
    if len(run) == 1:
        yield run
    for at in range(len(run) - 1):
        yield run[at : at + 2]


def _language(plain: str) -> str | None:
    """The Latin-written language whose little words are most; None when none tells."""
    words = plain.split()[:200]
    counts = {name: sum(word in little for word in words) for name, little in _LANGUAGES.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else None


@lru_cache(maxsize=100_000)
def _stem(word: str, language: str) -> str:
    word = word.replace("\u2019", "'")
    if len(word) > _LONGEST_WORD:
        return _plain(word)
    for script, other in _BY_SCRIPT:
        if script.search(word):
            language = other
    # The stemmer keeps state while it works: each call has its own, and the cache makes calls rare.
    return _plain(str(snowballstemmer.stemmer(language).stemWord(word)))


def _plain(word: str) -> str:
    """Without accents and points; the vowel signs of Indic scripts are letters and stay."""
    if word.isascii():
        return word
    letters = (
        letter
        for letter in unicodedata.normalize("NFD", word)
        if not ("\u0300" <= letter <= "\u036f" or "\u0591" <= letter <= "\u05c7")
        and not "\u064b" <= letter <= "\u0652"
    )
    return unicodedata.normalize("NFC", "".join(letters))
