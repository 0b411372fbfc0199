"""The period that a figure of a text is for."""

import re

from services.verification.dates import Date
from services.verification.evidence import Span
from services.verification.reading import Facts

_CLAUSE = re.compile(
    r"[;:()]|,(?!\d)"
    r"|\b(?:and|but|while|whereas|versus|vs|against|compared (?:with|to)|(?:up|down) from|from)\b",
    re.IGNORECASE,
)
_RELATIVE_PERIOD = re.compile(
    r"\b(?:(?:year|quarter|month)s? (?:earlier|ago|before)"
    r"|(?:prior|previous|last|preceding)[- ](?:year|quarter|period|month)\w*"
    r"|same (?:quarter|period))\b",
    re.IGNORECASE,
)
_REACH = 400


def period(facts: Facts, span: Span) -> Date | None:
    """The one period that a figure is for; None where that is not plain."""
    left, right = max(0, span.start - _REACH), min(len(facts.text), span.end + _REACH)
    start = max((m.end() for m in _CLAUSE.finditer(facts.text, left, span.start)), default=left)
    following = _CLAUSE.search(facts.text, span.end, right)
    end = following.start() if following else right
    near = [date for date in facts.dates if left <= date.span.start < right]
    own = [date for date in near if start <= date.span.start < end]
    if len(own) == 1:
        return own[0]
    if not own and len(near) == 1 and not _RELATIVE_PERIOD.search(facts.text, left, right):
        return near[0]
    return None
