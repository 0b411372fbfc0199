"""What a local system is made of: which processes, where they listen, what each is told."""

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from cli import redis_server
from cli.errors import USAGE, CliError
from cli.processes import Spec

HOST = "127.0.0.1"
LAST_PORT = 65535
# In the order in which they are drained: what calls others goes before what is called.
SERVICES = {
    "orchestrator": "verity.v1.GroundingService",
    "retrieval": "verity.v1.RetrievalService",
    "generation": "verity.v1.GenerationService",
    "verification": "verity.v1.VerificationService",
}
GATEWAY = "gateway"
REDIS = "redis"
_PAGE = Path(__file__).parents[1] / "web" / "dist"
_LOOPBACK_HOSTS = {"127.0.0.1", "localhost", "[::1]"}
# A refused connection is tried again at once, not after gRPC's second, and never by way of a proxy.
_LOOPBACK = [
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 200),
    ("grpc.enable_http_proxy", 0),
]


def page_dir() -> Path:
    """Where the built page is, if it has been built."""
    return Path(os.environ.get("VERITY_PAGE_DIR", _PAGE))


@dataclass(frozen=True, slots=True)
class Ports:
    """Where each process listens.

    Attributes:
        grpc: Port of each service, by its name.
        metrics: Port on which each of them, and the gateway, can be scraped, by its name.
        redis: Port of Redis.
        gateway: Where the gateway answers HTTP, as HOST:PORT.
    """

    grpc: dict[str, int]
    metrics: dict[str, int]
    redis: int
    gateway: str


@dataclass(frozen=True, slots=True)
class Part:
    """One process of the system and where to find it."""

    spec: Spec
    address: str
    metrics: str = ""


def ports(first: int, redis: int, metrics: int, gateway: str = f"{HOST}:0") -> Ports:
    """The services on `first` and the ports after it, likewise the metrics; 0: any free ones.

    The gateway moves to a free port when its own is taken: people find it by what is printed, not
    by a number that others rely on.
    """
    names, scraped = list(SERVICES), [*SERVICES, GATEWAY]
    rpc = _row(first, len(names))
    scrape = _row(metrics, len(scraped), rpc)
    memory = _row(redis, 1, [*rpc, *scrape])[0]
    chosen = Ports(
        grpc=dict(zip(names, rpc, strict=True)),
        metrics=dict(zip(scraped, scrape, strict=True)),
        redis=memory,
        gateway=_free_near(gateway, {*rpc, *scrape, memory}),
    )
    wanted = [*chosen.grpc.items(), (REDIS, chosen.redis)]
    wanted += [(f"{name} metrics", port) for name, port in chosen.metrics.items()]
    for name, port in wanted:
        _check_free(name, port, [other for other, taken in wanted if taken == port])
    return chosen


def parts(
    chosen: Ports, data_dir: Path, backend: str, model: Mapping[str, str] | None = None
) -> list[Part]:
    """Every process of the system, the gateway first and Redis last; `model`: what names it."""
    address = {name: f"{HOST}:{port}" for name, port in chosen.grpc.items()}
    shared = {
        # On this machine alone, nobody is asked who they are, unless the shell says otherwise.
        "VERITY_AUTH": os.environ.get("VERITY_AUTH", "none"),
        "VERITY_REDIS_URL": f"redis://{HOST}:{chosen.redis}/0",
        "VERITY_RETRIEVAL_TARGET": address["retrieval"],
        "VERITY_GENERATION_TARGET": address["generation"],
        "VERITY_VERIFICATION_TARGET": address["verification"],
        "VERITY_BACKEND": backend,
        **(model or {}),
    }
    found = []
    for name in SERVICES:
        metrics = f"{HOST}:{chosen.metrics[name]}"
        own = {
            "VERITY_BIND": address[name],
            "VERITY_METRICS_BIND": metrics,
            "VERITY_DATA_DIR": str((data_dir / name).resolve()),
        }
        order = 1 if name == "orchestrator" else 2
        spec = service(name, address[name], {**shared, **own}, order)
        found.append(Part(spec, address[name], metrics))
    return [_gateway(chosen, address), *found, _redis(chosen.redis, data_dir)]


def service(name: str, address: str, environment: dict[str, str], stop_order: int = 0) -> Spec:
    """One service as a process of its own."""
    return Spec(
        name=name,
        log=f"{name}.jsonl",
        command=(sys.executable, "-m", f"services.{name}"),
        environment=environment,
        ready=partial(serving, address, SERVICES[name]),
        stop_order=stop_order,
    )


async def serving(address: str, service_name: str) -> None:
    """Returns when the service says SERVING."""
    async with grpc.aio.insecure_channel(address, options=_LOOPBACK) as channel:
        check = health_pb2_grpc.HealthStub(channel).Check  # type: ignore[attr-defined]  # Not in types-grpcio.
        request = health_pb2.HealthCheckRequest(service=service_name)
        while True:
            with contextlib.suppress(grpc.aio.AioRpcError):  # Not listening yet.
                reply = await check(request, timeout=1, wait_for_ready=True)
                if reply.status == health_pb2.HealthCheckResponse.SERVING:
                    return
            await asyncio.sleep(0.05)


