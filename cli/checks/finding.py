"""What a look found: of what, how bad, and the mend in one line."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Level(StrEnum):
    """How bad it is."""

    OK = "ok"
    SKIPPED = "skipped"
    WARNING = "warning"
    FAILURE = "failure"


# As monitoring systems read it: all is well, something needs a look, something does not work.
EXIT_CODES = {Level.OK: 0, Level.SKIPPED: 0, Level.WARNING: 1, Level.FAILURE: 2}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        check: Of what, such as "redis policy".
        level: How bad it is.
        says: What is the case.
        mend: What to do about it; empty when there is nothing to do.
    """

    check: str
    level: Level
    says: str
    mend: str = ""

    def view(self) -> dict[str, Any]:
        """One object of --json."""
        return {
            "check": self.check,
            "level": self.level.value,
            "says": self.says,
            "mend": self.mend,
        }


def fine(check: str, says: str) -> Finding:
    """It is as it should be."""
    return Finding(check, Level.OK, says)


def skipped(check: str, says: str) -> Finding:
    """It was not looked at, and why."""
    return Finding(check, Level.SKIPPED, says)


def warning(check: str, says: str, mend: str) -> Finding:
    """It works, and will not for ever, or not safely."""
    return Finding(check, Level.WARNING, says, mend)


def failure(check: str, says: str, mend: str) -> Finding:
    """It does not work."""
    return Finding(check, Level.FAILURE, says, mend)


def exit_code(findings: Iterable[Finding]) -> int:
    """That of the worst."""
    return max((EXIT_CODES[finding.level] for finding in findings), default=0)
