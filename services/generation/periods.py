"""Periods in a question, and the question with another period in the same place."""

import re

_QUARTERS = 4
_I = re.IGNORECASE
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_QUARTER = re.compile(r"\bQ([1-4])\b", _I)
_MONTHS = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905 - shorter so
)
_MONTH = re.compile(r"\b(" + "|".join(_MONTHS) + r")\b", _I)
_PREPOSITION = r"(?:(?:in|for|during|at|of|on)\s+)?"
_BEFORE = (r"before|earlier|prior", r"previous|prior|preceding")
_AFTER = (r"after|later", r"next|following|subsequent")


def _beside(unit: str, behind: str, ahead: str) -> re.Pattern[str]:
    """Such as: the year before, a year earlier, the previous year."""
    return re.compile(
        rf"^{_PREPOSITION}(?:the|a)?\s*(?:{unit} (?:{behind})(?: that)?|(?:{ahead}) {unit})$", _I
    )


_YEAR_BEFORE, _YEAR_AFTER = _beside("year", *_BEFORE), _beside("year", *_AFTER)
_QUARTER_BEFORE, _QUARTER_AFTER = _beside("quarter", *_BEFORE), _beside("quarter", *_AFTER)
_IS_PERIOD = re.compile(
    rf"^{_PREPOSITION}(?:the\s+)?(?:(?:fiscal|fy|financial|calendar)\s*(?:year\s*)?)?"
    r"(?P<quarter>Q[1-4])?[\s,]*(?:of\s+)?(?P<month>" + "|".join(_MONTHS) + r")?[\s,]*(?:of\s+)?"
    r"(?P<year>(?:19|20)\d\d)?$",
    _I,
)


def shifted(what: str, question: str) -> str:
    """The question with its period moved as "the year before" says; empty where it cannot be."""
    if _YEAR_BEFORE.match(what):
        return _move_year(question, -1)
    if _YEAR_AFTER.match(what):
        return _move_year(question, +1)
    if _QUARTER_BEFORE.match(what):
        return _move_quarter(question, -1)
    if _QUARTER_AFTER.match(what):
        return _move_quarter(question, +1)
    return ""


def swapped(what: str, question: str) -> str:
    """The question with the period that `what` is, in the place of its own; empty where none is."""
    match = _IS_PERIOD.match(what)
    if not match or not any(match.groupdict().values()):
        return ""
    found = question
    for pattern, new in (
        (_QUARTER, match["quarter"]), (_MONTH, match["month"]), (_YEAR, match["year"])
    ):  # fmt: skip
        if new is None:
            continue
        if len(set(pattern.findall(found))) != 1:
            return ""
        found = pattern.sub(new, found)
    return found


def _move_year(question: str, by: int) -> str:
    years = set(_YEAR.findall(question))
    if len(years) != 1:
        return ""
    return _YEAR.sub(lambda year: str(int(year[0]) + by), question)


def _move_quarter(question: str, by: int) -> str:
    quarters, years = set(_QUARTER.findall(question)), set(_YEAR.findall(question))
    if len(quarters) != 1 or len(years) > 1:
        return ""
    number = int(quarters.pop()) + by
    wrapped = (number - 1) % _QUARTERS + 1
    moved = _QUARTER.sub(f"Q{wrapped}", question)
    if wrapped == number:
        return moved
    return _move_year(moved, by) if years else ""
