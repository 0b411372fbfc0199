"""Words in quotation marks, and whether a text has them word for word."""

import re
from collections.abc import Iterator
from functools import lru_cache

from services.retrieval.folding import LINE_HYPHEN, UNSPACED, folded

# Of a script with spaces, where a word may have an apostrophe, which is no quotation mark.
_LETTER = rf"[^\W{UNSPACED}]"
_QUOTED = re.compile(
    r"\"([^\"]{2,300})\""
    r"|\u201c([^\u201c\u201d]{2,300})\u201d"
    r"|\u201d([^\u201d]{2,300})\u201d"
    r"|\u201e([^\u201c\u201d]{2,300})[\u201c\u201d]"
    r"|\u201a([^\u2018\u2019]{2,300})[\u2018\u2019]"
    r"|\u00ab([^\u00bb]{2,300})\u00bb"
    r"|\u00bb([^\u00ab\u00bb]{2,300})\u00ab"
    r"|\u2039([^\u203a]{2,300})\u203a"
    r"|\u300c([^\u300d]{2,300})\u300d"
    r"|\u300e([^\u300f]{2,300})\u300f"
    rf"|\u2018((?:[^\u2018\u2019]|\u2019(?={_LETTER})){{2,300}})\u2019(?!{_LETTER})"
    rf"|(?<!{_LETTER})'(?=\S)((?:[^']|'(?={_LETTER})){{2,300}})(?<=\S)'(?!{_LETTER})"
)
# Where no spaces are, each character counts as a word, and lines break between any two.
_WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
_HYPHEN = re.compile(rf"(?<=\w)(?:{LINE_HYPHEN}|[-\u2010])(?=\w)")
_LEAST_WORDS = 2


def quoted(query: str) -> Iterator[str]:
    """What stands in quotation marks of any language, but single short words."""
    for match in _QUOTED.finditer(query):
        text = next(filter(None, match.groups()))
        found = words(text)
        if len(found.split()) >= _LEAST_WORDS or len(found) > len("short"):
            yield text


# What is found is looked at for each phrase, and again for the report.
@lru_cache(maxsize=500)
def words(text: str) -> str:
    """A text's words as they are compared."""
    return " ".join(_WORD.findall(folded(text)))


def has_words(text: str, phrase: str) -> bool:
    """Whether the words of the phrase are in the text in a row: as parts of words they are not.

    Words that a hyphen joins, or parts at the end of a line, may be one word or two.
    """
    return _in_a_row(phrase, text) or (
        _HYPHEN.search(text) is not None
        and _in_a_row(_HYPHEN.sub("", phrase), _HYPHEN.sub("", text))
    )


def _in_a_row(phrase: str, text: str) -> bool:
    return f" {words(phrase)} " in f" {words(text)} "
