"""For each of what a number counts: per month, a year, daily; of a dose, per kilogram."""

import re

_NAMES = {
    "second": "second",
    "minute": "minute min",
    "hour": "hour hr hourly h",
    "day": "day daily night nightly",
    "week": "week weekly",
    "month": "month monthly",
    "quarter": "quarter quarterly",
    "year": "year yearly annum annual annually yr p.a.",
    "kilogram": "kg kilogram",
    "litre": "l litre liter",
    "millilitre": "ml millilitre milliliter",
    "decilitre": "dl",
    "square metre": "m² m2",
}
# A dose is another one without its measure; a price may leave open for what time it is.
MEASURES = frozenset({"kilogram", "litre", "millilitre", "decilitre", "square metre"})
_RATES = {name: rate for rate, names in _NAMES.items() for name in names.split()}
_UNIT = (
    "second|minute|min|hour|hr|day|night|week|month|quarter|year|yr|annum"
    "|kg|kilogram|l|lit(?:re|er)|ml|millilit(?:re|er)|dl|m[²2]"
)
_ADVERB = r"hourly|daily|nightly|weekly|monthly|quarterly|yearly|annually|p\.a\."
_AFTER = re.compile(
    rf"\s?(?:(?:per|an?|each|every|/)\s?(?P<unit>{_UNIT})|(?P<adverb>{_ADVERB}))(?!\w)",
    re.IGNORECASE,
)
# "a monthly fee of $12"
_BEFORE = re.compile(
    r"\b(hourly|daily|weekly|monthly|quarterly|yearly|annual)(?: [a-z]+){1,2}? (?:of|is|was) \Z",
    re.IGNORECASE,
)
_REACH = 40


def rate(text: str, start: int, end: int) -> str:
    """The time or measure for each of which the number at text[start:end] is; else ""."""
    if found := _AFTER.match(text, end):
        return _RATES[(found["unit"] or found["adverb"]).lower()]
    if found := _BEFORE.search(text, max(0, start - _REACH), start):
        return _RATES[found[1].lower()]
    return ""
