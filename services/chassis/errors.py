"""What can go wrong, as plain exceptions; `status.py` says which gRPC status each becomes.

A message here is written for the caller: it says what was wrong and what to do, and holds nothing
that the caller did not send. Any other exception leaves as INTERNAL with a fixed message.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """One field of a request that breaks a rule, as google.rpc.BadRequest wants it."""

    field: str
    description: str


class InvalidInput(Exception):
    """The request can never succeed as it is.

    Args:
        message: What is wrong and what to do.
        violations: The fields at fault.
        reason: Machine-readable cause for google.rpc.ErrorInfo, such as ENCRYPTED_FILE; empty for
            none.
    """

    def __init__(
        self, message: str, *, violations: tuple[Violation, ...] = (), reason: str = ""
    ) -> None:
        super().__init__(message)
        self.violations = violations
        self.reason = reason


class Unauthenticated(Exception):
    """Nobody knows who calls."""


class PermissionDenied(Exception):
    """Who calls may not do this."""


class NotFound(Exception):
    """What is named does not exist for this caller."""


class OutOfRange(Exception):
    """The thing exists, the position in it does not."""


class FailedPrecondition(Exception):
    """The request is well formed, but the state of things forbids it."""


class Aborted(Exception):
    """Another call is at work on the same thing; try again."""


class Overloaded(Exception):
    """No room for this call now.

    Args:
        message: What is full.
        retry_after: Seconds after which a retry has a chance, for google.rpc.RetryInfo.
    """

    def __init__(self, message: str, *, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unavailable(Exception):
    """Something this service needs is down; the same call may succeed later."""


class DeadlineExceeded(Exception):
    """The time the caller allowed is used up."""
