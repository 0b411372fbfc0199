"""How often a text is negated, whatever the words: not, unless, except, failed to; unpaid for paid.

Bounds ("not more than") negate nothing. "Not ... unless" is "only if", and "no one other than" is
"only". Negations are read in every language the quote engine knows; what is rewritten is English.
"""

# ruff: noqa: RUF001 - typographic apostrophes are meant

import re
from collections.abc import Container
from functools import lru_cache

from services.verification import turns
from services.verification.phrases import compiled
from services.verification.turns import turning_nothing
from services.verification.words import Word, stem, stems, words

# These hold a "not" or "no" that negates nothing of the clause.
_NO_NEGATION = compiled(
    r"""
    not (?:only|just|merely)
    (?:not|no|never|\w+n['’]t) (?:be )?(?:later|more|less|fewer|greater|higher|lower) than
    (?:not|no|never|\w+n['’]t) (?:be )?(?:earlier|longer|shorter|smaller|larger) than
    not (?:be )?(?:over|above|below|under) | (?:not|never) exceed\w* | no\.\s?\d+ | nor
    whether or not
    except as otherwise\b[^,;.]* | no (?:later|earlier)
    """
)
_REJECTION = compiled(
    r"""
    (?:fail(?:s|ed|ing)?|failure) to | refus\w+ | den(?:y|ies|ied) | prohibit\w*
    forb[iaoe]d\w* | bann?ed | impossible | unlikely | false | lack(?:s|ed|ing)? | non(?=[-‐‑])
    """
)
EXCEPTION = compiled(
    r"""
    unless | except(?:ing)? | excluding | exclud(?:e|es|ed) | other than
    save (?:for|that|where|in) | with the exception of | apart from
    """
)
# In one clause: what is not so unless something is, is so only if it is.
_NOT_UNLESS = re.compile(
    r"(?P<not>\b(?:do not|does not|did not|not|no(?= \w)|none of|never|\w+n['’]t)\b)"
    r"(?P<between>(?:(?!\b(?:and|but)\b)[^.;,]){1,160}?)"
    r"(?P<unless>\bunless\b|\bother than\b|(?<=no person )except\b|(?<=no one )except\b)",
    re.IGNORECASE,
)
# "This does not apply if": the exception is what follows.
_NOT_APPLY = re.compile(
    r"(?P<not>\b(?:does|do|shall|will) not apply|\b(?:is|are) not applicable)"
    r"(?P<link> (?:if|where|when|to|in|during|for)) ",
    re.IGNORECASE,
)
# What is excepted is a case, not a person or a thing.
_EXCEPT_WHERE = re.compile(
    r"\b(?:except|save) (?:where|when|if|with|by|after|in|upon|on|as|during)\b", re.IGNORECASE
)
_UNLESS = re.compile(r"\bunless\b", re.IGNORECASE)
_MARK = "¬"
# Two words that negate once.
_IN_TWO_WORDS = {
    "fr": r"\b(?:ne |n['’])(?:\S+ ){0,3}?(?:pas|jamais|rien|aucune?|plus|nullement|guère)\b",
    "es": r"\bno (?:\S+ ){0,4}?(?:nunca|nadie|ningún|ninguna?|nada)\b",
    "it": r"\bnon (?:\S+ ){0,4}?(?:mai|nessun\w*|niente|nulla)\b",
    "cyrillic": r"\b(?:никто|ничего|никогда|никакой|ни) (?:\S+ ){0,3}?не\b",
}
# What begins like a negative prefix here negates nothing.
_WHOLE = stems(
    """
    inpatient income inland input intake inform information increase invest investment indeed
    inside inward install include incur inhabit import impress improve impose imprint unit union
    unite under until universe discover disclose disclosure discharge dismiss display dispose
    disposal dispatch discount discuss distribute district distance disease distress irrigate
    illustrate immigrate imply impact implant impart unison unique
    """
)
_NEGATIVE_PREFIX = re.compile(r"(?:un|in|im|ir|il|non|dis)(?=[a-z]{3})")


@lru_cache(maxsize=1_000)
def plain(text: str) -> str:
    """The text at its own length, with what is twice turned said straight."""
    text = _EXCEPT_WHERE.sub(lambda found: "unless".ljust(len(found[0])), text)
    text = _NO_NEGATION.sub(lambda found: " " * len(found[0]), text)
    text = _NOT_APPLY.sub(lambda found: " " * len(found["not"]) + found["link"] + _MARK, text)
    return _NOT_UNLESS.sub(_only_if, text)


def count(text: str, spoken: frozenset[str]) -> int:
    """How often a text that was made plain is negated, in the languages that are spoken."""
    text = EXCEPTION.sub(" ", turning_nothing(spoken).sub(" ", text))
    return len(negating(spoken).findall(text))


def exceptions(text: str, other: Container[str]) -> int:
    """How many exceptions a text that was made plain has, of what is among the other stems too.

    One of which the other text says nothing was dropped, and is a condition, not a negation.
    """
    ends = [found.end() for found in EXCEPTION.finditer(text)]
    ends += [at + 1 for at, char in enumerate(text) if char == _MARK]
    following = (next((w for w in words(text[end:]) if w.is_content), None) for end in ends)
    return sum(word is not None and word.stem in other for word in following)


def excepts_a_case(text: str) -> bool:
    """Whether a text that was made plain has an exception with a verb of its own."""
    return _MARK in text or _UNLESS.search(text) is not None


@lru_cache(maxsize=200)
def negating(spoken: frozenset[str]) -> re.Pattern[str]:
    """The pattern each match of which is one negation."""
    twofold = [pattern for name, pattern in _IN_TWO_WORDS.items() if name in spoken]
    single = turns.negating(spoken | {"en"}).pattern
    return re.compile("|".join([*twofold, _REJECTION.pattern, single]), re.IGNORECASE)


def unprefixed(word: Word) -> str:
    """The stem without a negative prefix; empty when there is none."""
    if word.stem in _WHOLE:
        return ""
    found = _NEGATIVE_PREFIX.match(word.text.lower())
    return stem(word.text[found.end() :]) if found else ""


def _only_if(found: re.Match[str]) -> str:
    blank = "" if found["unless"].lower() == "other than" else "if"  # Where a clause begins.
    return " " * len(found["not"]) + found["between"] + blank.ljust(len(found["unless"]))
