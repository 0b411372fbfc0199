"""Words that turn or bind what stands beside them, and quotes that are cut from under them."""

# ruff: noqa: RUF001 - the words of other scripts are meant

import re
from bisect import bisect_right
from collections.abc import Sequence

from services.verification.evidence import Span
from services.verification.folding import is_unspaced, unwrapped
from services.verification.phrases import any_of, compiled, whole
from services.verification.sentences import is_list_item

# Chinese and Japanese, which are written without spaces, stand below.
NEGATIONS = r"""
    not | no | never | neither | nor | none | nobody | nothing | without | cannot | \w+n['’]t
    hardly | scarcely | barely
    nicht | kein\w{0,2} | nie | niemals | ohne | weder
    ne | n['’](?=\w) | pas | jamais | aucune? | sans | ni | nunca | jamás | ningun[oa]s? | ningún
    sin | non(?![-‐‑]) | mai | senza | não | sem
    не | ни | нет | без | никогда | нельзя
    δεν | μη | μην | όχι | χωρίς | ούτε
    لا | لم | لن | ليس | ليست | غير | بدون | לא | אין | אל | בלי | नहीं | न | मत | बिना
"""
REJECTIONS = r"""
    (?:fail(?:s|ed|ing)?|failure) to | refus(?:e|es|ed|ing) to | den(?:y|ies|ied|ying)(?: that)?
    prohibit\w* | forbid\w* | forbade | bann?ed | false | untrue | incorrect | doubt\w*
    unlikely | impossible | instead of | rather than
"""
EXCEPTIONS = r"""
    unless | except(?:ing|ed)?(?: for| that| where| when| if| as)? | excluding | other than
    save (?:for|that|where|as) | notwithstanding
    es sei denn | außer | sauf(?: si)? | salvo | eccetto | кроме | если не | εκτός
    إلا | باستثناء | אלא | למעט | सिवाय
"""
CONDITIONS = r"""
    only (?:if|when|where|after|with) | if | provided(?: that)? | providing that
    on condition that | in the event that | in case of | subject to | as long as | so long as
    contingent (?:up)?on | assuming(?: that)?
    wenn | falls | sofern | à condition que | si | se | если | εάν | αν | إذا | אם | यदि | अगर
"""
NEGATION = compiled(NEGATIONS)
_BINDING = any_of(EXCEPTIONS + CONDITIONS)
_TURNING = compiled(NEGATIONS + REJECTIONS + EXCEPTIONS + CONDITIONS)
_TURNING_HAN = re.compile("[不没未无無非勿别]|除非|如果|若|ない|ません|なかった")

# These hold a "not" or "no" that turns nothing.
_TURNS_NOTHING = compiled(
    r"""
    not (?:only|just|merely) | (?:no|not) (?:later|more|less|fewer|earlier|longer) than | no\.\s?\d
    """
)
_NEGATED_SUBJECT = re.compile(
    r"\W*(?:(?:section|article|clause)?\s*[\d.]+\s*[:.)]?\s*)?"
    + whole(any_of("no | none | neither | nobody | nothing | never | under no | in no")),
    re.IGNORECASE,
)
# "If proof is missing," before a quote that starts with what follows from it.
_CONDITIONAL_LEAD = re.compile(
    rf"(?:^|[:;.]\s*|\d\s+)\W*{whole(_BINDING)}[^;:]*,\s*\Z", re.IGNORECASE
)
_CLAUSE_END = re.compile(
    r"[,;:.]|\b(?:but|because|while|whereas|although|though|so|which|who)\b", re.IGNORECASE
)
_AND = re.compile(r"\band\b", re.IGNORECASE)
_CLAUSE_START = re.compile(
    r"\W*(?:the|a|an|it|they|he|she|we|i|this|these|that|those|any|each|every|all|its|their)\b",
    re.IGNORECASE,
)
# A capital that only the start of a sentence explains: a heading without a full stop stands before.
_SENTENCE_START = re.compile(
    r"(?:The|An?|It|They|This|These|That|Those|Any|Each|Every|All|If|When|Where|In|For|No)\b"
)
_TURNED_AFTER = re.compile(
    r"\W{0,3}"
    + whole(
        f"(?:{_BINDING}|"
        + any_of(
            r"""
            not | never | n['’]t | nicht | pas | but only
            (?:is|was|are|were|would be) (?:false|untrue|incorrect|wrong)
            (?:is|was|are|were|would be) not (?:true|correct|the case|so)
            (?:does|do|did|shall|will) not (?:apply|hold)
            """
        )
        + ")"
    ),
    re.IGNORECASE,
)
_TURNED_BEFORE_HAN = re.compile(r"(?:不|没|没有|未|无|無|非|勿|别|別|禁止|除非|如果|若)\Z")
_TURNED_AFTER_KANA = re.compile("ない|なかった|ません|ず|ぬ|じゃない|ではない|場合を除")

_REACH = 240
_WORDS_GOVERNED = 6
_LONGEST_LIST = 40


def changes_scope(text: str) -> bool:
    """Whether a text holds a word that turns or binds what stands around it."""
    return _TURNING.search(text) is not None or _TURNING_HAN.search(text) is not None


def is_scope_cut(text: str, sentences: Sequence[Span], span: Span) -> bool:
    """Whether a negation, exception or condition just outside a quote governs it."""
    if not sentences:
        return False
    first = _sentence_at(sentences, span.start)
    start = sentences[first].start
    end = sentences[_sentence_at(sentences, span.end - 1)].end
    if changes_scope(_lead_in(text, sentences, first)):
        return True
    before = unwrapped(text[max(start, span.start - _REACH) : span.start]).text
    begins = unwrapped(text[span.start : span.start + 40]).text
    after = unwrapped(text[span.end : min(end, span.end + _REACH)]).text
    return _is_governed(before, begins) or _is_turned(after)


def _sentence_at(sentences: Sequence[Span], position: int) -> int:
    return max(bisect_right(sentences, position, key=lambda s: s.start) - 1, 0)


def _lead_in(text: str, sentences: Sequence[Span], position: int) -> str:
    """The "None of these is allowed:" above a list item; empty for what is no list item."""
    for at in range(position, max(position - _LONGEST_LIST, -1), -1):
        sentence = text[sentences[at].start : sentences[at].end]
        if not is_list_item(sentence):
            return sentence if sentence.endswith(":") and at < position else ""
    return ""


def _is_governed(before: str, begins: str) -> bool:
    if not before.strip() or _SENTENCE_START.match(begins):
        return False
    if _CONDITIONAL_LEAD.search(before):
        return True
    if is_unspaced(begins[0]) and _TURNED_BEFORE_HAN.search(before):
        return True
    clause = before[_last_end(_CLAUSE_END, before) :]
    if _CLAUSE_START.match(begins):
        clause = clause[_last_end(_AND, clause) :]
    if clause == before and _NEGATED_SUBJECT.match(before):
        return True
    clause = _TURNS_NOTHING.sub(lambda found: " " * len(found[0]), clause)
    turn = _last_end(_TURNING, clause)
    return turn > 0 and len(clause[turn:].split()) <= _WORDS_GOVERNED


def _is_turned(after: str) -> bool:
    return _TURNED_AFTER.match(after) is not None or _TURNED_AFTER_KANA.match(after) is not None


def _last_end(pattern: re.Pattern[str], text: str) -> int:
    return max((found.end() for found in pattern.finditer(text)), default=0)
