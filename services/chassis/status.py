"""The one table from exception to gRPC status."""

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from services.chassis.errors import (
    Aborted,
    DeadlineExceeded,
    FailedPrecondition,
    InvalidInput,
    NotFound,
    OutOfRange,
    Overloaded,
    PermissionDenied,
    Unauthenticated,
    Unavailable,
)

Code = grpc.StatusCode

STATUS: dict[type[Exception], Code] = {
    InvalidInput: Code.INVALID_ARGUMENT,
    Unauthenticated: Code.UNAUTHENTICATED,
    PermissionDenied: Code.PERMISSION_DENIED,
    NotFound: Code.NOT_FOUND,
    OutOfRange: Code.OUT_OF_RANGE,
    FailedPrecondition: Code.FAILED_PRECONDITION,
    Aborted: Code.ABORTED,
    Overloaded: Code.RESOURCE_EXHAUSTED,
    Unavailable: Code.UNAVAILABLE,
    DeadlineExceeded: Code.DEADLINE_EXCEEDED,
}

# What a service further on says with these, our caller should hear too. Any other code means that
# we should not have called it like this, which is our mistake and not our caller's.
PASSED_ON = frozenset(STATUS.values())

# What is said for a status that the channel made up, whose own words name addresses and sockets.
_CHANNEL = {
    Code.UNAVAILABLE: "A service that this call needs is unavailable; try again.",
    Code.DEADLINE_EXCEEDED: "The call's deadline has passed.",
    Code.RESOURCE_EXHAUSTED: "A message between services is over the size limit.",
}

DOMAIN = "verity"
# Trailers have 8 KiB, in which the message may take three times its size and the details four
# thirds of theirs; a status that does not fit is lost, and the caller hears RESOURCE_EXHAUSTED.
MAX_MESSAGE_BYTES = 800
MAX_VIOLATIONS = 10
MAX_VIOLATION_BYTES = 120


def of(error: Exception) -> status_pb2.Status | None:
    """The status that says what went wrong; None for an exception that nobody planned for."""
    if isinstance(error, grpc.aio.AioRpcError):
        return _passed_on(error)
    if isinstance(error, NotImplementedError):  # What generated servicers raise.
        return _status(
            Code.UNIMPLEMENTED, "This version of the service does not answer this method."
        )
    code = next((code for kind, code in STATUS.items() if isinstance(error, kind)), None)
    return None if code is None else _status(code, str(error), *_details(error))


def internal(error_id: str) -> status_pb2.Status:
    """What the caller hears of an unexpected error: only an id under which the log has it whole."""
    return _status(
        Code.INTERNAL,
        "internal error",
        error_details_pb2.ErrorInfo(
            reason="INTERNAL", domain=DOMAIN, metadata={"error_id": error_id}
        ),
    )


def code_of(status: status_pb2.Status) -> Code:
    return next(code for code in Code if code.value[0] == status.code)


def _details(error: Exception) -> list[Message]:
    details: list[Message] = []
    if isinstance(error, InvalidInput):
        if error.violations:
            details.append(
                error_details_pb2.BadRequest(
                    field_violations=[
                        error_details_pb2.BadRequest.FieldViolation(
                            field=_cut(violation.field, MAX_VIOLATION_BYTES),
                            description=_cut(violation.description, MAX_VIOLATION_BYTES),
                        )
                        for violation in error.violations[:MAX_VIOLATIONS]
                    ]
                )
            )
        if error.reason:
            details.append(error_details_pb2.ErrorInfo(reason=error.reason, domain=DOMAIN))
    if isinstance(error, Overloaded):
        delay = duration_pb2.Duration()
        delay.FromMilliseconds(round(error.retry_after * 1000))
        details.append(error_details_pb2.RetryInfo(retry_delay=delay))
    return details


def _passed_on(error: grpc.aio.AioRpcError) -> status_pb2.Status | None:
    code = error.code()
    if code is Code.CANCELLED:
        # Not by us, or it would be a CancelledError: the peer went away with the call in its hands.
        code = Code.UNAVAILABLE
    if code not in PASSED_ON:
        return None
    # Our own services always send a rich status; other words come from the channel or from a proxy.
    try:
        said = rpc_status.from_call(error)  # type: ignore[arg-type]  # an error has what is asked of a call
    except ValueError:  # It contradicts the plain status.
        said = None
    if said and code is error.code():
        return said
    return _status(code, _CHANNEL.get(code, code.name.replace("_", " ").capitalize() + "."))


def _status(code: Code, message: str, *details: Message) -> status_pb2.Status:
    status = status_pb2.Status(code=code.value[0], message=_cut(message, MAX_MESSAGE_BYTES))
    for detail in details:
        packed = any_pb2.Any()
        packed.Pack(detail)
        status.details.append(packed)
    return status


def _cut(text: str, most_bytes: int) -> str:
    return text.encode()[:most_bytes].decode(errors="ignore")
