"""Which of several clocks is off; pure. Offsets are seconds ahead of this machine's clock."""

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from statistics import median_low

from cli.checks.finding import Finding, failure, fine, skipped, warning

# Tokens are refused, leases and lifetimes misjudged, past the one; the other is worth a look.
_WRONG, _ODD = 60.0, 5.0
_MEND = "synchronize its clock (NTP: chronyc makestep, or timedatectl set-ntp true)"
HERE = "this machine"
# A Date is cut off to the second: less than this tells nothing.
_UNTOLD = 2.0


def by_date(date: str, asked: float, answered: float) -> float:
    """The offset of a clock by the Date of its HTTP reply, asked for and there at these times."""
    offset = parsedate_to_datetime(date).timestamp() + 0.5 - (asked + answered) / 2
    return offset if abs(offset) > _UNTOLD else 0.0


def judge(offsets: Mapping[str, float]) -> list[Finding]:
    """Each clock beside what most of them say, this machine's own among them."""
    if not offsets:
        return [skipped("clock", "nothing answered that could tell the time")]
    clocks = {HERE: 0.0, **offsets}
    # With two clocks nobody can say which is right; then the other one's word is the truth.
    agreed = median_low(clocks.values()) if len(clocks) > 2 else next(iter(offsets.values()))  # noqa: PLR2004
    found = []
    for name, offset in clocks.items():
        apart = offset - agreed
        if abs(apart) <= _ODD:
            continue
        where = "ahead of" if apart > 0 else "behind"
        says = f"is {_length(abs(apart))} {where} {_others(clocks, name)}"
        make = failure if abs(apart) > _WRONG else warning
        found.append(make(f"clock of {name}", says, _MEND))
    if found:
        return found
    widest = max(abs(offset) for offset in clocks.values())
    return [fine("clock", f"{len(clocks)} clocks agree within {max(widest, 0.1):.1f} s")]


def _others(clocks: Mapping[str, float], name: str) -> str:
    others = [other for other in clocks if other != name]
    return others[0] if len(others) == 1 else f"most of {', '.join(others)}"


def _length(seconds: float) -> str:
    if seconds >= 5400:  # noqa: PLR2004 - an hour and a half
        return f"{seconds / 3600:.1f} hours"
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} s"  # noqa: PLR2004
