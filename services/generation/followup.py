"""A question that leans on the one before it, said so that it stands alone, by rules of its words.

Three ways of leaning are known, each told by its form: the question names only what differs ("and
for Q2?", "what about Germany?", "and the year before?"), it is a bare question word ("why?"), or it
speaks of it, its, they or that, and names nothing these could stand for. What differs takes the
place of what is of the same kind in the question before: a period of a period, a name of a name, a
measure of a measure. Where the words do not say what that is, the question before is set beside the
new one whole. A question that fits none of these is left as it is. Answers are never read, so no
document or model can put words into a question.
"""

import re
from collections.abc import Callable, Sequence

from services.generation.drafter import Resolution, Turn
from services.generation.periods import shifted, swapped
from services.generation.subjects import names

RESOLVER = "rules/1"
MAX_CHARS = 4000

_I = re.IGNORECASE
_LEAD = r"^(?:(?:and|but|so|ok|okay|well|then)\b,?\s+)*"
_ELLIPSIS = re.compile(
    r"^(?:(?:and|but|so|ok|okay|well)\b,?\s+)*"
    r"(?:(?P<asks>what about|how about|what of|same (?:question )?(?:for|about))\s+)?"
    r"(?P<what>(?P<preposition>in|for|at|on|of|during|under|with|from|by|to)?\b\s*.{1,80}?)\s*\?*$",
    _I,
)
_BEGINS_OPEN = re.compile(r"^(?:and|but|so|ok|okay|well)\b", _I)
# "What was it in 2023?": nothing but the period is new.
_SAME_IN = re.compile(
    _LEAD + r"(?:what|how (?:much|many|high|large|big))\s+(?:is|are|was|were)\s+"
    r"(?:it|that|this|they|those|these)\s+(?P<what>.{2,60}?)\s*\?*$",
    _I,
)
_BARE = re.compile(
    _LEAD + r"(?P<asks>why(?: not| so| is that| was that)?|how(?: so| come)?|when|where|who"
    r"|since when|until when|by when|by whom|for whom|how (?:much|many|long|often))\s*\?*$",
    _I,
)
_VERB = re.compile(
    r"\b(?:am|is|are|was|were|be|been|do|does|did|has|have|had|can|could|may|might|must|shall|should"
    r"|will|would|need|needs)\b",
    _I,
)
_PRONOUN = re.compile(
    r"\b(?P<it>it|they|them|he|she|him|its|their|his|this|that|these|those)\b", _I
)
# Of people, or of nobody in particular ("where did they film it"): only in a short question.
_PERSONAL = frozenset(("they", "them", "their", "he", "she", "him", "his"))
_PEOPLE = frozenset(("he", "she", "him", "his"))
_MOST_PERSONAL = 7
_POSSESSIVE = frozenset(("its", "their", "his"))
_DEMONSTRATIVE = frozenset(("this", "that", "these", "those"))
# A demonstrative that stands for something, and neither joins clauses nor goes with a noun.
_STANDS_ALONE = re.compile(
    r"\s*(?:\?*$|[,;]|(?:is|are|was|were|apply|applies|mean|means|happen|happens|change|changes|work|works"
    r"|require|requires|include|includes)\b)",
    _I,
)
_IS = re.compile(r"\b(?:is|are|was|were)\b\s*$|^(?:is|are|was|were)\b", _I)
_AFTER_AUXILIARY = re.compile(
    r"(?:^|\b)(?:is|are|was|were|does|do|did|can|could|must|should|may|will|would|about|for|with|from"
    r"|by|under|after|before|to)\s+$",
    _I,
)
# It stands for nothing here: "is it true that", "why might it be difficult to", "does it snow".
_EMPTY_IT = re.compile(
    r"\bit\s+(?:be\s+)?(?:\w+\s+)?(?:true|possible|necessary|required|allowed|permitted|mandatory"
    r"|enough|sufficient|likely|legal|lawful|prohibited|forbidden|important|difficult|hard|easy|safe"
    r"|common|normal|usual|good|bad|better|best|useful)\b.*?\b(?:that|to|for|if|when|whether)\b"
    r"|\bit\s+(?:takes?|says?|states?|means?|rains?|snows?|gets? (?:dark|light|cold|warm|late))\b",
    _I,
)
_NOUN_BEFORE = re.compile(
    r"\b(?:an?|the|any|each|every|all|no|some|which|our|your)\s+(?!of\b)[^\W\d_]{2,}|[^\W\d_]{4,}s\b",
    _I,
)
_MEASURE = re.compile(
    r"^(?P<head>(?:what|which)\s+(?:is|are|was|were)\s+)(?:the\s+|an?\s+)?"
    r"(?P<owner>(?:[A-Z][\w&.-]*\s+)*[A-Z][\w&.-]*'s\s+)?"
    r"(?P<measure>[^\W_][\w\s-]*?)"
    r"(?P<tail>\s+(?:in|for|during|at|of|on|as of|under|by|per)\s+.*?)?\s*\?*$",
    _I,
)
_WORDS_OF_TURN = re.compile(r"[^\W_]+")
# What a rewording may say of its own.
_SMALL_WORDS = frozenset(
    "a about after an and are as at be been before by can could did do does during for from had"  # noqa: SIM905
    " has have he her his how if in into is it its many may much must need of on or s shall she"
    " should the their there they to under was were what when where which who whom whose why will"
    " with would".split()
)
# "Who owns it?": one verb may stand between.
_SUBJECTS = frozenset(("who", "what", "which"))
_LEAST_RESOLVED, _MOST_RESOLVED = 3, 120
_MOST_WORDS = 8
_MOST_LOWER = 6


