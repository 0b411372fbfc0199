"""The life of a gRPC server: listen, warm up, serve, drain, stop."""

import asyncio
import contextlib
import json
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
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

from services.chassis import transport
from services.chassis.health import Health
from services.chassis.interceptors import Admitted, Bounded, Layers, Observed
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
    """

    name: str
    add: Callable[[Any, grpc.aio.Server], None]
    servicer: object
    deadlines: Mapping[str, float]

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
    """

    address: str
    warming: asyncio.Task[None]


WarmUp = Callable[[], Awaitable[object]]


@asynccontextmanager
async def serving(
    service: Service, settings: Settings, *, warm_up: WarmUp | None = None
) -> AsyncIterator[Running]:
    """Listens at once, is ready after warm_up, and on leaving lets the calls in flight finish."""
    health = Health(service.name)
    server = grpc.aio.server(
        interceptors=[
            Layers([Observed(), Bounded(service.deadlines), Admitted(settings.max_in_flight)])
        ],
        options=transport.server_options(settings.max_connection_age_seconds),
    )
    service.add(service.servicer, server)
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    if settings.profile == "dev":
        names = (service.name, "grpc.health.v1.Health", reflection.SERVICE_NAME)
        reflection.enable_server_reflection(names, server)
    port = server.add_insecure_port(settings.bind)
    address = f"{settings.bind.rpartition(':')[0]}:{port}"
    await server.start()
    warming = asyncio.create_task(_warm(warm_up, health))
    lag = asyncio.create_task(watch_event_loop())
    log = structlog.get_logger()
    try:
        log.info("listening", address=address)
        yield Running(address, warming)
    finally:
        health.enter_graceful_shutdown()
        log.info("draining", seconds=settings.drain_seconds)
        await asyncio.sleep(settings.drain_seconds)
        health.close()
        await server.stop(settings.grace_seconds)
        for task in (warming, lag):
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
    async with serving(service, settings, warm_up=warm_up) as running:
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


async def _warm(warm_up: WarmUp | None, health: Health) -> None:
    started = time.perf_counter()
    if warm_up is not None:
        await warm_up()
    health.ready()
    structlog.get_logger().info("ready", ms=round((time.perf_counter() - started) * 1000, 1))
