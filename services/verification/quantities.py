"""Numbers as prose writes them: value, scale, sign, currency or unit, and the comparator that bounds them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from services.verification.evidence import Span

_CURRENCIES = {
    "$": "USD", "US$": "USD", "A$": "AUD", "C$": "CAD", "HK$": "HKD", "NZ$": "NZD", "S$": "SGD", "€": "EUR",
    "£": "GBP", "¥": "JPY", "₹": "INR", "₽": "RUB", "₩": "KRW", "₺": "TRY", "₪": "ILS",
    "dollar": "USD", "dollars": "USD", "euro": "EUR", "euros": "EUR", "pound sterling": "GBP",
    "pounds sterling": "GBP", "yen": "JPY", "rupees": "INR", "roubles": "RUB", "rubles": "RUB",
    **{code: code for code in ["USD", "EUR", "GBP", "JPY", "CHF", "CAD", "AUD", "NZD", "HKD", "SGD", "CNY", "INR", "RUB", "KRW", "TRY", "ILS", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "BRL", "MXN", "ZAR", "AED", "SAR"]},
}  # fmt: skip
_SCALES = {
    "hundred": 2, "thousand": 3, "k": 3, "million": 6, "m": 6, "mm": 6, "mn": 6, "mln": 6, "mio": 6,
    "billion": 9, "b": 9, "bn": 9, "bln": 9, "trillion": 12, "tn": 12, "trn": 12,
}  # fmt: skip
# A unit, the unit it is compared in, and how many of those it is.
_UNITS: dict[str, tuple[str, str]] = {
    "second": ("second", "1"), "minute": ("second", "60"), "hour": ("second", "3600"), "hr": ("second", "3600"),
    "day": ("second", "86400"), "calendar day": ("second", "86400"), "week": ("second", "604800"),
    "business day": ("business day", "1"), "working day": ("business day", "1"), "banking day": ("business day", "1"),
    "trading day": ("trading day", "1"),
    "month": ("month", "1"), "quarter": ("month", "3"), "year": ("month", "12"), "yr": ("month", "12"),
    "mg": ("gram", "0.001"), "g": ("gram", "1"), "gram": ("gram", "1"), "kg": ("gram", "1000"),
    "kilogram": ("gram", "1000"), "tonne": ("gram", "1000000"),
    "cm": ("metre", "0.01"), "metre": ("metre", "1"), "meter": ("metre", "1"), "km": ("metre", "1000"),
    "kilometre": ("metre", "1000"), "kilometer": ("metre", "1000"), "mile": ("mile", "1"), "litre": ("litre", "1"),
    "kW": ("watt", "1000"), "MW": ("watt", "1000000"), "GW": ("watt", "1000000000"),
    "kWh": ("watt hour", "1000"), "MWh": ("watt hour", "1000000"), "GWh": ("watt hour", "1000000000"),
    "MB": ("byte", "1000000"), "GB": ("byte", "1000000000"), "TB": ("byte", "1000000000000"),
    "°C": ("°C", "1"), "°F": ("°F", "1"),
}  # fmt: skip
_WORDS = {
    word: value
    for value, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
    )
} | {
    word: 10 * tens
    for tens, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2)
}  # fmt: skip


def _any(names: Sequence[str] | dict[str, object]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


_GROUP = "[,.'’\u00a0\u2009\u202f]"
_WORD_NUMBER = rf"\b(?i:{_any(list(_WORDS))})(?:[- ](?i:{_any(list(_WORDS))}))?\b"
_NUMBER = re.compile(
    rf"(?<!\w)(?:\d{{1,3}}(?:\ \d{{3}})+(?![\d])|(?:(?<![\d.])\.)?\d+(?:{_GROUP}\d+)*)|{_WORD_NUMBER}"
)
_SYMBOLS = [name for name in _CURRENCIES if not name.isalpha()]
_CODES = [name for name in _CURRENCIES if name.isupper() and name.isalpha()]
_BEFORE = re.compile(
    rf"(?P<open>\()?(?P<sign>(?<![\w)])[-−–+])?(?:(?P<money>{_any(_SYMBOLS)}|\b(?:{_any(_CODES)}))\s?)?"
    r"(?P<inner>\()?(?P<sign2>(?<=[^\w)])[-−+])?$"
)
_SCALE = re.compile(
    rf"(?:[\s-]{{0,2}}(?i:{_any([s for s in _SCALES if len(s) > 1])})|[kKmMbB])(?!\w)"
)
_SPACED_SCALE = re.compile(r" [mMbB](?!\w)")
_SHARE = re.compile(
    r"\s{0,2}(?:(?P<point>(?i:per ?cent(?:age)?[ -]points?|p\.?p\.?(?:ts?)?|ppts?)(?!\w))"
    r"|(?P<basis>(?i:basis[ -]points?|bps?)(?!\w))|(?P<cent>%|(?i:[- ]?per ?cent)(?!\w)))"
)
_MONEY = re.compile(rf"\s{{0,2}}({_any([n for n in _CURRENCIES if n not in ('$', 'US$')])})(?!\w)")
_UNIT = re.compile(rf"[\s-]{{0,2}}({_any(list(_UNITS))})(s?)(?!\w)")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)(?!\w)")
_SUPER = re.compile("[²³¹⁰⁴-⁹]+")

_REACH = 48


class Comparator(StrEnum):
    """How a number bounds what it speaks of."""

    EXACTLY = "exactly"
    ABOUT = "about"
    MORE_THAN = "more than"
    AT_LEAST = "at least"
    LESS_THAN = "less than"
    AT_MOST = "at most"


_COMPARATORS_BEFORE = (
    (Comparator.AT_MOST, r"(?:not|no|never|n't) (?:more|greater|higher|later|longer|over|above|be more|be greater) ?(?:than)?"
                         r"|(?:not|never|cannot) exceed(?:ing|s)?|at most|up to|(?:a )?maximum(?: of)?|within|≤|<="),
    (Comparator.AT_LEAST, r"(?:not|no|n't) (?:less|fewer|lower|smaller|earlier|below|under|be less) ?(?:than)?"
                          r"|at least|(?:a )?minimum(?: of)?|equal to or (?:more|greater|higher) than|≥|>="),
    (Comparator.MORE_THAN, r"(?:more|greater|higher|larger|longer|later) than|over|above|exceed(?:s|ed|ing)?|in excess of"
                           r"|upwards? of|beyond|>"),
    (Comparator.LESS_THAN, r"(?:less|fewer|lower|smaller|shorter|earlier) than|under|below|<"),
    (Comparator.ABOUT, r"about|around|approximately|approx\.?|roughly|nearly|almost|some|circa|ca\.|close to|~|≈"),
)  # fmt: skip
_BOUND_BEFORE = re.compile(
    r"(?<![\w])(?:"
    + "|".join(f"(?P<{c.name}>{pattern})" for c, pattern in _COMPARATORS_BEFORE)
    + r")\s*(?:the |a |an |its )?(?:threshold of |limit of )?$",
    re.IGNORECASE,
)
_BOUND_AFTER = re.compile(
    r"[\s,]{0,2}(?:(?P<AT_LEAST>(?:or|and) (?:more|greater|higher|over|above|longer|older))"
    r"|(?P<AT_MOST>(?:or|and) (?:less|fewer|lower|under|below|younger)))\b",
    re.IGNORECASE,
)
_LIMIT_AFTER = re.compile(
    r"[\s-](?:\w+ ){0,2}(?:threshold|limit|cap|ceiling|floor|minimum|maximum|mark|level)\b",
    re.IGNORECASE,
)
_UP = r"up|rose|rise[sn]?|rising|increas\w*|grew|grow(?:s|n|th|ing)?|gain\w*|higher|climb\w*|surg\w*|jump\w*|improv\w*"
_DOWN = r"down|fell|fall(?:s|en|ing)?|decreas\w*|declin\w*|drop\w*|lower|los[st]\w*|shr[aiu]nk\w*|reduc\w*|slid|contract(?:ed|ion)"
_DIRECTION_BEFORE = re.compile(
    rf"\b(?:(?P<up>{_UP})|(?P<down>{_DOWN}))(?: (?:by|of|to|in|about|nearly|almost|roughly|approximately|a|an|the|over|more|than)){{0,3}} ?$",
    re.IGNORECASE,
)
_DIRECTION_AFTER = re.compile(
    rf"[\s-](?:\w+[\s-]){{0,1}}(?:(?P<up>{_UP})|(?P<down>{_DOWN}))\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with what it counts.

    Attributes:
        span: All of it, from sign or currency to unit; nothing may be cut from it.
        value: In the unit below, sign included.
        number: As written, before it was brought to that unit.
        unit: "" for a bare number; else a currency code, "%", "pp" or the unit it is compared in.
        comparator: How it bounds what it speaks of.
        is_limit: It names a threshold, so that its bare value may stand for the bound itself.
        direction: 1 where it is an increase, -1 where it is a decrease, else 0.
    """

    span: Span
    value: Decimal
    number: Decimal
    unit: str = ""
    comparator: Comparator = Comparator.EXACTLY
    is_limit: bool = False
    direction: int = 0

    @property
    def is_money(self) -> bool:
        return len(self.unit) == len("USD") and self.unit.isupper()


