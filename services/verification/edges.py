"""Whether a stretch of text begins and ends where a word or a number does."""

# ruff: noqa: RUF001 - typographic hyphens, apostrophes and the words of other scripts are meant

import re
import unicodedata

from services.verification.characters import is_unspaced
from services.verification.evidence import Span
from services.verification.phrases import any_of

# Inside a word or between the parts of one.
_HYPHENS = "-‐‑־"
_CONNECTORS = _HYPHENS + "'’/_@"
_POINTS = ".,:٫٬"
# Of a power or a charge: 10⁻⁶ is not 10.
_RAISED_SIGNS = "⁺⁻"
# A Hebrew abbreviation carries its mark before the last letter.
_GERSHAYIM = '"״'
_INVISIBLE = "\u00ad\u0640\u200b\u2060"
# A word that goes on over a line end.
_WRAPPED_BEFORE = re.compile(rf"[^\W_][{re.escape(_HYPHENS)}][^\S\n]{{0,8}}\n\s{{0,8}}\Z")
_WRAPPED_AFTER = re.compile(rf"[{re.escape(_HYPHENS)}][^\S\n]{{0,8}}\n\s{{0,8}}[^\W_]")
# How far a number's sign, currency, scale and unit may stand from it, with what wraps between.
_REACH = 40
# More white space than a pattern allows for, and how far away the other end of it is looked for.
_GAP = re.compile(r"\s{3,}")
_FAR = 1_000

_HAN_DIGITS = "〇零一二三四五六七八九十百千万萬亿億兆两兩壹贰叁肆伍陆柒捌玖拾佰仟"
_NUMBER_WORDS = any_of(
    r"""
    two | three | four | five | six | seven | eight | nine | ten | eleven | twelve
    (?:thir|four|fif|six|seven|eigh|nine)teen
    (?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:[- ]\w{3,5})?
    """
)
_SCALES = any_of(
    r"""
    hundred | thousand | million | billion | trillion | mn | bn | mln | mio | mrd | Mio\. | Mrd\.
    Million(?:en)? | Milliarden? | millions? | milliards? | mill[oó]n(?:es)? | mil | milh(?:ão|ões)
    mille | milion[ei] | miliard[ioy]? | miljoen | miljard | miljon(?:er)? | milliona
    тыс\.? | тысяч\w* | млн\.? | млрд\.? | миллион\w* | миллиард\w* | мільйон\w* | мільярд\w*
    хил\.? | εκατ\. | εκατομμύρι\w+ | δισ\. | δισεκατομμύρι\w+ | χιλ\. | χιλιάδες
    ألف | آلاف | مليون | ملايين | مليار | مليارات | אלף | אלפי | מיליון | מיליארד
    हज़ार | हजार | लाख | करोड़ | अरब | 천 | 만 | 억 | 조
    """
)
_SHARES = any_of(
    r"""
    % | ‰ | per\s?cent | percent | percentage points? | basis points? | bps | bp | Prozent\w*
    pour cent | por ciento | por cento | per cento | procent\w* | процент\w+ | τοις εκατό
    في المائة | بالمائة | אחוז\w* | प्रतिशत | 퍼센트 | 프로
    """
)
_UNITS = any_of(
    r"""
    (?:(?:business|calendar|working|banking|trading) )?days?
    seconds? | minutes? | hours? | weeks? | months? | quarters? | years?
    [kcmµ]?m[²³]? | [kmµ]?g | [mµ]?l | [kMGTm]?W(?:h)? | [kMG]?Hz | [KMGT]?B | °\s?[CFK] | mmol/L
    tonnes? | kilograms? | grams? | met(?:re|er)s? | kilomet(?:re|er)s? | miles? | lit(?:re|er)s?
    """
)
_MARKS = "[$€£¥₹₽₩₺₪₫₴₦]"
_CODES = any_of(
    r"""
    USD | EUR | GBP | JPY | CHF | CAD | AUD | NZD | HKD | SGD | CNY | INR | RUB | KRW | TRY | ILS
    SEK | NOK | DKK | PLN | CZK | HUF | BRL | MXN | ZAR | AED | SAR
    """
)
_MONEY = (
    rf"(?:{_MARKS}|{_CODES}(?!\w)|(?:dollars?|euros?|pounds? sterling|yen|rupees?|rou?bles?)(?!\w))"
)
# A number behind which something of it may still come, and what that may be.
_NUMBER_ENDS = re.compile(
    rf"(?:\d[)\]]?|[½¼¾⅓⅔²³])\s{{0,2}}\Z|(?<!\w)(?:{_NUMBER_WORDS})[\s-]{{0,2}}\Z"
    rf"|\d\s{{0,2}}{_SCALES}\s{{0,2}}\Z|[{_HAN_DIGITS}]\s?\Z",
    re.IGNORECASE,
)
_PART_OF_NUMBER = re.compile(rf"\s{{0,2}}(?:{_SHARES}|(?:{_SCALES})(?!\w))", re.IGNORECASE)
_UNIT_OF_NUMBER = re.compile(rf"[\s-]{{0,2}}(?:(?:{_UNITS})(?!\w)|{_MONEY})")
# What stands before the digits of a number and belongs to it.
_BEFORE_NUMBER = re.compile(
    rf"(?:(?:US|A|C|HK|NZ|S)?{_MARKS}|{_CODES})\s{{0,2}}[-−(]?\Z|[<>≤≥]\s?\Z|(?:^|[^\w\s)\]])?[-−–+±~(]\Z"
)
_BEFORE_SIGN = re.compile(rf"(?:US|A|C|HK|NZ|S)\Z|[(\-−–]\Z|(?:{_MARKS}|{_CODES})\s{{0,2}}\Z")
_NUMBER_STARTS = re.compile(r"[\d½¼¾⅓⅔]|[.٫]\d")


