"""A channel retries what may be, spreads its calls, and comes back when its service does."""

import asyncio
import json
from collections import Counter

import grpc
from observed import eventually
from opentelemetry.trace import SpanKind
from probe import NAME, Client, probing, service
from verity.v1 import generation_service_pb2 as pb

from services.chassis.client import channel, service_config
from services.chassis.errors import Aborted, Overloaded, Unavailable
from services.chassis.server import serving
from services.chassis.settings import Settings

Code = grpc.StatusCode


class Failing:
    """Fails the first `times` calls, and counts all."""

    def __init__(self, error, times=10**6):
        self.error, self.times, self.calls = error, times, 0
        self.previous_attempts = []

    async def __call__(self, request, context):
        self.calls += 1
        metadata = dict(context.invocation_metadata())
        self.previous_attempts.append(int(metadata.get("grpc-previous-rpc-attempts", 0)))
        if self.calls <= self.times:
            raise self.error
        return pb.GenerateResponse()


async def test_an_idempotent_call_is_retried_until_the_service_is_back(observed):
    act = Failing(Unavailable("Starting."), times=2)
    async with probing(act, idempotent=("Unary",)) as call:
        await call("Unary")
        # Three attempts are three spans on the server and one on the client.
        await observed.ended(3, SpanKind.SERVER)
        await observed.ended(1, SpanKind.CLIENT)
    assert act.previous_attempts == [0, 1, 2]


async def test_a_proxy_that_the_shell_names_is_not_the_way_to_a_neighbour(monkeypatch):
    for name in ("http_proxy", "grpc_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # Nothing listens there.
    async with probing(Failing(Unavailable("Never."), times=0)) as call:
        await call("Unary")


async def test_three_attempts_are_the_most():
    act = Failing(Unavailable("Down."))
    async with probing(act, idempotent=("Unary",)) as call:
        failure = await call.failure("Unary")
    assert (failure.code(), act.calls) == (Code.UNAVAILABLE, 3)


async def test_a_call_that_is_not_idempotent_is_sent_once():
    act = Failing(Unavailable("Down."))
    async with probing(act, idempotent=("ServerStream",)) as call:
        await call.failure("Unary")
    assert act.calls == 1


async def test_only_unavailable_is_retried():
    for error in (Overloaded("Full.", retry_after=0), Aborted("Busy."), ValueError()):
        act = Failing(error)
        async with probing(act, idempotent=("Unary",)) as call:
            await call.failure("Unary")
        assert act.calls == 1


async def test_retries_stop_when_most_calls_fail():
    act = Failing(Unavailable("Down."))
    async with probing(act, idempotent=("Unary",)) as call:
        for _ in range(10):
            await call.failure("Unary")
    # Unthrottled it would be 30: of ten tokens each failure takes one, and half must be left.
    assert act.calls < 20


async def test_the_service_config_names_each_idempotent_method():
    config = json.loads(service_config("a.B", ["Two", "One"]))
    assert config["loadBalancingConfig"] == [{"round_robin": {}}]
    [methods] = config["methodConfig"]
    assert methods["name"] == [
        {"service": "a.B", "method": "One"},
        {"service": "a.B", "method": "Two"},
    ]
    assert methods["retryPolicy"]["retryableStatusCodes"] == ["UNAVAILABLE"]
    assert "methodConfig" not in json.loads(service_config("a.B", []))


async def test_calls_are_spread_over_all_addresses():
    seen = Counter()

    def counting(name):
        async def act(request, context):
            seen[name] += 1
            return pb.GenerateResponse()

        return act

    async with (
        serving(service(counting("one")), Settings()) as one,
        serving(service(counting("two")), Settings()) as two,
        channel(f"ipv4:{one.address},{two.address}", service=NAME, idempotent=[]) as opened,
    ):
        call = Client(opened)
        await call("Unary")
        while len(seen) < 2:  # Until both are connected, the one that is gets all.
            await call("Unary")
        seen.clear()
        for _ in range(20):
            await call("Unary")
    assert seen == {"one": 10, "two": 10}


async def test_a_service_that_is_gone_is_unavailable_and_works_again_when_it_is_back():
    async def act(request, context):
        return pb.GenerateResponse()

    async with serving(service(act), Settings()) as running:
        address = running.address
    async with channel(address, service=NAME, idempotent=[]) as opened:
        call = Client(opened)
        assert (await call.failure("Unary", timeout=5)).code() is Code.UNAVAILABLE
        async with serving(service(act), Settings(bind=address)):
            assert await eventually(lambda: opened.get_state() is grpc.ChannelConnectivity.READY)
            await call("Unary")


async def test_a_connection_that_is_given_up_for_its_age_costs_no_call():
    connections, ended = set(), asyncio.Event()

    async def act(request, context):
        connections.add(context.peer())
        return pb.GenerateResponse()

    async def two_requests():
        yield pb.GenerateRequest(question="q")
        await ended.wait()
        yield pb.GenerateRequest(question="q")

    settings = Settings(max_connection_age_seconds=1)
    async with probing(act, settings, deadline=60, idempotent=("Unary",)) as call:
        stream = call.start("BothStreams", requests=two_requests())
        async with asyncio.timeout(60):
            while len(connections) < 3:  # The stream is on the first of them.
                await call("Unary")
        ended.set()
        assert len([reply async for reply in stream]) == 2
