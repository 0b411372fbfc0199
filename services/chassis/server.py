"""The life of a gRPC server: listen, warm up, serve, drain, stop."""

import asyncio
import contextlib
import json
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc
import structlog
import uvloop
from google.protobuf import descriptor_pool
from grpc_health.v1 import health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from pydantic import ValidationError

from services.chassis import authentication, garbage, transport
from services.chassis.authentication import Authenticator
from services.chassis.dependencies import Dependency, Watch
from services.chassis.health import Health
from services.chassis.interceptors import Admitted, Authenticated, Bounded, Layers, Observed
from services.chassis.metrics import watch_event_loop
from services.chassis.settings import Settings, Unreadable, faults


@dataclass(frozen=True)
class Service:
    """What is served.

    Args:
        name: The service's full name, such as "verity.v1.RetrievalService".
        add: The generated add_XServicer_to_server.
        servicer: The servicer to add.
        deadlines: For every method, the seconds it may take when its caller sets no deadline.
        dependencies: What it needs from outside; told of, and not waited for.
    """

    name: str
    add: Callable[[Any, grpc.aio.Server], None]
    servicer: object
    deadlines: Mapping[str, float]
    dependencies: Sequence[Dependency] = ()

    def __post_init__(self) -> None:
        methods = descriptor_pool.Default().FindServiceByName(self.name).methods_by_name
        if set(methods) != set(self.deadlines):
            odd = ", ".join(sorted(set(methods) ^ set(self.deadlines)))
            raise ValueError(
                f"{self.name}: each method needs a deadline, and only those; see {odd}"
            )


@dataclass(frozen=True)
class Running:
    """A server that listens.

    Args:
        address: Where, as host:port.
        warming: Ends when the server is ready, or with the exception for which it never will be.
        health: Where health alone is answered, in the clear; empty: nowhere.
    """

    address: str
    warming: asyncio.Task[None]
    health: str = ""


@dataclass(frozen=True)
class _Probed:
    server: grpc.aio.Server
    address: str


WarmUp = Callable[[], Awaitable[object]]

_PROBE_AGE_SECONDS = 300.0


@asynccontextmanager
async def serving(
    service: Service, settings: Settings, *, warm_up: WarmUp | None = None
) -> AsyncIterator[Running]:
    """Listens at once, is ready after warm_up, and on leaving lets the calls in flight finish."""
    async with (
        authentication.opened(settings) as authenticator,
        _serving(service, settings, authenticator, warm_up) as running,
    ):
        yield running


@asynccontextmanager
async def _serving(
    service: Service, settings: Settings, authenticator: Authenticator, warm_up: WarmUp | None
) -> AsyncIterator[Running]:
    health = Health(service.name)
    server = grpc.aio.server(
        interceptors=[
            Layers(
                [
                    Observed(),
                    Bounded(service.deadlines),
                    Authenticated(authenticator),
                    Admitted(settings.max_in_flight),
                ]
            )
        ],
        options=transport.server_options(settings.max_connection_age_seconds),
    )
    service.add(service.servicer, server)
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    if settings.profile == "dev":
        names = (service.name, "grpc.health.v1.Health", reflection.SERVICE_NAME)
        reflection.enable_server_reflection(names, server)
    address = _listen(server, settings)
    probed = await _probed(health, settings.health_bind)
    await server.start()
    warming = asyncio.create_task(_warm(authenticator, warm_up, health))
    lag = asyncio.create_task(watch_event_loop())
    needs = asyncio.create_task(Watch(service.dependencies, health).run())
    log = structlog.get_logger()
    try:
        log.info("listening", address=address, tls=settings.tls is not None)
        yield Running(address, warming, probed.address if probed else "")
    finally:
        health.enter_graceful_shutdown()
        log.info("draining", seconds=settings.drain_seconds)
        await asyncio.sleep(settings.drain_seconds)
        health.close()
        await server.stop(settings.grace_seconds)
        if probed:
            await probed.server.stop(0)
        for task in (warming, lag, needs):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task
        log.info("stopped")


async def serve(service: Service, settings: Settings, *, warm_up: WarmUp | None = None) -> None:
    """Serves until SIGTERM or SIGINT; raises when warm_up does, because it will never be ready."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)

    async def warm() -> None:
        if warm_up is not None:
            await warm_up()
        garbage.leave_what_stays()

    async with serving(service, settings, warm_up=warm) as running:
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait({stopping, running.warming}, return_when=asyncio.FIRST_COMPLETED)
        if not stopping.done():
            running.warming.result()
            await stopping


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs a process's main on uvloop; the one event loop it has.

    Settings that do not fit end it with one line for each, before anything is begun.
    """
    try:
        uvloop.run(main())
    except (ValidationError, Unreadable) as error:
        if isinstance(error, ValidationError) and error.title != "Settings":
            raise
        for setting, reason in faults(error):
            line = {
                "event": "setting_refused",
                "setting": setting,
                "reason": reason,
                "level": "error",
            }
            sys.stderr.write(json.dumps(line) + "\n")
        raise SystemExit(1) from None


def _listen(server: grpc.aio.Server, settings: Settings) -> str:
    """The address at which it will listen."""
    host = settings.bind.rpartition(":")[0]
    if settings.tls is None:
        if settings.profile == "prod":
            structlog.get_logger().warning(
                "calls_in_the_clear", mend="set VERITY_TLS_*, or let a mesh encrypt them"
            )
        return f"{host}:{server.add_insecure_port(settings.bind)}"
    from services.chassis.certificates import Files, server_credentials  # noqa: PLC0415 - as keys

    asks_clients = settings.tls_client_certificates == "required"
    credentials = server_credentials(Files(settings.tls), asks_clients=asks_clients)
    return f"{host}:{server.add_secure_port(settings.bind, credentials)}"


async def _probed(health: Health, bind: str) -> _Probed | None:
    """Answers health alone, for probes that have no certificate."""
    if not bind:
        return None
    server = grpc.aio.server(options=transport.server_options(_PROBE_AGE_SECONDS))
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    port = server.add_insecure_port(bind)
    await server.start()
    return _Probed(server, f"{bind.rpartition(':')[0]}:{port}")


async def _warm(authenticator: Authenticator, warm_up: WarmUp | None, health: Health) -> None:
    started = time.perf_counter()
    await authenticator.ready()
    if warm_up is not None:
        await warm_up()
    health.ready()
    structlog.get_logger().info("ready", ms=round((time.perf_counter() - started) * 1000, 1))