def find(text: str, taken: Sequence[Span] = ()) -> Iterator[Quantity]:
    """The quantities of a text in order, but for numbers inside the spans that are taken."""
    blocked = sorted(taken)
    position = 0
    done = 0
    for found in _NUMBER.finditer(text):
        while position < len(blocked) and blocked[position].end <= found.start():
            position += 1
        if position < len(blocked) and blocked[position].start < found.end():
            continue
        quantity = _read(text, found.start(), found.end())
        if quantity and quantity.span.start >= done:
            done = quantity.span.end
            yield quantity


def _read(text: str, start: int, end: int) -> Quantity | None:
    value = _value(text[start:end])
    if value is None:
        return None
    before = _BEFORE.search(text, max(0, start - 8), start)
    sign, money, opened = "", "", False
    first = start
    if before:
        sign, money, opened = (
            before["sign"] or before["sign2"] or "",
            before["money"] or "",
            bool(before["open"] or before["inner"]),
        )
        first = before.start()
    number = value
    value, unit, last = _scaled(text, end, value, _CURRENCIES.get(money, ""))
    if last == end and end < len(text) and text[end].isalpha():
        return None  # A code such as 3M, not a number.
    if text[start].isalpha() and not unit and value < 2:  # noqa: PLR2004 - "one" alone is a pronoun
        return None
    closed = opened and text[last : last + 1] == ")"
    if closed:
        last += 1
        # Accounting writes losses in parentheses; "(25%)" in prose may be an aside, so the unit decides.
        sign = sign or (
            "-"
            if money or re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?|\d+\.\d+", text[start:end])
            else ""
        )
    elif opened and text[first] == "(":
        first += 1
    if sign in {"-", "−", "–"} and sign:
        value, number = -value, -number
    return Quantity(
        Span(first, last), value, number, unit, _comparator(text, first, last),
        _LIMIT_AFTER.match(text, last, last + _REACH) is not None, _direction(text, first, last),
    )  # fmt: skip


