"""Calls to the running system: one event loop, one root span, one way for a call to fail."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import grpc
from pydantic import ValidationError

from cli.errors import CliError, Violation, from_rpc
from services.chassis import client, identity, telemetry
from services.chassis.settings import Settings, Unreadable, faults

T = TypeVar("T")

SEE_LOG = "Try again; if it ends so again, the service's log says why."


@dataclass(frozen=True, slots=True)
class Service:
    """A service, as commands call it.

    Attributes:
        name: Its full name.
        stub: Its methods, on a channel.
        idempotent: Those that may be sent again when it was unavailable.
    """

    name: str
    stub: Callable[[grpc.aio.Channel], Any]
    idempotent: tuple[str, ...] = ()


def run(name: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs a command's work to its end, as the root of its trace when traces are sent anywhere."""

    async def rooted() -> T:
        with telemetry.span(f"verity {name}"):
            return await work()

    with traced():
        return asyncio.run(rooted())


@contextmanager
def traced() -> Iterator[None]:
    """Calls as VERITY_TOKEN says, with telemetry when OTEL_* says where to send it."""
    token = _secret(envvar="VERITY_TOKEN")
    with identity.calling(identity.Caller("", "", None, None, token)), _traced(_settings()):
        yield


def _secret(*, envvar: str) -> str:
    return os.environ.get(envvar, "")


def _settings() -> Settings:
    try:
        # What is meant for a server, a scrape port above all, is not for a command.
        return Settings(metrics_bind="", log_level="error", auth="none", tls_peers="")
    except (ValidationError, Unreadable) as error:
        raise CliError(
            "The environment does not fit.",
            code="INVALID_ARGUMENT",
            violations=[Violation(*fault) for fault in faults(error)],
        ) from error


@contextmanager
def _traced(settings: Settings) -> Iterator[None]:
    if not (settings.otlp_endpoint or settings.otlp_traces_endpoint):
        yield
        return
    with telemetry.configured("cli", settings):
        yield


async def pages(call: Callable[..., Any], request: Any, seconds: float) -> list[Any]:
    """Every page of a list, in order; each call has the same time."""
    replies = []
    while True:
        replies.append(await call(request, timeout=seconds))
        request.page_token = replies[-1].next_page_token
        if not request.page_token:
            return replies


def ask(command: str, service: Service, address: str, call: Callable[[Any], Awaitable[Any]]) -> Any:
    """The reply to a command's one call, of a method of the service's stub."""

    async def work() -> Any:
        async with reach(service, address) as stub:
            return await call(stub)

    return run(command, work)


@asynccontextmanager
async def reach(service: Service, address: str) -> AsyncIterator[Any]:
    """A service's methods; a call of one that fails leaves as a CliError."""
    async with client.channel(
        address, service=service.name, idempotent=service.idempotent, tls=_settings().tls
    ) as channel:
        with explained(service, address):
            yield service.stub(channel)


@contextmanager
def explained(service: Service, address: str) -> Iterator[None]:
    """A call that fails inside leaves as a CliError."""
    try:
        yield
    except grpc.aio.AioRpcError as error:
        raise from_rpc(error, service.name.rpartition(".")[2], address) from error