def is_whole(text: str, span: Span) -> bool:
    """Whether a span cuts neither a word nor a number with its sign, currency, scale and unit."""
    around_start, around_end = _around(text, span.start), _around(text, span.end)
    return not (
        _is_joined(*around_start)
        or _is_joined(*around_end)
        or _cuts_before(*around_start)
        or _cuts_after(*around_end)
    )


def _around(text: str, at: int) -> tuple[str, str]:
    """What stands on both sides of a position; an indent or what was furniture as one space."""
    before, after = text[max(0, at - _REACH) : at], text[at : at + _REACH]
    if _GAP.search(before):
        before = _GAP.sub(_narrow, text[max(0, at - _FAR) : at])[-_REACH:]
    if _GAP.search(after):
        after = _GAP.sub(_narrow, text[at : at + _FAR])[:_REACH]
    return before, after


def _narrow(gap: re.Match[str]) -> str:
    return "\n" if "\n" in gap[0] else " "


def _is_joined(beside: str, behind: str) -> bool:
    """Whether the characters on both sides of a position belong to one word or number."""
    left, right = beside[-4:].rstrip(_INVISIBLE), behind[:4].lstrip(_INVISIBLE)
    if not left or not right:
        return False
    before, after = left[-1], right[0]
    if _is_inner(before) and _is_inner(after):
        return _is_one_word(before, after, left)
    if _is_inner(before):
        return _goes_on(right, before) or _WRAPPED_AFTER.match(behind) is not None
    return _is_inner(after) and (
        _goes_on(left[::-1], after) or _WRAPPED_BEFORE.search(beside[-20:]) is not None
    )


def _is_one_word(before: str, after: str, left: str) -> bool:
    if is_unspaced(before) or is_unspaced(after):
        if before in _HAN_DIGITS and after in _HAN_DIGITS:
            return True
        if after in _HAN_DIGITS + "0123456789" and left.endswith(("第", "分之")):
            return True
        # A measure stands behind its digits; any other edge of Han may be one of words.
        return before.isdigit() and is_unspaced(after)
    return True


def _goes_on(run: str, near: str) -> bool:
    """Whether a run of characters, leading away from a word, connects it with more of the same."""
    bridge, beyond = run[0], run[1:]
    if not beyond or not _is_inner(beyond[0]):
        return False
    if bridge in _CONNECTORS or (bridge in _POINTS and beyond[0].isdigit() and near.isdigit()):
        return True
    if bridge == ".":
        return near.islower() and beyond[0].islower()  # A domain, or an abbreviation.
    if bridge in _GERSHAYIM:
        return _is_hebrew(near) and _is_hebrew(beyond[0])
    return bridge == "(" and near.isdigit()


def _is_inner(char: str) -> bool:
    return char.isalnum() or char in _RAISED_SIGNS or unicodedata.category(char)[0] == "M"


def _is_hebrew(char: str) -> bool:
    return "\u05d0" <= char <= "\u05ea"


def _cuts_after(before: str, after: str) -> bool:
    """Whether a number goes on behind a quote, with its scale, percent sign, unit or bracket."""
    if not before or not after:
        return False
    if not _NUMBER_ENDS.search(before):
        return _ends_in_sign(before) and _NUMBER_STARTS.match(after) is not None
    if _PART_OF_NUMBER.match(after) or _UNIT_OF_NUMBER.match(after):
        return True
    return after.startswith(")") and re.search(r"\([\d.,٫٬\s]*\Z", before) is not None


def _cuts_before(before: str, after: str) -> bool:
    """Whether a number has begun before a quote: with its sign, its currency or its digits."""
    if not before:
        return False
    if _NUMBER_STARTS.match(after):
        return _BEFORE_NUMBER.search(before) is not None
    if after[:1] in "-−–+(" or re.match(_MARKS, after):
        return re.match(r".\s?\d", after) is not None and _BEFORE_SIGN.search(before) is not None
    return _NUMBER_ENDS.search(before) is not None and _PART_OF_NUMBER.match(after) is not None


def _ends_in_sign(before: str) -> bool:
    return before[-1] in "-−–+±$€£¥₹₽₩₺₪₫₴₦("