def _value(core: str) -> Decimal | None:
    """The value of a number; None where it is a list or a code such as 4.2.1."""
    if core[0].isalpha():
        parts = re.split("[- ]", core.lower())
        if len(parts) > 1 and not (_WORDS[parts[0]] >= 20 and 0 < _WORDS[parts[1]] < 10):  # noqa: PLR2004
            return None
        return Decimal(sum(_WORDS[part] for part in parts))
    bare = re.sub("['’ \u00a0\u2009\u202f]", "", core)
    for thousands, point in ((",", "."), (".", ",")):
        if re.fullmatch(rf"\d{{1,3}}(?:\{thousands}\d{{3}})+(?:\{point}\d+)?", bare) and (
            thousands == "," or bare.count(".") > 1 or "," in bare
        ):
            return Decimal(bare.replace(thousands, "").replace(point, "."))
    if re.fullmatch(r"\d*[.,]?\d+", bare):
        return Decimal(bare.replace(",", "."))
    return None


def _scaled(text: str, end: int, value: Decimal, unit: str) -> tuple[Decimal, str, int]:
    """Reads scale, percent sign, currency and unit behind a number; gives value, unit and where it ends."""
    if found := _SUPER.match(text, end):
        return value, found.group(), found.end()
    if found := _SCALE.match(text, end) or (_SPACED_SCALE.match(text, end) if unit else None):
        value, end = value.scaleb(_SCALES[re.sub(r"[\s-]", "", found[0]).lower()]), found.end()
    if found := _SHARE.match(text, end):
        if found["basis"]:
            return value / 100, "pp", found.end()
        return value, "pp" if found["point"] else "%", found.end()
    if not unit and (found := _MONEY.match(text, end)):
        return value, _CURRENCIES[found[1]], found.end()
    if found := _UNIT.match(text, end):
        name, factor = _UNITS[found[1]]
        return (value, unit, end) if unit else (value * Decimal(factor), name, found.end())
    if found := _ORDINAL.match(text, end):
        return value, "ordinal", found.end()
    return value, unit, end


def _comparator(text: str, first: int, last: int) -> Comparator:
    found = _BOUND_AFTER.match(text, last, last + _REACH) or _BOUND_BEFORE.search(
        text, max(0, first - _REACH), first
    )
    if found is None:
        return Comparator.EXACTLY
    return Comparator[str(found.lastgroup)]


def _direction(text: str, first: int, last: int) -> int:
    found = _DIRECTION_BEFORE.search(text, max(0, first - _REACH), first) or _DIRECTION_AFTER.match(
        text, last, last + _REACH
    )
    if found is None:
        return 0
    return 1 if found["up"] else -1
