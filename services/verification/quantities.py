"""Numbers as prose writes them: value, scale, sign, currency or unit, rate, and what bounds them.

Digits are read in the forms common in Europe where they are unambiguous; number words, fractions
and multiples are read in English only.
"""

# ruff: noqa: RUF001 - typographic apostrophes and minus signs are meant

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from services.verification import numerals
from services.verification.bounds import Comparator, bound, direction, is_range, side
from services.verification.evidence import Span
from services.verification.rates import rate
from services.verification.units import CODES, CURRENCIES, POWERS_OF_TEN, SIGNS, UNITS, any_name

ORDINAL = "ordinal"
TIMES = "times"
CLOCK = "o'clock"

_MULTIPLES = {
    "twice": "2",
    "thrice": "3",
    **{f"{stem}{end}": "2" for stem in ("doubl",) for end in ("ed", "es", "ing")},
    **{f"{stem}{end}": "3" for stem in ("tripl", "trebl") for end in ("ed", "es", "ing")},
    **{f"quadrupl{end}": "4" for end in ("ed", "es", "ing")},
    **{f"halv{end}": "0.5" for end in ("ed", "es", "ing")},
    "twofold": "2",
    "threefold": "3",
    "fourfold": "4",
    "fivefold": "5",
    "tenfold": "10",
}
_NUMBER = re.compile(
    r"(?<!\w)(?P<digits>(?:(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?\s?(?P<noon>[ap])\.?m\b\.?"
    r"|(?P<hour24>[01]?\d|2[0-3]):(?P<minute24>[0-5]\d)(?![\d:]))"
    r"|\d{1,3}(?: \d{3})+(?!\d)"
    r"|(?:(?<![\d.])\.)?\d+(?:[,.'’\u00a0\u2009\u202f]\d+)*[½¼¾⅓⅔⅛]?|[½¼¾⅓⅔⅛])"
    rf"|(?P<fraction>{numerals.FRACTION})|(?P<ordinal>{numerals.ORDINAL})"
    rf"|(?P<words>{numerals.WORDS})"
    rf"|\b(?P<multiple>(?i:{any_name(_MULTIPLES)}"
    r"|once(?= (?:an?|per|each|every|daily|weekly|monthly|yearly|annually)\b)))(?!\w)"
)
_BEFORE = re.compile(
    r"(?P<open>\()?(?P<sign>(?<![\w)])[-−–+])?"
    rf"(?:(?P<money>(?<![^\W\d_])(?:{any_name(SIGNS)}))\s?)?"
    r"(?P<inner>\()?(?P<sign2>(?<=[^\w)])[-−+])?\Z"
)
_LONG_SCALES = [name for name in POWERS_OF_TEN if len(name) > 1]
_SCALE = re.compile(rf"(?:[\s-]{{0,2}}(?i:{any_name(_LONG_SCALES)})|[kKmMbB])(?!\w)")
# Without a currency these are millimetres.
_OF_MONEY = {"mm"}
_SPACED_SCALE = re.compile(r" [mMbB](?!\w)")
_SHARE = re.compile(
    r"\s{0,2}(?:"
    r"(?P<point>(?i:per ?cent(?:age)?[ -]points?|p\.?p\.?(?:ts?)?|ppts?)(?!\w))"
    r"|(?P<basis>(?i:basis[ -]points?|bps?)(?!\w))"
    r"|(?P<cent>%|(?i:[- ]?per ?cent|Prozent|pour cent)(?!\w)))"
)
_MONEY = re.compile(
    rf"\s{{0,2}}(?:d['’]|de )?({any_name(n for n in CURRENCIES if n not in {'$', 'US$'})})(?!\w)"
    rf"|\s{{0,2}}(?i:(?P<word>{any_name(n for n in CURRENCIES if n.isalpha() and n.islower())}))"
    r"(?!\w)"
)
_UNIT = re.compile(rf"[\s-]{{0,2}}({any_name(UNITS)})s?(?!\w)")
_PART_OF_UNIT = re.compile(rf" (?:of )?an? ({any_name(UNITS)})(?!\w)")
_TIMES = re.compile(r"(?:[\s-]{1,2}times|\s?[x×])(?!\w)")
_NTH = re.compile(r"(?:st|nd|rd|th)(?!\w)")
_SUPERSCRIPT = re.compile("[⁺⁻²³¹⁰⁴-⁹]+")
# Accounting writes losses in parentheses. A bare "(25)" is more often a note or a list number.
_ACCOUNTED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+")
_LIST = re.compile(r",? (?:and|or) |, ")
_SAID_TWICE = re.compile(rf"{numerals.WORDS} \(\Z")
# "one" alone is a pronoun more often than a number.
_LEAST_BARE_WORD = 2
_NOON = 12
_HOUR = 60


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with what it counts.

    Attributes:
        span: All of it, from sign or currency to unit; nothing may be cut from it.
        value: In the unit below, sign included.
        number: As written, before it was brought to that unit.
        unit: "" for a bare number; else a currency code, "%", "pp", "times", "ordinal", "o'clock"
            or the unit it is compared in.
        comparator: How it bounds what it speaks of.
        is_threshold: Its bare value may stand for the bound itself.
        direction: 1 where it is an increase, -1 where it is a decrease, else 0.
        side: 1 where it is a gain, -1 where it is a loss, else 0.
        step: The last place in which it is written, in its unit: what it was rounded to.
        rate: The time it is for each of, such as "month"; "" where it says none.
    """

    span: Span
    value: Decimal
    number: Decimal
    unit: str = ""
    comparator: Comparator = Comparator.EXACTLY
    is_threshold: bool = False
    direction: int = 0
    side: int = 0
    step: Decimal = Decimal(0)
    rate: str = ""

    @property
    def is_money(self) -> bool:
        return self.unit in CODES


@dataclass(slots=True)
class _Reading:
    """What is known of a number so far."""

    value: Decimal
    step: Decimal
    unit: str
    end: int

    def scaled(self, factor: Decimal, unit: str, end: int) -> None:
        self.value, self.step = self.value * factor, self.step * factor
        self.unit, self.end = unit, end


def find(text: str, taken: Sequence[Span] = ()) -> Iterator[Quantity]:
    """The quantities of a text in order, but for numbers inside the spans that are taken."""
    yield from _ranges(text, list(_find(text, taken)))


def _find(text: str, taken: Sequence[Span]) -> Iterator[Quantity]:
    blocked = sorted(taken)
    position = done = 0
    for found in _NUMBER.finditer(text):
        while position < len(blocked) and blocked[position].end <= found.start():
            position += 1
        if position < len(blocked) and blocked[position].start < found.end():
            continue
        quantity = _read(text, found)
        if quantity and quantity.span.start >= done:
            done = quantity.span.end
            yield quantity


def _ranges(text: str, found: list[Quantity]) -> Iterator[Quantity]:
    """The same, with the ends of "between 10 and 15%" as bounds, and "two (2)" once."""
    for at, following in enumerate(found[1:]):
        one = found[at]
        if (
            not one.unit
            and following.unit
            and _LIST.fullmatch(text, one.span.end, following.span.start)
        ):
            found[at] = _in_one_unit(one, following)[0]
        if is_range(text, one.span, following.span):
            low, high = _in_one_unit(one, following)
            if low.unit == high.unit and low.value < high.value:
                found[at] = replace(low, comparator=Comparator.AT_LEAST)
                found[at + 1] = replace(high, comparator=Comparator.AT_MOST)
    for one, following in pairwise(found):
        if not _is_repeated(text, one, following):
            yield one
    yield from found[-1:]


def _in_one_unit(low: Quantity, high: Quantity) -> tuple[Quantity, Quantity]:
    """The ends of a range where only one has the currency, the scale or the unit of both."""
    if low.is_money and not high.unit:
        high = replace(high, unit=low.unit)
    if (not low.unit or low.unit == high.unit) and low.number == low.value and high.number:
        factor = high.value / high.number
        low = replace(low, value=low.value * factor, step=low.step * factor, unit=high.unit)
    return low, high


def _is_repeated(text: str, one: Quantity, following: Quantity) -> bool:
    return (
        one.number == following.number
        and text[one.span.end : following.span.start + 1] == " ("
        and text[one.span.start].isalpha()
    )


def _read(text: str, found: re.Match[str]) -> Quantity | None:
    start, end = found.span()
    if found["ordinal"]:
        value = numerals.ordinal(found)
        return Quantity(Span(start, end), value, value, ORDINAL)
    if found["hour"] or found["hour24"]:
        minutes = _minutes(found)
        return Quantity(Span(start, end), minutes, minutes, CLOCK)
    if found["multiple"]:
        times = Decimal(_MULTIPLES.get(found["multiple"].lower(), "1"))
        way = direction(text, start, end) or _way(found["multiple"].lower())
        return _quantity(text, _Reading(times, times, TIMES, end), start, times, way)
    if found["fraction"]:
        return _share(text, start, end, numerals.fraction(found))
    core = found.group()
    number = numerals.value(core) if found["words"] else _value(core)
    if number is None:
        return None
    return _counted(text, start, end, number, core)


def _counted(text: str, start: int, end: int, number: Decimal, core: str) -> Quantity | None:
    if half := numerals.AND_A_HALF.match(text, end):
        number, end = number + Decimal("0.5"), half.end()
    first, sign, money, opened = _before(text, start)
    closed = opened and text[end : end + 1] == ")"
    reading = _Reading(number, _last_place(number), CURRENCIES.get(money, ""), end + closed)
    scaled = _scale(text, reading)
    if reading.end == end and text[end : end + 1].isalpha():
        return None  # A code such as 3M, not a number.
    if core[0].isalpha() and not reading.unit and not scaled and number < _LEAST_BARE_WORD:
        return None
    last = reading.end
    if closed or (opened and text[last : last + 1] == ")"):
        last += not closed
        is_accounted = money or (closed and scaled) or _ACCOUNTED.fullmatch(core)
        if is_accounted and not _SAID_TWICE.search(text, max(0, first - 40), first + 1):
            sign = sign or "-"
    elif opened and text[first] == "(":
        first += 1
    if sign and sign != "+":
        reading.value, number = -reading.value, -number
    reading.end = last
    return _quantity(text, reading, first, number, direction(text, first, last))


def _quantity(text: str, reading: _Reading, first: int, number: Decimal, way: int) -> Quantity:
    found = bound(text, first, reading.end)
    return Quantity(
        Span(first, reading.end),
        reading.value,
        number,
        reading.unit,
        found.comparator,
        found.is_threshold,
        way,
        side(text, first, reading.end),
        reading.step,
        rate(text, first, reading.end),
    )


def _share(text: str, start: int, end: int, part: Decimal) -> Quantity:
    """A fraction of something; of a unit it is so much of that unit, else a percentage."""
    if found := _PART_OF_UNIT.match(text, end):
        unit, factor = UNITS[found[1]]
        reading = _Reading(part * factor, Decimal(0), unit, found.end())
    else:
        # A fraction of words is as good as a rounded percentage.
        reading = _Reading(part * 100, Decimal(1), "%", end)
    return _quantity(text, reading, start, reading.value, direction(text, start, end))


def _minutes(found: re.Match[str]) -> Decimal:
    hour = int(found["hour"] or found["hour24"])
    if found["noon"]:
        hour = hour % _NOON + (_NOON if found["noon"] == "p" else 0)
    return Decimal(hour * _HOUR + int(found["minute"] or found["minute24"] or 0))


def _way(multiple: str) -> int:
    return -1 if multiple.startswith("halv") else int(multiple.endswith(("ed", "es", "ing")))


def _before(text: str, start: int) -> tuple[int, str, str, bool]:
    """Where a number begins, its sign, its currency, and whether a parenthesis opens before it."""
    found = _BEFORE.search(text, max(0, start - 8), start)
    if found is None:
        return start, "", "", False
    sign = found["sign"] or found["sign2"] or ""
    return found.start(), sign, found["money"] or "", bool(found["open"] or found["inner"])


def _value(core: str) -> Decimal | None:
    """The value of a number; None where it is a list or a code such as 4.2.1."""
    if core[-1] in "½¼¾⅓⅔⅛":
        whole = _value(core[:-1]) if core[:-1] else Decimal(0)
        return whole + Decimal(str(unicodedata.numeric(core[-1]))) if whole is not None else None
    bare = re.sub("['’ \u00a0\u2009\u202f]", "", core)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", bare):
        return Decimal(bare.replace(",", ""))
    # 1.234,5 and 1.234.567 as much of Europe writes them; 1.234 alone is a decimal fraction.
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}", bare):
        return Decimal(bare.replace(".", "").replace(",", "."))
    if re.fullmatch(r"\d*[.,]?\d+", bare):
        return Decimal(bare.replace(",", "."))
    return None


def _last_place(number: Decimal) -> Decimal:
    exponent = number.as_tuple().exponent
    return Decimal(1).scaleb(min(int(exponent), 0))


def _scale(text: str, reading: _Reading) -> bool:
    """Reads the scale, percent sign, currency or unit behind a number; whether it has a scale."""
    if found := _SUPERSCRIPT.match(text, reading.end):
        reading.unit, reading.end = found.group(), found.end()
        return False
    scale = _SCALE.match(text, reading.end)
    if reading.unit:
        scale = scale or _SPACED_SCALE.match(text, reading.end)
    elif scale and scale[0].strip() in _OF_MONEY:
        scale = None
    if scale:
        name = re.sub(r"[\s-]", "", scale[0])
        power = POWERS_OF_TEN.get(name) or POWERS_OF_TEN[name.lower()]
        reading.scaled(Decimal(10) ** power, reading.unit, scale.end())
    end = reading.end
    if share := _SHARE.match(text, end):
        factor = Decimal("0.01") if share["basis"] else Decimal(1)
        reading.scaled(factor, "%" if share["cent"] else "pp", share.end())
    elif not reading.unit and (found := _MONEY.match(text, end)):
        reading.unit = CURRENCIES[found[1] or found["word"].lower()]
        reading.end = found.end()
    elif not reading.unit and (found := _UNIT.match(text, end)):
        unit, factor = UNITS[found[1]]
        reading.scaled(factor, unit, found.end())
    elif not reading.unit and (found := _TIMES.match(text, end)):
        reading.unit, reading.end = TIMES, found.end()
    elif not reading.unit and (found := _NTH.match(text, end)):
        reading.unit, reading.end = ORDINAL, found.end()
    return scale is not None
