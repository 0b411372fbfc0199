"""What went wrong, as HTTP says it: one table from status to code, and RFC 9457 problem details."""

import math
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import grpc
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status
from starlette.responses import JSONResponse

from services.chassis import status, telemetry

Code = grpc.StatusCode

CLIENT_CLOSED = 499  # Not in the standard; nobody is there to read it, logs and metrics are.

# google.rpc.Code's own mapping.
HTTP: dict[grpc.StatusCode, int] = {
    Code.OK: 200,
    Code.CANCELLED: CLIENT_CLOSED,
    Code.UNKNOWN: 500,
    Code.INVALID_ARGUMENT: 400,
    Code.DEADLINE_EXCEEDED: 504,
    Code.NOT_FOUND: 404,
    Code.ALREADY_EXISTS: 409,
    Code.PERMISSION_DENIED: 403,
    Code.RESOURCE_EXHAUSTED: 429,
    Code.FAILED_PRECONDITION: 400,
    Code.ABORTED: 409,
    Code.OUT_OF_RANGE: 400,
    Code.UNIMPLEMENTED: 501,
    Code.INTERNAL: 500,
    Code.UNAVAILABLE: 503,
    Code.DATA_LOSS: 500,
    Code.UNAUTHENTICATED: 401,
}
UNAVAILABLE_RETRY_SECONDS = 1.0
# What RFC 9110 wants beside a 401; RFC 6750 says the scheme.
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="verity"'}


class Problem(Exception):
    """An answer that is a refusal or a failure; a service's or the gateway's own.

    Args:
        http: The HTTP status.
        detail: What was wrong and what to do; holds nothing that the caller did not send.
        code: Machine-readable kind: the name of a gRPC status.
        reason: Machine-readable cause, such as ENCRYPTED_FILE; empty for none.
        violations: Each field at fault, with what is wrong with it.
        retry_after: Seconds after which a retry has a chance; 0 when none has.
        error_id: Under which the log has an unexpected error whole.
        headers: More headers of the answer.
    """

    def __init__(
        self,
        http: int,
        detail: str,
        *,
        code: Code,
        reason: str = "",
        violations: tuple[tuple[str, str], ...] = (),
        retry_after: float = 0.0,
        error_id: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.http, self.detail, self.code, self.reason = http, detail, code, reason
        self.violations, self.retry_after, self.error_id = violations, retry_after, error_id
        self.headers = dict(headers or {})

    def view(self) -> dict[str, Any]:
        """The problem details, with every member always there."""
        return {
            "type": f"urn:verity:problem:{self.code.name}",
            "title": _title(self.http),
            "status": self.http,
            "detail": self.detail,
            "code": self.code.name,
            "reason": self.reason,
            "violations": [
                {"field": field, "description": description}
                for field, description in self.violations
            ],
            "retry_after_seconds": self.retry_after,
            "error_id": self.error_id,
            "trace_id": telemetry.trace_id(),
        }

    def response(self) -> JSONResponse:
        headers = dict(self.headers)
        if self.retry_after:
            headers["Retry-After"] = str(max(1, math.ceil(self.retry_after)))
        return JSONResponse(
            self.view(), self.http, headers=headers, media_type="application/problem+json"
        )


def invalid(detail: str, *violations: tuple[str, str]) -> Problem:
    return Problem(400, detail, code=Code.INVALID_ARGUMENT, violations=violations)


def internal(error_id: str) -> Problem:
    return Problem(500, "internal error", code=Code.INTERNAL, reason="INTERNAL", error_id=error_id)


def of(error: grpc.aio.AioRpcError) -> Problem:
    """What a failed call means to the one who asked over HTTP."""
    said = status.of(error) or _own_words(error)
    code = status.code_of(said)
    violations: list[tuple[str, str]] = []
    reason, error_id, retry_after = "", "", 0.0
    for detail in said.details:
        bad, info = error_details_pb2.BadRequest(), error_details_pb2.ErrorInfo()
        retry = error_details_pb2.RetryInfo()
        if detail.Unpack(bad):
            violations += [(v.field, v.description) for v in bad.field_violations]
        elif detail.Unpack(info):
            reason, error_id = info.reason, info.metadata.get("error_id", "")
        elif detail.Unpack(retry):
            retry_after = retry.retry_delay.ToNanoseconds() / 1e9
    if code is Code.UNAVAILABLE and not retry_after:
        retry_after = UNAVAILABLE_RETRY_SECONDS
    return Problem(
        HTTP[code],
        said.message,
        code=code,
        reason=reason,
        violations=tuple(violations),
        retry_after=retry_after,
        error_id=error_id,
        headers=_CHALLENGE if code is Code.UNAUTHENTICATED else None,
    )


def refused(error: Exception) -> Problem:
    """What a failure of the gateway's own, raised as services raise theirs, means over HTTP."""
    said = status.of(error)
    assert said is not None  # noqa: S101 - one of errors.py
    code = status.code_of(said)
    return Problem(
        HTTP[code],
        said.message,
        code=code,
        retry_after=UNAVAILABLE_RETRY_SECONDS if code is Code.UNAVAILABLE else 0.0,
        headers=_CHALLENGE if code is Code.UNAUTHENTICATED else None,
    )


def _own_words(error: grpc.aio.AioRpcError) -> status_pb2.Status:
    """A status that services do not pass on: as its service said it, else by its name alone."""
    try:
        said = rpc_status.from_call(error)  # type: ignore[arg-type]  # an error has what is asked of a call
    except ValueError:  # It contradicts the plain status.
        said = None
    name = error.code().name.replace("_", " ").capitalize()
    return said or status_pb2.Status(code=error.code().value[0], message=f"{name}.")


def _title(http: int) -> str:
    return "Client Closed Request" if http == CLIENT_CLOSED else HTTPStatus(http).phrase
