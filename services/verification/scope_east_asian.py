"""Negations and conditions around a quote in Chinese, Japanese and Korean.

Chinese turns what follows, as English does; Japanese and Korean end a sentence with what turns it.
"""

# ruff: noqa: RUF001 - the punctuation of these scripts is meant

import re

from services.verification.turns import (
    BINDINGS_EAST_ASIAN,
    NEGATIONS_EAST_ASIAN,
    NOTHING_EAST_ASIAN,
)

_CLAUSE_BREAK = re.compile(r"[,，、;；:：。.]")
_SENTENCE_BREAK = re.compile(r"[;；。.]")
# How many characters a negation governs inside its clause, and how long a subject may be.
_REACH = 12
_ENDED = re.compile(r"\s*[,，、;；:：。.]")


def is_cut(before: str, after: str, spoken: frozenset[str]) -> bool:
    """Whether something before or after a quote in the same sentence turns or binds it."""
    return any(
        _is_cut(name, _plain(name, before), _plain(name, after))
        for name in sorted(spoken & NEGATIONS_EAST_ASIAN.keys())
    )


def _is_cut(language: str, before: str, after: str) -> bool:
    negation = re.compile(NEGATIONS_EAST_ASIAN[language])
    binding = re.compile(BINDINGS_EAST_ASIAN[language])
    if _follows_condition(binding, before):
        return True
    going_on = "" if _ENDED.match(after) else _CLAUSE_BREAK.split(after, maxsplit=1)[0]
    if language != "chinese":
        # What ends the quote's own clause is said of all of it.
        return bool(negation.search(going_on) or binding.search(going_on))
    clause = _CLAUSE_BREAK.split(before)[-1]
    turned = max((found.end() for found in negation.finditer(clause)), default=0)
    if turned and len(clause) - turned <= _REACH:
        return True
    rest = _SENTENCE_BREAK.split(after, maxsplit=1)[0]
    excepted = re.search("除外|以外|例外|为限|為限|为条件|为前提", rest)
    bound = binding.match(rest.lstrip(",，、 但且而（("))
    return bool(negation.match(going_on) or excepted or bound)


def _follows_condition(binding: re.Pattern[str], before: str) -> bool:
    """A condition of the sentence, with no more than a subject between it and the quote."""
    sentence = _SENTENCE_BREAK.split(before)[-1]
    found = list(binding.finditer(sentence))
    if not found:
        return False
    rest = sentence[found[-1].end() :]
    clauses = re.split("[,，、]", rest)
    return len(clauses) <= 2 and len(clauses[-1]) <= _REACH  # noqa: PLR2004 - its own and the main


def _plain(language: str, text: str) -> str:
    return re.sub(NOTHING_EAST_ASIAN[language], lambda found: "　" * len(found[0]), text)
