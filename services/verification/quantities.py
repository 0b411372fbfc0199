"""Numbers as prose writes them: value, scale, sign, currency or unit, and what bounds them."""

# ruff: noqa: RUF001 - typographic apostrophes and minus signs are meant

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from services.verification.bounds import Comparator, comparator, direction, is_threshold
from services.verification.evidence import Span

_CODES = frozenset(
    [
        "USD",
        "EUR",
        "GBP",
        "JPY",
        "CHF",
        "CAD",
        "AUD",
        "NZD",
        "HKD",
        "SGD",
        "CNY",
        "INR",
        "RUB",
        "KRW",
        "TRY",
        "ILS",
        "SEK",
        "NOK",
        "DKK",
        "PLN",
        "CZK",
        "HUF",
        "BRL",
        "MXN",
        "ZAR",
        "AED",
        "SAR",
    ]
)
_SYMBOLS = {
    symbol: code
    for code, symbols in {
        "USD": ("$", "US$"),
        "EUR": ("€",),
        "GBP": ("£",),
        "JPY": ("¥",),
        "AUD": ("A$",),
        "CAD": ("C$",),
        "HKD": ("HK$",),
        "NZD": ("NZ$",),
        "SGD": ("S$",),
        "INR": ("₹",),
        "RUB": ("₽",),
        "KRW": ("₩",),
        "TRY": ("₺",),
        "ILS": ("₪",),
    }.items()
    for symbol in symbols
}
_CURRENCY_WORDS = {
    "dollar": "USD",
    "dollars": "USD",
    "euro": "EUR",
    "euros": "EUR",
    "pounds sterling": "GBP",
    "yen": "JPY",
    "rupees": "INR",
    "roubles": "RUB",
    "rubles": "RUB",
}
_CURRENCIES = {**_SYMBOLS, **{code: code for code in _CODES}, **_CURRENCY_WORDS}
_POWERS_OF_TEN = {
    name: power
    for power, names in {
        2: ("hundred",),
        3: ("thousand", "k"),
        6: ("million", "m", "mm", "mn", "mln", "mio"),
        9: ("billion", "b", "bn", "bln"),
        12: ("trillion", "tn", "trn"),
    }.items()
    for name in names
}
# By the unit it is compared in: each unit with how many of those it is.
_UNITS = {
    unit: (common, Decimal(factor))
    for common, units in {
        "second": {
            "second": "1",
            "minute": "60",
            "hour": "3600",
            "hr": "3600",
            "day": "86400",
            "calendar day": "86400",
            "week": "604800",
        },
        "month": {"month": "1", "quarter": "3", "year": "12", "yr": "12"},
        "business day": {"business day": "1", "working day": "1", "banking day": "1"},
        "trading day": {"trading day": "1"},
        "gram": {
            "mg": "1E-3",
            "g": "1",
            "gram": "1",
            "kg": "1E3",
            "kilogram": "1E3",
            "tonne": "1E6",
        },
        "metre": {"cm": "0.01", "metre": "1", "meter": "1", "km": "1E3", "kilometre": "1E3"},
        "mile": {"mile": "1"},
        "litre": {"litre": "1"},
        "watt": {"kW": "1E3", "MW": "1E6", "GW": "1E9"},
        "watt hour": {"kWh": "1E3", "MWh": "1E6", "GWh": "1E9"},
        "byte": {"MB": "1E6", "GB": "1E9", "TB": "1E12"},
        "°C": {"°C": "1"},
        "°F": {"°F": "1"},
    }.items()
    for unit, factor in units.items()
}
_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
_TEENS = "fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORDS = {word: value for value, word in enumerate(f"{_ONES} {_TEENS}".split())} | {
    word: 10 * tens for tens, word in enumerate(_TENS.split(), start=2)
}
_FIRST_TEN = 10
_FIRST_TENS_WORD = 20
# "one" alone is a pronoun more often than a number.
_LEAST_BARE_WORD = 2


