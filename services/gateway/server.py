"""The life of the HTTP server: listen, serve, say that it stops, drain, stop."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import AsyncIterator, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog
import uvicorn
from starlette.types import ASGIApp

from services.chassis.metrics import watch_event_loop
from services.gateway.app import Draining

BACKLOG = 512
MOST_HEADER_BYTES = 32 * 1024
# Idle ones included; a connection past them hears 503. What they ask for is bounded by far less.
MOST_CONNECTIONS = 2048


@dataclass(frozen=True)
class Serving:
    """How it is served.

    Attributes:
        bind: Where, as HOST:PORT; port 0 takes a free one.
        drain_seconds: Between saying that it stops and refusing connections.
        grace_seconds: That requests in flight then have.
        proxies: Addresses, joined by commas, whose X-Forwarded-For is believed; empty: none's.
    """

    bind: str
    drain_seconds: float = 0.5
    grace_seconds: float = 20.0
    proxies: str = ""


class _Server(uvicorn.Server):
    """Leaves the signals alone: uvicorn would raise them again when it is done, and not exit 0."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


@asynccontextmanager
async def serving(app: ASGIApp, how: Serving, draining: Draining) -> AsyncIterator[str]:
    """Serves, yields the address, and on leaving lets the requests in flight finish."""
    host, _, port = how.bind.rpartition(":")
    listener = _listen(host.strip("[]"), int(port))
    address = f"{host}:{listener.getsockname()[1]}"
    server = _Server(
        uvicorn.Config(
            app,
            lifespan="off",
            log_config=None,
            access_log=False,
            ws="none",
            loop="none",
            http="h11",
            limit_concurrency=MOST_CONNECTIONS,
            h11_max_incomplete_event_size=MOST_HEADER_BYTES,
            server_header=False,
            proxy_headers=bool(how.proxies),
            forwarded_allow_ips=how.proxies,
            timeout_graceful_shutdown=round(how.grace_seconds),
        )
    )
    running = asyncio.create_task(server.serve(sockets=[listener]))
    lag = asyncio.create_task(watch_event_loop())
    log = structlog.get_logger()
    try:
        log.info("listening", address=address)
        yield address
    finally:
        draining.begun = True
        log.info("draining", seconds=how.drain_seconds)
        await asyncio.sleep(how.drain_seconds)
        server.should_exit = True
        await running
        lag.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await lag
        log.info("stopped")


async def until_asked_to_stop() -> None:
    """Returns on SIGTERM or SIGINT."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await stop.wait()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    # What is accepted has it too: a small answer must not wait 40 ms for the other end.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
