"""Every service is replaced under load as in a cluster: a new address appears, the old drains."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import grounding_service_pb2_grpc as grounding_rpc
from verity.v1 import retrieval_service_pb2 as retrieval
from verity.v1 import retrieval_service_pb2_grpc as retrieval_rpc

from cli import redis_server
from services.chassis.client import channel
from tests.e2e.conftest import ROOT
from tests.e2e.names import naming
from tests.e2e.test_life_cycle import wait_until

AGENTS = ("retrieval", "generation", "verification")
OLD, NEW = "127.0.0.2", "127.0.0.3"
# Longer than the 5 s that a channel lets pass between two looks at a name.
AGE_SECONDS = 6
CALLERS = 2
QUESTION = "What must a UBO holding more than 25% equity submit?"
POLICY = b"# Ownership\n\nA UBO holding more than 25% equity must submit a notarized affidavit.\n"


@dataclass(frozen=True)
class Process:
    """One instance of a service.

    Attributes:
        address: Where it serves.
        popen: Its process.
        log: Its log, a JSON object on each line.
    """

    address: str
    popen: subprocess.Popen
    log: Path

    def events(self):
        return [json.loads(line) for line in self.log.read_text().splitlines() if line[-1] == "}"]

    def is_ready(self):
        """As the readiness probe asks."""
        assert self.popen.poll() is None, self.log.read_text()[-2000:]
        if "gateway" not in self.log.name:
            return any(event["event"] == "ready" for event in self.events())
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(f"http://{self.address}/readyz", trust_env=False).status_code == 200
        return False

    def calls(self):
        """How many it has served, health not counted."""
        return sum(event["event"] in ("rpc", "http") for event in self.events())


@pytest.fixture
def redis(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = one.getsockname()[1]
    process = subprocess.Popen(
        redis_server.command(redis_server.binary(), port, tmp_path), stdout=subprocess.DEVNULL
    )
    yield f"127.0.0.1:{port}"
    process.terminate()
    process.wait(10)


def free_port():
    with socket.create_server((OLD, 0)) as one:
        return one.getsockname()[1]


@contextlib.contextmanager
def rollout(tmp_path, redis):
    """Starts instances by service and address; all of a service have one port."""
    ports = {name: free_port() for name in (*AGENTS, "orchestrator", "gateway")}
    with naming() as names, contextlib.ExitStack() as stack:
        targets = {
            f"VERITY_{name.upper()}_TARGET": names.target(f"{name}.test", port)
            for name, port in ports.items()
            if name != "gateway"
        }

        def start(name, host):
            folder = tmp_path / f"{name}-{host}"
            folder.mkdir()
            own = {k: v for k, v in os.environ.items() if not k.startswith("VERITY_")}
            settings = {
                "VERITY_BIND": f"{host}:{ports[name]}",
                "VERITY_GATEWAY_BIND": f"{host}:{ports[name]}",
                "VERITY_DATA_DIR": str(folder),
                "VERITY_REDIS_URL": f"redis://{redis}/0",
                "VERITY_MAX_CONNECTION_AGE_SECONDS": str(AGE_SECONDS),
                "VERITY_DRAIN_SECONDS": "1",
                "VERITY_RATE_PER_SECOND": "0",
                **targets,
            }
            log = folder / f"{name}.jsonl"
            with log.open("w") as stderr:
                popen = subprocess.Popen(
                    [sys.executable, "-m", f"services.{name}"],
                    cwd=ROOT,
                    env={**own, **settings},
                    stderr=stderr,
                )
            stack.callback(popen.wait)
            stack.callback(popen.kill)
            return Process(f"{host}:{ports[name]}", popen, log)

        yield names, ports, start


async def ingest(address):
    """Each instance has an index of its own: what is one store in a cluster is given to both."""
    metadata = retrieval.IngestMetadata(source_name="policy.md")

    async def requests():
        yield retrieval.IngestDocumentRequest(metadata=metadata)
        yield retrieval.IngestDocumentRequest(chunk=POLICY)

    async with channel(address, service="verity.v1.RetrievalService", idempotent=[]) as opened:
        stub = retrieval_rpc.RetrievalServiceStub(opened)
        async for _ in stub.IngestDocument(requests(), timeout=60):
            pass


class Load:
    """Asks on and on, over gRPC and through the gateway, and remembers what did not come back."""

    def __init__(self, target, gateways):
        self.target, self.gateways = target, gateways
        self.answered, self.failed = 0, []
        self.ended = asyncio.Event()

    async def over_grpc(self):
        service = "verity.v1.GroundingService"
        async with channel(self.target, service=service, idempotent=[]) as opened:
            stub = grounding_rpc.GroundingServiceStub(opened)
            while not self.ended.is_set():
                request = grounding.AskRequest(question=QUESTION)
                await self.noted(stub.Ask(request, timeout=30))

    async def over_http(self):
        while not self.ended.is_set():
            # A balancer opens its connections to whoever is in the list now.
            for address in list(self.gateways):
                async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
                    await self.noted(self.post(client, address))

    async def post(self, client, address):
        reply = await client.post(f"http://{address}/grounded_query", json={"query": QUESTION})
        reply.raise_for_status()
        assert reply.json()["status"] == "ANSWERED"

    async def noted(self, call):
        try:
            await call
        except Exception as error:  # noqa: BLE001 - whatever it was, it is a call that failed
            self.failed.append(error)
            await asyncio.sleep(0.1)
        else:
            self.answered += 1


async def test_every_service_is_replaced_under_load_and_no_call_fails(redis, tmp_path):
    with rollout(tmp_path, redis) as (names, ports, start):
        names.addresses |= {f"{name}.test": [OLD] for name in ports}
        old = {name: start(name, OLD) for name in ports}
        new = {name: start(name, NEW) for name in ports}
        for one in [*old.values(), *new.values()]:
            wait_until(one.is_ready, seconds=90)
        for host in (OLD, NEW):
            await ingest(f"{host}:{ports['retrieval']}")
        gateways = [f"{OLD}:{ports['gateway']}"]
        load = Load(names.target("orchestrator.test", ports["orchestrator"]), gateways)
        running = [asyncio.create_task(load.over_grpc()) for _ in range(CALLERS)]
        running.append(asyncio.create_task(load.over_http()))
        await asyncio.to_thread(wait_until, lambda: load.answered >= 5)

        # The new ones appear: within two ages of a connection they have their share.
        names.addresses |= {f"{name}.test": [OLD, NEW] for name in ports}
        gateways.append(f"{NEW}:{ports['gateway']}")
        await asyncio.sleep(
            AGE_SECONDS * 1.1
        )  # No sleep for its own sake: the age is what is tested.
        before = {name: (old[name].calls(), new[name].calls()) for name in ports}
        await asyncio.sleep(AGE_SECONDS * 0.9)
        share = {}
        for name, (olds, news) in before.items():
            by_old, by_new = old[name].calls() - olds, new[name].calls() - news
            share[name] = by_new / max(1, by_old + by_new)

        # The old ones go: their names first, then a signal, while calls are in flight.
        names.addresses |= {f"{name}.test": [NEW] for name in ports}
        gateways.remove(f"{OLD}:{ports['gateway']}")
        for one in old.values():
            one.popen.send_signal(signal.SIGTERM)
        codes = [await asyncio.to_thread(one.popen.wait, 30) for one in old.values()]
        answered = load.answered
        await asyncio.to_thread(wait_until, lambda: load.answered >= answered + 5)
        load.ended.set()
        await asyncio.gather(*running)

        assert load.failed == [], load.answered
        assert codes == [0] * len(old)
        assert {name: one for name, one in share.items() if one < 0.25} == {}