def resolve(question: str, history: Sequence[Turn]) -> Resolution:
    """The question said so that it stands alone, as far as the rules reach.

    Args:
        question: As it was asked.
        history: What was asked before, oldest first; each is resolved by the one before it.
    """
    before = ""
    for turn in history:
        before = _resolved(turn.question, before)
    resolved = _resolved(question, before)
    if resolved == question or len(resolved) > MAX_CHARS:
        return Resolution(question)
    return Resolution(resolved, RESOLVER)


def may_lean(question: str) -> bool:
    """Whether a question might lean on the one before it: what a model is asked about."""
    return bool(
        _BEGINS_OPEN.match(question)
        or _PRONOUN.search(question)
        or len(_WORDS_OF_TURN.findall(question)) <= _MOST_WORDS
    )


def says_nothing_new(resolved: str, known: str) -> bool:
    """Whether a rewording is a question, built of known words and of words without content."""
    words = {word.casefold() for word in _WORDS_OF_TURN.findall(known)} | _SMALL_WORDS
    said = [word.casefold() for word in _WORDS_OF_TURN.findall(resolved)]
    return (
        resolved.endswith("?")
        and len(resolved) <= MAX_CHARS
        and _LEAST_RESOLVED <= len(said) <= _MOST_RESOLVED
        and set(said) <= words
    )


def _resolved(question: str, before: str) -> str:
    if not before:
        return question
    asked = " ".join(question.split())
    rules: tuple[Callable[[str, str], str], ...] = (_bare, _same_in, _ellipsis, _pronoun)
    for rule in rules:
        if found := rule(asked, before):
            return found
    return question


def _bare(asked: str, before: str) -> str:
    match = _BARE.match(asked)
    return f"{_capital(match['asks'])}: {before}" if match else ""


def _same_in(asked: str, before: str) -> str:
    match = _SAME_IN.match(asked)
    return _with_period(match["what"], before) if match else ""


def _ellipsis(asked: str, before: str) -> str:
    """What differs, put where the question before has its like."""
    match = _ELLIPSIS.match(asked)
    if not match or len(_WORDS_OF_TURN.findall(asked)) > _MOST_WORDS:
        return ""
    if not (match["asks"] or _BEGINS_OPEN.match(asked) or match["preposition"]):
        return "" if not shifted(match["what"], before) else _with_period(match["what"], before)
    what = match["what"].strip()
    if _VERB.search(what) or _PRONOUN.fullmatch(what):
        return ""
    bare = re.sub(r"^(?:in|for|at|on|of|during|under|with|from|by|to)\s+", "", what, flags=_I)
    return (
        _with_period(what, before)
        or _with_name(bare, before)
        or (_with_measure(bare, before) if not match["preposition"] else "")
        or f"{_open(before)} ({what})?"
    )


def _with_period(what: str, before: str) -> str:
    return shifted(what, before) or swapped(what, before)


def _with_name(what: str, before: str) -> str:
    """The name in the place of the one name that the question before has."""
    new, known = names(f"about {what}"), names(before)
    is_name = len(new) == 1 and new[0].casefold() == _article(what).casefold()
    if not is_name or len(known) != 1:
        return ""
    return before.replace(known[0], new[0])


def _with_measure(what: str, before: str) -> str:
    """The measure in the place of the one that was asked for."""
    match = _MEASURE.match(before)
    if not match or names(f"about {what}") or len(what.split()) > _MOST_LOWER:
        return ""
    owner = match["owner"] or "the "
    return f"{match['head']}{owner}{_article(what)}{match['tail'] or ''}?"


def _pronoun(asked: str, before: str) -> str:
    """The one name of the question before for the pronoun, or that question beside this one."""
    for match in _PRONOUN.finditer(asked):
        word = match["it"].casefold()
        ahead, behind = asked[: match.start()], asked[match.end() :]
        if names(asked) or _is_named(_without_lead(ahead)) or _is_empty(match, asked):
            return ""
        if word in _PERSONAL and len(_WORDS_OF_TURN.findall(asked)) > _MOST_PERSONAL:
            return ""
        if word in _DEMONSTRATIVE and not (
            _STANDS_ALONE.match(behind)
            and _AFTER_AUXILIARY.search(ahead)
            and not (_IS.search(ahead) and _IS.match(behind.strip()))
        ):
            continue
        known = names(before)
        if len(known) == 1 and word not in _DEMONSTRATIVE | _PEOPLE:
            said = f"{known[0]}'s" if word in _POSSESSIVE else known[0]
            return ahead + said + behind
        return f"{_open(_capital(_without_lead(asked)))} ({_open(before)})?"
    return ""


def _is_named(ahead: str) -> bool:
    """Whether what a pronoun stands for may be named before it, or it begins a statement."""
    words = [word.casefold() for word in _WORDS_OF_TURN.findall(ahead)]
    content = [word for word in words if word not in _SMALL_WORDS]
    is_verb = len(content) == 1 and words[:2] == [words[0], *content] and words[0] in _SUBJECTS
    return not words or bool(_NOUN_BEFORE.search(ahead)) or (bool(content) and not is_verb)


def _is_empty(match: re.Match[str], asked: str) -> bool:
    return any(empty.start() <= match.start() < empty.end() for empty in _EMPTY_IT.finditer(asked))


def _without_lead(text: str) -> str:
    return re.sub(_LEAD, "", text, flags=_I)


def _article(text: str) -> str:
    return re.sub(r"^(?:the|an?)\s+", "", text, flags=_I)


def _open(question: str) -> str:
    return question.rstrip(" ?")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
