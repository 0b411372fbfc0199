"""Quotes that are cut from under a negation, a denial, an exception or a condition."""

# ruff: noqa: RUF001 - the punctuation of other scripts is meant

import re
from bisect import bisect_right
from collections.abc import Sequence

from services.verification import scope_east_asian
from services.verification.evidence import Span
from services.verification.folding import unwrapped
from services.verification.languages import languages
from services.verification.phrases import any_of, whole
from services.verification.sentences import is_list_item
from services.verification.turns import (
    NEGATED_WORD,
    NEGATION,
    binding,
    negating,
    turning,
    turning_nothing,
)

__all__ = ["NEGATION", "changes_scope", "is_scope_cut"]

# A subject that negates all that is said of it.
_NEGATED_SUBJECT = re.compile(
    r"\W*(?:(?:section|article|clause)?\s*[\d.]+\s*[:.)]?\s*)?"
    + whole(any_of("no | none | neither | nobody | nothing | never | under no | in no | ни | ni")),
    re.IGNORECASE,
)
_LABEL = re.compile(r"(?:^|[:;.।۔]\s*|\d\s+)\W*\Z")
_CLAUSE_END = re.compile(
    r"[,;:.،؛।]|\b(?:but|because|while|whereas|although|though|so|which|who|aber|weil|obwohl|mais|pero"
    r"|sino|ma|но|а|αλλά|لكن|אבל|लेकिन|परंतु)\b",
    re.IGNORECASE,
)
_AND = re.compile(r"\b(?:and|und|et|y|e|en|och|og|i|и|και)\b", re.IGNORECASE)
_CLAUSE_START = re.compile(
    r"\W*(?:the|a|an|it|they|he|she|we|i|this|these|that|those|any|each|every|all|its|their)\b",
    re.IGNORECASE,
)
_INSERTED = re.compile(r"([^,;:.،]*)[,،][^,;:.،]{1,80}[,،]\s*(?:[^\W\d_]+\s+){0,4}\Z")
# What begins a part of a sentence that stands for itself.
_NEW_CLAUSE = re.compile(
    r"[;:.؛।]|,\s|،|\b(?:and|or|but|because|while|whereas|although|though|which|who|und|oder|aber"
    r"|et|ou|mais|y|o|pero|e|ma|en|och|og|и|или|но|а|και|ή|αλλά)\b",
    re.IGNORECASE,
)
# A capital that only the start of a sentence explains: a heading without a full stop stands before.
_SENTENCE_START = re.compile(
    r"(?:The|An?|It|They|This|These|That|Those|Any|Each|Every|All|If|When|Where|In|For|No)\b"
)
_SENTENCE_END = re.compile(r"[.!?。！？।]['\"”’»)\]]{0,2}\Z")
# Said of the quote as a whole, right behind it.
_UNTRUE_AFTER = whole(
    any_of(
        r"""
        n['’]t | but only | only | at the (?:latest|earliest|most|least) | at (?:most|least)
        or (?:more|less|fewer|later|earlier|longer|older|younger|higher|lower|above|below|over)
        and (?:above|over|below) | (?:is|was|are|were|would be) (?:false|untrue|incorrect|wrong)
        (?:is|was|are|were|would be) not (?:true|correct|the case|so)
        (?:does|do|did|shall|will) not (?:apply|hold)
        """
    )
)
_UNTRUE = re.compile(_UNTRUE_AFTER, re.IGNORECASE)
# What makes a figure a bound, or none that is exact.
_BOUND_BEFORE = re.compile(
    r"\b(?:at (?:least|most)|up to|(?:more|less|fewer|greater|higher|lower) than|about"
    r"|approx(?:imately|\.)|around|roughly|nearly|almost|exceeding|(?:minimum|maximum) of)\s+\Z",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"(?:[$€£¥₹]|[A-Z]{3} )?\d")
_LINK = re.compile(
    r"[^\w;:.]{0,3}(?:(?:and|but|or|always|then|und|et|y|и|و|अथवा) )?", re.IGNORECASE
)
# These negate at the end of a clause what came before.
_NEGATES_BACK = {"de", "nl", "sv", "da", "tr", "devanagari"}

_REACH = 240
_WORDS_GOVERNED = 6
_LONGEST_LIST = 40


def changes_scope(text: str, sentence: str) -> bool:
    """Whether what is left out of a sentence may turn or bind what is left."""
    read = unwrapped(text).text
    turned = turning(languages(sentence)).search(read) or NEGATED_WORD.search(read)
    return turned is not None