async def answering(address: str) -> None:
    """Returns when the gateway says that it is ready, and with it all it needs."""
    host, _, port = address.rpartition(":")
    while True:
        with contextlib.suppress(OSError):  # Not listening yet.
            reader, writer = await asyncio.open_connection(_reached(host), int(port))
            try:
                writer.write(
                    b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                )
                if b" 200 " in await reader.readline():
                    return
            finally:
                writer.close()
        await asyncio.sleep(0.05)


def free_address() -> str:
    """Where a process that lives for one call may listen."""
    return f"{HOST}:{_row(0, 1)[0]}"


def _gateway(chosen: Ports, address: dict[str, str]) -> Part:
    host = chosen.gateway.rpartition(":")[0]
    told = {
        "VERITY_AUTH": os.environ.get("VERITY_AUTH", "none"),
        "VERITY_GATEWAY_BIND": chosen.gateway,
        "VERITY_METRICS_BIND": f"{HOST}:{chosen.metrics[GATEWAY]}",
        "VERITY_PAGE_DIR": str(page_dir()),
        **{f"VERITY_{name.upper()}_TARGET": target for name, target in address.items()},
    }
    if host in _LOOPBACK_HOSTS and not os.environ.get("VERITY_ALLOWED_HOSTS"):
        told["VERITY_ALLOWED_HOSTS"] = "localhost,127.0.0.1,::1"
    spec = Spec(
        name=GATEWAY,
        log=f"{GATEWAY}.jsonl",
        command=(sys.executable, "-m", f"services.{GATEWAY}"),
        environment=told,
        ready=partial(answering, chosen.gateway),
        stop_order=0,
    )
    return Part(spec, chosen.gateway, told["VERITY_METRICS_BIND"])


def _free_near(bind: str, taken: set[int]) -> str:
    """The address itself when it is free, else the same host with a free port."""
    host, _, wanted = bind.rpartition(":")
    bare = host.strip("[]")
    family = socket.AF_INET6 if ":" in bare else socket.AF_INET
    port = 0 if int(wanted) in taken else int(wanted)
    while True:
        try:
            with socket.create_server((bare, port), family=family) as holder:
                found = int(holder.getsockname()[1])
        except OSError as error:
            if not port:
                raise CliError(
                    f"{bind} for the gateway cannot be used: {os.strerror(error.errno or 0)}.",
                    hint="Choose another with --gateway-bind HOST:PORT.",
                    code="INVALID_ARGUMENT",
                ) from error
            port = 0
        else:
            if found not in taken:
                return f"{host}:{found}"


def _reached(host: str) -> str:
    """Where a client finds what listens on a host."""
    bare = host.strip("[]")
    return {"0.0.0.0": HOST, "::": "::1"}.get(bare, bare)  # noqa: S104 - read, not bound


def _redis(port: int, data_dir: Path) -> Part:
    directory = data_dir / REDIS
    directory.mkdir(parents=True, exist_ok=True)
    spec = Spec(
        name=REDIS,
        log="redis.log",
        command=redis_server.command(redis_server.binary(), port, directory.resolve()),
        ready=partial(redis_server.ready, port),
        stop_order=3,
    )
    return Part(spec, f"{HOST}:{port}")


def _row(first: int, count: int, taken: Sequence[int] = ()) -> list[int]:
    """Ports one after the other, or with 0 any that are free and not given out before."""
    if first:
        return list(range(first, first + count))
    while True:
        holders = [socket.create_server((HOST, 0)) for _ in range(count)]
        found = [holder.getsockname()[1] for holder in holders]
        for holder in holders:
            holder.close()
        if not set(found) & set(taken):
            return found


def _check_free(name: str, port: int, users: Sequence[str]) -> None:
    flag = {"redis": "--redis-port"}.get(name, "--metrics-port" if "metrics" in name else "--port")
    hint = f"Choose another with {flag}; 0 takes any free one."
    if len(users) > 1:
        message = f"Port {port} is asked for by both {users[0]} and {users[1]}."
        raise CliError(message, hint=hint, exit_code=USAGE, code="INVALID_ARGUMENT")
    if port > LAST_PORT:
        message = f"Port {port} for {name} is past the last one, {LAST_PORT}."
        raise CliError(message, hint=hint, exit_code=USAGE, code="INVALID_ARGUMENT")
    try:
        socket.create_server((HOST, port)).close()
    except OSError as error:
        message = f"Port {port} for {name} cannot be used: {os.strerror(error.errno or 0)}."
        raise CliError(message, hint=hint, code="ALREADY_EXISTS") from error
