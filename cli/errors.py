"""What went wrong, in one line for a reader and one object for a script."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from rich.console import Console
from rich.text import Text

from cli.text import clean, plain, printable

FAILED = 1
USAGE = 2

# What to do about it; statuses whose message already says so are left out.
_HINTS = {
    grpc.StatusCode.DEADLINE_EXCEEDED: "Allow more time with --timeout.",
    grpc.StatusCode.RESOURCE_EXHAUSTED: "Try again in a moment.",
    grpc.StatusCode.UNIMPLEMENTED: "The running system is of another version than this command.",
}


@dataclass(frozen=True, slots=True)
class Violation:
    """One field of the request that breaks a rule."""

    field: str
    description: str


class CliError(Exception):
    """A failure the user can act on; anything else is a bug and keeps its traceback.

    Args:
        message: What was wrong.
        code: Machine-readable kind: a gRPC status name, or a word of this command's.
        hint: What to do; empty when the message says it.
        violations: The fields at fault.
        reason: google.rpc.ErrorInfo.reason, such as ENCRYPTED_FILE.
        detail: Lines to show below, such as the end of a log.
        exit_code: What the command ends with.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "FAILED_PRECONDITION",
        hint: str = "",
        violations: Iterable[Violation] = (),
        reason: str = "",
        detail: str = "",
        exit_code: int = FAILED,
    ) -> None:
        super().__init__(message)
        self.message, self.code, self.hint, self.reason = message, code, hint, reason
        self.violations = tuple(violations)
        self.detail, self.exit_code = detail, exit_code

    def view(self) -> dict[str, Any]:
        """The `error` object of --json."""
        return {
            "code": self.code,
            "message": self.message,
            "violations": [
                {"field": v.field, "description": v.description} for v in self.violations
            ],
            "reason": self.reason,
            "hint": self.hint,
            "detail": self.detail,
        }

    def line(self) -> Text:
        """What, where, and what to do."""
        # A service's message names the first field at fault itself.
        unsaid = [v for v in self.violations if v.description not in self.message]
        fields = "; ".join(f"{clean(v.field)} {clean(v.description)}" for v in unsaid)
        reason = f" ({clean(self.reason)})" if self.reason else ""
        parts = (clean(self.message) + reason, fields, self.hint)
        return Text.assemble(("error: ", "bold red"), plain(" ".join(p for p in parts if p)))

    def print(self, console: Console) -> None:
        """The line, and below it the detail."""
        console.print(self.line(), soft_wrap=True)
        for line in self.detail.splitlines():
            console.print(Text("  " + printable(line), "dim"), soft_wrap=True)


def from_rpc(error: grpc.aio.AioRpcError, service: str, address: str) -> CliError:
    """What a failed call means to the one who typed the command."""
    code = error.code()
    violations, reason, error_id = _details(error)
    message = error.details() or f"{service} answered {code.name} without saying why."
    hint = _HINTS.get(code, "")
    if error_id:
        hint = f"The service's log, under the data directory, has it as {error_id}."
    if "failed to connect" in message.lower():
        message = f"Nothing answers for {service} at {address}."
        hint = "If it is not running, start it with `verity up`."
    elif code is grpc.StatusCode.DEADLINE_EXCEEDED:
        message = f"{service} at {address} took longer than the time allowed."
    return CliError(message, code=code.name, hint=hint, violations=violations, reason=reason)


def _details(error: grpc.aio.AioRpcError) -> tuple[list[Violation], str, str]:
    """Violations, reason and error id from google.rpc.Status; nothing where there is none."""
    violations: list[Violation] = []
    reason = error_id = ""
    try:
        # types-grpcio-status asks for a call; an error has all that is read of one.
        status = rpc_status.from_call(cast(grpc.Call, error))
    except ValueError:
        return violations, reason, error_id
    for detail in status.details if status else ():
        bad, info = error_details_pb2.BadRequest(), error_details_pb2.ErrorInfo()
        if detail.Unpack(bad):
            violations += [Violation(v.field, v.description) for v in bad.field_violations]
        elif detail.Unpack(info):
            reason, error_id = info.reason, info.metadata.get("error_id", "")
    return violations, reason, error_id
