"""A server listens before it is ready, sheds what it cannot hold, and leaves without a failure."""

import asyncio

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from grpc_status import rpc_status
from observed import eventually
from opentelemetry.trace import SpanKind
from probe import NAME, Client, probing, service
from verity.v1 import generation_service_pb2 as pb
from verity.v1 import generation_service_pb2_grpc as rpc

from services.chassis import transport
from services.chassis.client import channel
from services.chassis.server import Service, serving
from services.chassis.settings import Settings
from services.chassis.transport import MAX_MESSAGE_BYTES

Code = grpc.StatusCode
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


async def fine(request, context):
    return pb.GenerateResponse(generator="fine")


async def health(call, name):
    # A channel of our own sends nothing to a server that is not ready.
    async with grpc.aio.insecure_channel(call.running.address) as foreign:
        stub = health_pb2_grpc.HealthStub(foreign)
        request = health_pb2.HealthCheckRequest(service=name)
        return (await stub.Check(request, timeout=5)).status


async def test_a_service_is_alive_at_once_and_ready_after_its_warm_up():
    warm = asyncio.Event()
    async with probing(fine, warm_up=warm.wait) as call:
        assert await health(call, "liveness") == SERVING
        for name in ("", "readiness", NAME):
            assert await health(call, name) == NOT_SERVING
        warm.set()
        await call.running.warming
        for name in ("", "readiness", "liveness", NAME):
            assert await health(call, name) == SERVING


async def test_the_health_of_an_unknown_name_is_not_found():
    async with probing(fine) as call:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await health(call, "nobody")
    assert caught.value.code() is Code.NOT_FOUND


async def test_a_warm_up_that_ends_during_the_drain_makes_nothing_ready():
    warm = asyncio.Event()
    server = serving(service(fine), Settings(drain_seconds=0.3), warm_up=warm.wait)
    running = await server.__aenter__()
    async with grpc.aio.insecure_channel(running.address) as foreign:
        await watched(foreign, NOT_SERVING)
        stopping = asyncio.create_task(server.__aexit__(None, None, None))
        await asyncio.sleep(0)  # The drain has begun.
        warm.set()
        await running.warming
        request = health_pb2.HealthCheckRequest()
        reply = await health_pb2_grpc.HealthStub(foreign).Check(request, timeout=5)
        assert reply.status == NOT_SERVING
        await stopping


async def test_a_failed_warm_up_never_becomes_ready():
    async def broken():
        raise OSError("no model")

    async with probing(fine, warm_up=broken) as call:
        await asyncio.wait({call.running.warming})
        assert await health(call, "readiness") == NOT_SERVING
        assert await health(call, "liveness") == SERVING
        assert isinstance(call.running.warming.exception(), OSError)


async def watched(opened, status):
    """The stream of a watcher of readiness, as it says this status."""
    request = health_pb2.HealthCheckRequest(service="readiness")
    replies = aiter(health_pb2_grpc.HealthStub(opened).Watch(request, timeout=20))
    while (await anext(replies)).status != status:
        pass
    return replies


async def test_a_watcher_hears_of_the_end_while_calls_are_still_taken_and_does_not_hold_it_up():
    server = serving(service(fine), Settings(drain_seconds=0.2, grace_seconds=60))
    running = await server.__aenter__()
    async with grpc.aio.insecure_channel(running.address) as foreign, asyncio.timeout(20):
        replies = await watched(foreign, SERVING)
        stopping = asyncio.create_task(server.__aexit__(None, None, None))
        assert (await anext(replies)).status == NOT_SERVING
        await Client(foreign)("Unary")
        with pytest.raises(StopAsyncIteration):
            await anext(replies)
        await stopping


async def test_a_watcher_of_an_unknown_name_is_told_so():
    request = health_pb2.HealthCheckRequest(service="nobody")
    async with (
        serving(service(fine), Settings()) as running,
        grpc.aio.insecure_channel(running.address) as foreign,
    ):
        replies = aiter(health_pb2_grpc.HealthStub(foreign).Watch(request, timeout=5))
        unknown = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
        assert (await anext(replies)).status == unknown