def is_scope_cut(text: str, sentences: Sequence[Span], span: Span) -> bool:
    """Whether a negation, exception or condition just outside a quote governs it."""
    if not sentences:
        return False
    first, last = sentence_at(sentences, span.start), sentence_at(sentences, span.end - 1)
    start, end = min(sentences[first].start, span.start), max(sentences[last].end, span.end)
    lead = lead_in(text, sentences, first)
    if lead and _is_turning(unwrapped(text[lead.start : lead.end]).text):
        return True
    before = unwrapped(text[max(start, span.start - _REACH) : span.start]).text
    after = unwrapped(text[span.end : min(end, span.end + _REACH)]).text
    if not before.strip() and not after.strip():
        return False
    quote = unwrapped(text[span.start : min(span.end, span.start + _REACH)]).text
    spoken = languages(f"{before}{quote}{after}")
    if scope_east_asian.is_cut(before, after, spoken):
        return True
    before, after = _without_idle(before, spoken), _without_idle(after, spoken)
    ended = _SENTENCE_END.search(text, max(span.start, span.end - 4), span.end) is not None
    return _is_governed(before, quote, spoken) or (not ended and _is_turned(after, spoken))


def sentence_at(sentences: Sequence[Span], position: int) -> int:
    """The last sentence that begins at a position or before it."""
    return max(bisect_right(sentences, position, key=lambda s: s.start) - 1, 0)


def _is_turning(lead: str) -> bool:
    spoken = languages(lead)
    return turning(spoken).search(_without_idle(lead, spoken)) is not None


def _without_idle(text: str, spoken: frozenset[str]) -> str:
    """Blanks where a "not only" or "no later than" stands."""
    return turning_nothing(spoken).sub(lambda found: " " * len(found[0]), text)


def lead_in(text: str, sentences: Sequence[Span], position: int) -> Span | None:
    """The "None of these is allowed:" above a list item; None for what is no list item."""
    for at in range(position, max(position - _LONGEST_LIST, -1), -1):
        sentence = text[sentences[at].start : sentences[at].end]
        if not is_list_item(sentence):
            leads = sentence.endswith((":", "：")) and at < position
            return sentences[at] if leads else None
    return None


def _is_governed(before: str, quote: str, spoken: frozenset[str]) -> bool:
    if not before.strip() or _SENTENCE_START.match(quote):
        return False
    if (_FIGURE.match(quote) and _BOUND_BEFORE.search(before)) or _follows_condition(
        before, quote, spoken
    ):
        return True
    clause = before[_last_end(_CLAUSE_END, before) :]
    if _CLAUSE_START.match(quote):
        clause = clause[_last_end(_AND, clause) :]
    if clause == before and _NEGATED_SUBJECT.match(before):
        return True
    turn = _last_end(turning(spoken), clause)
    if turn > 0 and len(clause[turn:].split()) <= _WORDS_GOVERNED:
        return True
    # "May not, without consent, sublet": what stands between two commas ends nothing either.
    inserted = _INSERTED.search(before)
    if inserted and _ends_in_turn(inserted[1], spoken):
        return True
    # "X denied, that": the comma before a subordinate clause ends nothing.
    told = re.search(r"([^,;:.]*),\s*(?:dass|daß|что|що|че|że|že|hogy)\s+\Z", before)
    return told is not None and turning(spoken).search(told[1]) is not None


def _follows_condition(before: str, quote: str, spoken: frozenset[str]) -> bool:
    """Whether a condition such as "If proof is missing," leads to the clause a quote is part of."""
    for found in binding(spoken).finditer(before):
        if not _LABEL.search(before[: found.start()]):
            continue
        lead = before[found.end() :]
        if ";" in lead or ":" in lead:
            continue
        comma = max(lead.rfind(","), lead.rfind("،"), _last_end(re.compile(r"\bतो\b"), lead) - 1)
        rest = lead[comma + 1 :]
        if comma >= 0 and not _NEW_CLAUSE.search(f"{rest}{quote[:0]}"):
            return True
    return False


def _is_turned(after: str, spoken: frozenset[str]) -> bool:
    link = _LINK.match(after)
    begins = link.end() if link else 0
    if _UNTRUE.match(after, begins) or binding(spoken).match(after, begins):
        return True
    direct = after.lstrip(" \"'”’»)")
    if negating(spoken).match(direct):
        return True
    clause = after[: found.start()] if (found := _NEW_CLAUSE.search(after)) else after
    if binding(spoken).search(clause):
        return True
    return (
        bool(spoken & _NEGATES_BACK) and negating(spoken & _NEGATES_BACK).search(clause) is not None
    )


def _ends_in_turn(text: str, spoken: frozenset[str]) -> bool:
    return any(found.end() == len(text) for found in turning(spoken).finditer(text))


def _last_end(pattern: re.Pattern[str], text: str) -> int:
    return max((found.end() for found in pattern.finditer(text)), default=0)
