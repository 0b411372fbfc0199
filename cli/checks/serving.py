"""Whether the services serve, what each says is missing, and which version each is."""

import asyncio
import json
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from cli.checks import clocks
from cli.checks.finding import Finding, failure, fine, warning
from services.chassis.client import full_target
from services.chassis.health import CLOCK_KEY, DEPENDENCY, VERSION_KEY

_NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
_SERVING = health_pb2.HealthCheckResponse.SERVING


@dataclass(frozen=True, slots=True)
class Reply:
    """What one service says of itself.

    Attributes:
        statuses: By the names that its health service knows.
        version: Empty when it does not say.
        offset: Seconds that its clock is ahead of ours; None when it does not say.
        error: Why there is no reply.
    """

    statuses: Mapping[str, int] = field(default_factory=dict)
    version: str = ""
    offset: float | None = None
    error: str = ""


async def ask(target: str, credentials: grpc.ChannelCredentials | None, seconds: float) -> Reply:
    """What the service at a gRPC target says."""
    where = full_target(target)
    options = [("grpc.enable_http_proxy", 0)]
    opened = (
        grpc.aio.secure_channel(where, credentials, options)
        if credentials
        else grpc.aio.insecure_channel(where, options)
    )
    async with opened as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        before = time.time()
        call = stub.List(health_pb2.HealthListRequest(), timeout=seconds)  # type: ignore[attr-defined]
        try:
            reply = await call
            told = dict(await call.initial_metadata() or ())
        except grpc.aio.AioRpcError as error:
            return Reply(error=_why(error))
        middle = (before + time.time()) / 2
    clock = str(told.get(CLOCK_KEY, ""))
    return Reply(
        {name: one.status for name, one in reply.statuses.items()},
        str(told.get(VERSION_KEY, "")),
        float(clock) - middle if clock else None,
    )


def judge(service: str, target: str, reply: Reply) -> list[Finding]:
    """What a service's reply means; pure."""
    if reply.error:
        mend = f"start it, and see its log and VERITY_{service.upper()}_TARGET"
        return [failure(service, f"nothing usable answers at {target}: {reply.error}", mend)]
    missing = sorted(
        name.removeprefix(DEPENDENCY)
        for name, status in reply.statuses.items()
        if name.startswith(DEPENDENCY) and status == _NOT_SERVING
    )
    found = []
    if reply.statuses.get("readiness") == _SERVING:
        found.append(fine(service, f"serves at {target}"))
    else:
        mend = "its log says why: setting_refused, index_unavailable, dependency_missing"
        found.append(failure(service, f"answers at {target}, and says NOT_SERVING", mend))
    for name in missing:
        mend = f"its log says why, as dependency_missing with dependency={name}"
        found.append(failure(f"{service} needs", f"{name}, which it cannot use", mend))
    return found


def versions(replies: Mapping[str, Reply], own: str) -> list[Finding]:
    """Whether all services are of one version, and this command too; pure."""
    told = {name: reply.version for name, reply in replies.items() if reply.version}
    if not told:
        return []
    most = Counter(told.values()).most_common(1)[0][0]
    odd = {name: version for name, version in told.items() if version != most}
    if odd:
        listed = ", ".join(f"{name} {version}" for name, version in sorted(odd.items()))
        says = f"{listed}; the others are {most}"
        return [
            failure("versions", says, "let the rollout end, or roll the odd ones to that version")
        ]
    if own != most:
        says = f"the services are {most}, this command is {own}"
        return [warning("versions", says, "use the command of the services' version")]
    return [fine("versions", f"all are {most}")]


async def gateway(address: str, seconds: float) -> tuple[list[Finding], dict[str, float]]:
    """Whether the page and the HTTP API are there, and what its clock says."""
    before = time.time()
    status, body, date = await asyncio.to_thread(_get, f"http://{address}/readyz", seconds)
    offsets = {}
    if date:
        offsets["gateway"] = clocks.by_date(date, before, time.time())
    if status == 200:  # noqa: PLR2004 - OK
        return [fine("gateway", f"ready at {address}")], offsets
    if status:
        says = f"answers at {address}, and is not ready{_detail(body)}"
        return [failure("gateway", says, "mend the services that it names")], offsets
    mend = "start it, and see its log and VERITY_GATEWAY_BIND"
    return [failure("gateway", f"nothing answers at {address}", mend)], offsets


def _get(url: str, seconds: float) -> tuple[int, bytes, str]:
    """Status (0: none), body and Date; services are neighbours, and no proxy is on the way."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(url, headers={"Host": "localhost"})  # noqa: S310 - our own
    try:
        with opener.open(request, timeout=seconds) as reply:
            return reply.status, reply.read(65536), reply.headers.get("Date", "")
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(65536), error.headers.get("Date", "")
    except (OSError, ValueError):
        return 0, b"", ""


def _detail(body: bytes) -> str:
    try:
        return f": {json.loads(body)['detail']}"
    except (ValueError, KeyError, TypeError):
        return ""


def _why(error: grpc.aio.AioRpcError) -> str:
    details = (error.details() or "").lower()
    if "hostname verification" in details:
        return "its certificate is not for that name; issue it with it"
    if "certificate" in details or "handshake" in details or "ssl" in details:
        return "no TLS connection; see what is said of certificates"
    return {
        grpc.StatusCode.UNAVAILABLE: "no connection",
        grpc.StatusCode.DEADLINE_EXCEEDED: "no answer in time",
        grpc.StatusCode.UNIMPLEMENTED: "a service of another version, or none of Verity's",
    }.get(error.code(), error.code().name)