async def test_a_draining_server_is_sent_nothing_more():
    seen = []

    async def act(request, context):
        seen.append(request.question)
        return pb.GenerateResponse()

    server = serving(service(act), Settings(drain_seconds=1))
    running = await server.__aenter__()
    async with channel(running.address, service=NAME, idempotent=[]) as opened:
        call = Client(opened)
        await call("Unary")
        stopping = asyncio.create_task(server.__aexit__(None, None, None))
        assert await eventually(lambda: opened.get_state() is not grpc.ChannelConnectivity.READY)
        assert (await call.failure("Unary")).code() is Code.UNAVAILABLE
        assert not stopping.done()
        assert len(seen) == 1
        await stopping


async def test_calls_in_flight_finish_during_the_stop_and_new_ones_are_unavailable():
    release, started = asyncio.Event(), asyncio.Semaphore(0)

    async def act(request, context):
        started.release()
        await release.wait()
        return pb.GenerateResponse(generator="finished")

    server = serving(service(act), Settings())
    running = await server.__aenter__()
    async with channel(running.address, service=NAME, idempotent=[]) as opened:
        call = Client(opened)
        calls = [asyncio.create_task(call("Unary")) for _ in range(20)]
        for _ in calls:
            await started.acquire()
        stopping = asyncio.create_task(server.__aexit__(None, None, None))
        assert await eventually(lambda: opened.get_state() is not grpc.ChannelConnectivity.READY)
        assert (await call.failure("Unary", timeout=1)).code() is Code.UNAVAILABLE
        assert not stopping.done()
        release.set()
        replies = await asyncio.gather(*calls)
        await stopping
    assert [reply.generator for [reply] in replies] == ["finished"] * 20


async def test_replacing_one_of_two_servers_under_load_fails_no_call():
    answered = 0

    async def act(request, context):
        nonlocal answered
        await asyncio.sleep(0.005)  # So that some are always under way.
        answered += 1
        return pb.GenerateResponse()

    async def more():
        seen = answered
        assert await eventually(lambda: answered > seen + 100)

    old = serving(service(act), Settings(drain_seconds=0.2))
    address = (await old.__aenter__()).address
    async with (
        serving(service(act), Settings()) as other,
        channel(f"ipv4:{address},{other.address}", service=NAME, idempotent=[]) as opened,
    ):
        replacing = asyncio.Event()

        async def load():
            calls = 0
            while not replacing.is_set():
                await Client(opened)("Unary")
                calls += 1
            return calls

        callers = [asyncio.create_task(load()) for _ in range(8)]
        await more()
        await old.__aexit__(None, None, None)
        async with serving(service(act), Settings(bind=address)):
            await more()
            replacing.set()
            assert all(await asyncio.gather(*callers))


async def test_a_call_that_outlasts_the_grace_is_cut():
    started = asyncio.Event()

    async def act(request, context):
        started.set()
        await asyncio.Event().wait()

    server = serving(service(act), Settings(grace_seconds=0.1))
    running = await server.__aenter__()
    async with channel(running.address, service=NAME, idempotent=[]) as opened:
        task = asyncio.create_task(Client(opened).failure("Unary"))
        await started.wait()
        await server.__aexit__(None, None, None)
        assert (await task).code() in (Code.CANCELLED, Code.UNAVAILABLE)


async def test_over_the_limit_calls_are_turned_away_at_once_and_health_still_answers():
    release = asyncio.Event()

    async def act(request, context):
        await release.wait()
        return pb.GenerateResponse()

    async with probing(act, Settings(max_in_flight=4)) as call:
        for _ in range(3):
            release.clear()
            calls = [asyncio.create_task(call("Unary")) for _ in range(40)]

            def refused(calls=calls):
                return [task for task in calls if task.done()]

            assert await eventually(lambda: len(refused()) == 36)
            assert await health(call, "readiness") == SERVING
            release.set()
            results = await asyncio.gather(*calls, return_exceptions=True)
            errors = [result for result in results if isinstance(result, grpc.aio.AioRpcError)]
            assert len(results) - len(errors) == 4
            assert {error.code() for error in errors} == {Code.RESOURCE_EXHAUSTED}
            assert _retry_delay(errors[0]) == 1.0


async def test_an_unknown_method_is_unimplemented():
    async with probing(fine) as call:
        unknown = call.channel.unary_unary(f"/{NAME}/Nothing")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await unknown(b"", timeout=5)
    assert caught.value.code() is Code.UNIMPLEMENTED


