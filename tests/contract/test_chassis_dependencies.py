"""What a process needs is said by name: in its health, in its log, with what to do about it."""

import asyncio
import time
from importlib import metadata

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from probe import KINDS, NAME
from structlog.testing import capture_logs

from services.chassis.dependencies import Dependency, Watch, unreachable
from services.chassis.errors import Unavailable
from services.chassis.health import CLOCK_KEY, VERSION_KEY, Health
from services.chassis.server import Service, serving
from services.chassis.settings import Settings

SERVING, NOT_SERVING = 1, 2


class Store:
    """A dependency that is as the test says."""

    def __init__(self, reason=""):
        self.reason = reason
        self.raises = None

    async def missing(self):
        if self.raises:
            raise self.raises
        return self.reason


def watching(store, **options):
    health = Health("verity.v1.X")
    return Watch([Dependency("store", store.missing, "start it")], health, **options), health


async def test_what_is_missing_is_logged_once_with_its_reason_and_mend_and_so_is_its_return():
    store = Store("it may drop answers")
    watch, health = watching(store)
    with capture_logs() as logs:
        await watch.look()
        await watch.look()
        assert health._status["dependency/store"] == NOT_SERVING
        store.reason = ""
        await watch.look()
    assert health._status["dependency/store"] == SERVING
    assert [line["event"] for line in logs] == ["dependency_missing", "dependency_back"]
    assert (logs[0]["reason"], logs[0]["mend"]) == ("it may drop answers", "start it")


@pytest.mark.parametrize(
    ("raised", "reason"),
    [
        (Unavailable("The memory is down."), "The memory is down."),
        (ValueError("hunter2"), "it cannot be used: ValueError"),
    ],
)
async def test_a_look_that_fails_is_a_reason_without_foreign_words(raised, reason):
    store = Store()
    store.raises = raised
    watch, _ = watching(store)
    with capture_logs() as logs:
        await watch.look()
    assert logs[0]["reason"] == reason


async def test_a_look_that_hangs_ends_and_is_a_reason():
    async def hangs():
        await asyncio.Event().wait()

    watch = Watch([Dependency("store", hangs, "")], Health("verity.v1.X"), seconds=0.01)
    with capture_logs() as logs:
        await watch.look()
    assert logs[0]["reason"] == "it did not answer within 0.01 s"


async def test_readiness_and_liveness_do_not_follow_a_dependency():
    watch, health = watching(Store("down"))
    health.ready()
    await watch.look()
    assert [health._status[name] for name in ("", "readiness", "liveness")] == [SERVING] * 3
    health.enter_graceful_shutdown()
    assert health._status["dependency/store"] == NOT_SERVING


async def test_a_client_sees_each_dependency_the_version_and_the_clock():
    store = Store("down")
    looked = asyncio.Event()

    async def missing():
        looked.set()
        return await store.missing()

    service = Service(
        NAME, lambda *_: None, object(), dict.fromkeys(KINDS, 1.0),
        [Dependency("store", missing, "start it")],
    )  # fmt: skip
    async with (
        serving(service, Settings()) as running,
        grpc.aio.insecure_channel(running.address) as channel,
        asyncio.timeout(10),
    ):
        await looked.wait()
        call = health_pb2_grpc.HealthStub(channel).List(health_pb2.HealthListRequest())
        told = dict(await call.initial_metadata())
        statuses = (await call).statuses
    assert statuses["dependency/store"].status == NOT_SERVING
    assert statuses["readiness"].status == SERVING
    assert told[VERSION_KEY] == metadata.version("verity")
    assert abs(float(told[CLOCK_KEY]) - time.time()) < 60


async def test_an_endpoint_where_nothing_listens_is_told_from_one_where_something_does():
    async with await asyncio.start_server(lambda _, w: w.close(), "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        assert await unreachable(f"http://127.0.0.1:{port}/v1") == ""
    assert (await unreachable(f"http://127.0.0.1:{port}/v1")).startswith("no connection")
