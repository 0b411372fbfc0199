"""Words that turn or bind what stands beside them: negations, exceptions, conditions; and quotes cut from under them."""

import re
from bisect import bisect_right
from collections.abc import Sequence

from services.verification.evidence import Span
from services.verification.folding import is_unspaced

# Latin, Cyrillic, Greek, Arabic, Hebrew, Devanagari; Chinese and Japanese are written without spaces
# and stand below.
_NEGATION_WORDS = (
    r"not|no|never|neither|nor|none|nobody|nothing|without|cannot|\w+n['’]t|hardly|scarcely|barely"
    r"|nicht|kein\w{0,2}|nie|niemals|ohne|weder|ne|pas|jamais|aucune?|sans|ni|nunca|jam[aá]s|ning[uú]n\w?|sin|non|mai|senza|não|sem"
    r"|не|ни|нет|без|никогда|нельзя|δεν|μη|μην|όχι|χωρίς|ούτε|لا|لم|لن|ليس|ليست|غير|بدون|דون|לא|אין|אל|בלי|नहीं|न|मत|बिना"
)
_REJECTION_WORDS = (
    r"fail(?:s|ed|ing)? to|refus(?:e|es|ed|ing) to|den(?:y|ies|ied|ying)(?: that)?|prohibit\w*|forbid\w*|forbade|false|untrue|incorrect"
    r"|doubt\w*|unlikely|impossible|instead of|rather than"
)
_EXCEPTION_WORDS = (
    r"unless|except(?:ing|ed)?(?: for| that| where| when| if| as)?|excluding|other than|save (?:for|that|where|as)"
    r"|notwithstanding|es sei denn|außer|sauf(?: si)?|salvo|eccetto|кроме|если не|εκτός|إلا|باستثناء|אלא|למעט|सिवाय"
)
_CONDITION_WORDS = (
    r"only (?:if|when|where|after|with)|if|provided(?: that)?|providing that|on condition that|in the event that|in case of"
    r"|subject to|as long as|so long as|contingent (?:up)?on|assuming(?: that)?|wenn|falls|sofern|à condition que|si|se|если|εάν|αν|إذا|אם|यदि|अगर"
)
_EDGE = r"(?<![\w\u0900-\u097f])(?:{})(?![\w\u0900-\u097f])"
NEGATION = re.compile(_EDGE.format(_NEGATION_WORDS), re.IGNORECASE)
_CONDITION = re.compile(_EDGE.format(f"{_EXCEPTION_WORDS}|{_CONDITION_WORDS}"), re.IGNORECASE)
_TURNING = re.compile(
    _EDGE.format("|".join((_NEGATION_WORDS, _REJECTION_WORDS, _EXCEPTION_WORDS, _CONDITION_WORDS))),
    re.IGNORECASE,
)
_NOT_ONLY = re.compile(
    r"\bnot (?:only|just|merely)\b|\bno (?:later|more|less|fewer) than\b", re.IGNORECASE
)
_OPENING = re.compile(
    r"[^\w]*(?:(?:section|article|clause)?\s*[\d.]+\s*[:.)]?\s*)?(?:no|none|neither|nobody|nothing|never|under no|in no)\b",
    re.IGNORECASE,
)
_CONDITIONAL_LEAD = re.compile(
    rf"(?:^|[:;.]\s*|\d\s+)[^\w]*(?:{_EXCEPTION_WORDS}|{_CONDITION_WORDS})\b[^;:]*,\s*$",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"[,;:.]|\b(?:but|because|while|whereas|although|though|so|which|who)\b", re.IGNORECASE
)
_AND = re.compile(r"\band\b", re.IGNORECASE)
_CLAUSE_START = re.compile(
    r"\W*(?:the|a|an|it|they|he|she|we|i|this|these|that|those|any|each|every|all|its|their)\b",
    re.IGNORECASE,
)
_SENTENCE_START = re.compile(
    r"(?:The|An?|It|They|This|These|That|Those|Any|Each|Every|All|If|When|Where|In|For|No)\b"
)
_TURNED_AFTER = re.compile(
    rf"\W{{0,3}}(?:{_EXCEPTION_WORDS}|{_CONDITION_WORDS}|not|never|n['’]t|nicht|pas|but only"
    r"|(?:is|was|are|were|would be) (?:false|untrue|incorrect|wrong|not (?:true|correct|the case|so))"
    r"|(?:does|do|did|shall|will) not (?:apply|hold))(?!\w)",
    re.IGNORECASE,
)
_HAN_BEFORE = re.compile(r"(?:不|没|没有|未|无|無|非|勿|别|別|禁止|除非|如果|若)$")
_KANA_AFTER = re.compile(r"(?:ない|なかった|ません|ず|ぬ|じゃない|ではない|場合を除)")

_REACH = 240
_WORDS_GOVERNED = 6


def changes_scope(text: str) -> bool:
    """Whether a text holds a word that turns or binds what stands around it."""
    return _TURNING.search(text) is not None or any(c in "不没未无無非勿" for c in text)


def is_scope_cut(text: str, sentences: Sequence[Span], span: Span) -> bool:
    """Whether a quote leaves out the negation, exception or condition just outside that governs it."""
    first = max(bisect_right(sentences, span.start, key=lambda s: s.start) - 1, 0)
    last = max(bisect_right(sentences, span.end - 1, key=lambda s: s.start) - 1, 0)
    start = sentences[first].start if sentences else 0
    end = sentences[last].end if sentences else len(text)
    before = text[max(start, span.start - _REACH) : span.start]
    after = text[span.end : min(end, span.end + _REACH)]
    begins = text[span.start : span.start + 40]
    return _is_governed(before, begins) or _is_turned(after)


def _is_governed(before: str, begins: str) -> bool:
    if not before.strip():
        return False
    if _SENTENCE_START.match(begins):
        return False  # A heading stands before it, without a full stop.
    if _CONDITIONAL_LEAD.search(before) or (
        is_unspaced(begins[:1] or " ") and _HAN_BEFORE.search(before)
    ):
        return True
    clause = before[_last_end(_CLAUSE_END, before) :]
    if _CLAUSE_START.match(begins):
        clause = clause[_last_end(_AND, clause) :]
    if _OPENING.match(before) and clause == before:
        return True
    clause = _NOT_ONLY.sub(lambda found: " " * len(found[0]), clause)
    cues = list(_TURNING.finditer(clause))
    return bool(cues) and len(clause[cues[-1].end() :].split()) <= _WORDS_GOVERNED


def _is_turned(after: str) -> bool:
    return _TURNED_AFTER.match(after) is not None or _KANA_AFTER.match(after) is not None


def _last_end(pattern: re.Pattern[str], text: str) -> int:
    end = 0
    for found in pattern.finditer(text):
        end = found.end()
    return end