async def reflected(opened):
    stub = reflection_pb2_grpc.ServerReflectionStub(opened)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    [reply] = [r async for r in stub.ServerReflectionInfo(iter([request]), timeout=5)]
    return {found.name for found in reply.list_services_response.service}


async def test_reflection_lists_the_service_in_the_dev_profile():
    async with probing(fine, Settings(profile="dev")) as call:
        assert {NAME, "grpc.health.v1.Health"} <= await reflected(call.channel)


async def test_there_is_no_reflection_in_the_prod_profile():
    async with probing(fine, Settings(profile="prod", auth="none")) as call:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await reflected(call.channel)
        assert caught.value.code() is Code.UNIMPLEMENTED
        assert await health(call, NAME) == SERVING


async def test_health_and_reflection_are_not_traced(observed):
    async with probing(fine) as call:
        await health(call, "")
        await reflected(call.channel)
        await call("Unary")
        await observed.ended(1, SpanKind.SERVER)


@pytest.mark.parametrize("over", [-1, 0, 1])
async def test_requests_and_replies_may_be_16_mib_and_not_a_byte_more(over):
    # Sizes of the whole message: the text, its tag and its length.
    class Echo(rpc.GenerationServiceServicer):
        async def Generate(self, request, context):
            size = int(request.question)
            return pb.GenerateResponse(generator="x" * size)

    text = "x" * (MAX_MESSAGE_BYTES + over - 5)
    assert pb.GenerateResponse(generator=text).ByteSize() == MAX_MESSAGE_BYTES + over
    served = Service(
        "verity.v1.GenerationService",
        rpc.add_GenerationServiceServicer_to_server,
        Echo(),
        {"Generate": 10, "GenerateStream": 10, "ResolveQuestion": 10},
    )
    async with (
        serving(served, Settings()) as running,
        channel(running.address, service=served.name, idempotent=[]) as opened,
        grpc.aio.insecure_channel(running.address) as foreign,
    ):
        reply = rpc.GenerationServiceStub(opened).Generate(
            pb.GenerateRequest(question=str(len(text))), timeout=10
        )
        request = rpc.GenerationServiceStub(foreign).Generate(
            pb.GenerateRequest(question=text), timeout=10
        )
        outcome = {"reply": await reply.code(), "request": await request.code()}
    refused = {"reply": Code.RESOURCE_EXHAUSTED, "request": Code.RESOURCE_EXHAUSTED}
    # A request that fits arrives, and is refused for what it says.
    arrived = {"reply": Code.OK, "request": Code.INVALID_ARGUMENT}
    assert outcome == (refused if over > 0 else arrived)


async def test_a_port_that_is_taken_is_an_error_at_start():
    async with serving(service(fine), Settings()) as running:
        with pytest.raises(RuntimeError, match="bind"):
            async with serving(service(fine), Settings(bind=running.address)):
                pass


async def test_every_method_needs_a_deadline():
    with pytest.raises(ValueError, match="ServerStream"):
        Service(NAME, lambda servicer, server: None, None, {"Unary": 1})


async def test_a_client_may_ping_as_often_as_is_published_without_calls(monkeypatch):
    # Everything a hundred times faster: gRPC's own clients do not ping faster than each 10 s, so
    # these are frames by hand.
    monkeypatch.setattr(transport, "PING_SECONDS", transport.PING_SECONDS / 100)
    async with serving(service(fine), Settings()) as running:
        host, _, port = running.address.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _frame(SETTINGS))
        for _ in range(8):
            writer.write(_frame(PING, payload=bytes(8)))
            await asyncio.sleep(transport.PING_SECONDS)  # How often is what is tested.
        kinds, acknowledged = set(), 0
        async with asyncio.timeout(5):
            while acknowledged < 8:
                header = await reader.readexactly(9)
                await reader.readexactly(int.from_bytes(header[:3]))
                kinds.add(header[3])
                acknowledged += header[3] == PING
        writer.close()
        await writer.wait_closed()
    assert GOAWAY not in kinds


SETTINGS, PING, GOAWAY = 4, 6, 7


def _frame(kind, payload=b""):
    return len(payload).to_bytes(3) + bytes([kind, 0]) + bytes(4) + payload


def _retry_delay(error):
    info = error_details_pb2.RetryInfo()
    [packed] = rpc_status.from_call(error).details
    packed.Unpack(info)
    return info.retry_delay.ToMilliseconds() / 1000