def _any(names: Iterable[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


_WORD_NUMBER = rf"\b(?i:{_any(_WORDS)})(?:[- ](?i:{_any(_WORDS)}))?\b"
_NUMBER = re.compile(
    r"(?<!\w)(?:\d{1,3}(?: \d{3})+(?!\d)"
    r"|(?:(?<![\d.])\.)?\d+(?:[,.'’\u00a0\u2009\u202f]\d+)*)"
    rf"|{_WORD_NUMBER}"
)
_BEFORE = re.compile(
    r"(?P<open>\()?(?P<sign>(?<![\w)])[-−–+])?"
    rf"(?:(?P<money>{_any(_SYMBOLS)}|\b(?:{_any(_CODES)}))\s?)?"
    r"(?P<inner>\()?(?P<sign2>(?<=[^\w)])[-−+])?\Z"
)
_SCALE = re.compile(
    rf"(?:[\s-]{{0,2}}(?i:{_any(s for s in _POWERS_OF_TEN if len(s) > 1)})|[kKmMbB])(?!\w)"
)
_SPACED_SCALE = re.compile(r" [mMbB](?!\w)")
_SHARE = re.compile(
    r"\s{0,2}(?:"
    r"(?P<point>(?i:per ?cent(?:age)?[ -]points?|p\.?p\.?(?:ts?)?|ppts?)(?!\w))"
    r"|(?P<basis>(?i:basis[ -]points?|bps?)(?!\w))"
    r"|(?P<cent>%|(?i:[- ]?per ?cent)(?!\w)))"
)
_MONEY = re.compile(rf"\s{{0,2}}({_any(n for n in _CURRENCIES if n not in {'$', 'US$'})})(?!\w)")
_UNIT = re.compile(rf"[\s-]{{0,2}}({_any(_UNITS)})s?(?!\w)")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)(?!\w)")
_SUPERSCRIPT = re.compile("[²³¹⁰⁴-⁹]+")
# Accounting writes losses in parentheses. A bare "(25)" is more often a note or a list number.
_ACCOUNTED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with what it counts.

    Attributes:
        span: All of it, from sign or currency to unit; nothing may be cut from it.
        value: In the unit below, sign included.
        number: As written, before it was brought to that unit.
        unit: "" for a bare number; else a currency code, "%", "pp" or the unit it is compared in.
        comparator: How it bounds what it speaks of.
        is_threshold: Its bare value may stand for the bound itself.
        direction: 1 where it is an increase, -1 where it is a decrease, else 0.
    """

    span: Span
    value: Decimal
    number: Decimal
    unit: str = ""
    comparator: Comparator = Comparator.EXACTLY
    is_threshold: bool = False
    direction: int = 0

    @property
    def is_money(self) -> bool:
        return self.unit in _CODES


def find(text: str, taken: Sequence[Span] = ()) -> Iterator[Quantity]:
    """The quantities of a text in order, but for numbers inside the spans that are taken."""
    blocked = sorted(taken)
    position = done = 0
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
    core = text[start:end]
    number = _value(core)
    if number is None:
        return None
    first, sign, money, opened = _before(text, start)
    closed = opened and text[end : end + 1] == ")"
    value, unit, last = _scaled(text, end + closed, number, _CURRENCIES.get(money, ""))
    if last == end and text[end : end + 1].isalpha():
        return None  # A code such as 3M, not a number.
    if core[0].isalpha() and not unit and value < _LEAST_BARE_WORD:
        return None
    if closed or (opened and text[last : last + 1] == ")"):
        last += not closed
        if money or _ACCOUNTED.fullmatch(core):
            sign = sign or "-"
    elif opened and text[first] == "(":
        first += 1
    if sign and sign != "+":
        value, number = -value, -number
    return Quantity(
        Span(first, last),
        value,
        number,
        unit,
        comparator(text, first, last),
        is_threshold(text, last),
        direction(text, first, last),
    )


def _before(text: str, start: int) -> tuple[int, str, str, bool]:
    """Where a number begins, its sign, its currency, and whether a parenthesis opens before it."""
    found = _BEFORE.search(text, max(0, start - 8), start)
    if found is None:
        return start, "", "", False
    sign = found["sign"] or found["sign2"] or ""
    return found.start(), sign, found["money"] or "", bool(found["open"] or found["inner"])


def _value(core: str) -> Decimal | None:
    """The value of a number; None where it is a list or a code such as 4.2.1."""
    if core[0].isalpha():
        parts = [_WORDS[part] for part in re.split("[- ]", core.lower())]
        if len(parts) > 1 and not (parts[0] >= _FIRST_TENS_WORD and 0 < parts[1] < _FIRST_TEN):
            return None
        return Decimal(sum(parts))
    bare = re.sub("['’ \u00a0\u2009\u202f]", "", core)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", bare):
        return Decimal(bare.replace(",", ""))
    # 1.234,5 and 1.234.567 as much of Europe writes them; 1.234 alone is a decimal fraction.
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}", bare):
        return Decimal(bare.replace(".", "").replace(",", "."))
    if re.fullmatch(r"\d*[.,]?\d+", bare):
        return Decimal(bare.replace(",", "."))
    return None


def _scaled(text: str, end: int, value: Decimal, unit: str) -> tuple[Decimal, str, int]:
    """Value, unit and end of a number with the scale, percent sign, currency or unit behind it."""
    if found := _SUPERSCRIPT.match(text, end):
        return value, found.group(), found.end()
    if found := _SCALE.match(text, end) or (_SPACED_SCALE.match(text, end) if unit else None):
        value = value.scaleb(_POWERS_OF_TEN[re.sub(r"[\s-]", "", found[0]).lower()])
        end = found.end()
    if found := _SHARE.match(text, end):
        value = value / 100 if found["basis"] else value
        return value, "%" if found["cent"] else "pp", found.end()
    if not unit and (found := _MONEY.match(text, end)):
        return value, _CURRENCIES[found[1]], found.end()
    if not unit and (found := _UNIT.match(text, end)):
        unit, factor = _UNITS[found[1]]
        return value * factor, unit, found.end()
    if not unit and (found := _ORDINAL.match(text, end)):
        return value, "ordinal", found.end()
    return value, unit, end
