"""A caller that goes away stops the work that was done for it."""

import asyncio
from contextlib import suppress

import pytest
from observed import eventually
from opentelemetry.trace import SpanKind, StatusCode
from probe import KINDS, Probe, probing
from verity.v1 import generation_service_pb2 as pb

from services.chassis import telemetry

every_kind = pytest.mark.parametrize("kind", KINDS)


class Hanging:
    """An act that starts, never ends by itself, and remembers how it ended."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.ending = asyncio.get_running_loop().create_future()

    async def __call__(self, request, context):
        self.started.set()
        try:
            await asyncio.Event().wait()
        except BaseException as error:
            self.ending.set_result(type(error))
            raise

    async def ended(self):
        async with asyncio.timeout(5):
            return await self.ending


@every_kind
async def test_cancelling_the_callers_task_cancels_the_handler(kind, observed):
    act = Hanging()
    async with probing(act) as call:
        task = asyncio.create_task(call(kind))
        await act.started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await act.ended() is asyncio.CancelledError
        [server] = await observed.ended(1, SpanKind.SERVER)
        [client] = await observed.ended(1, SpanKind.CLIENT)
    for span in (server, client):
        assert span.attributes[telemetry.RPC_STATUS] == "CANCELLED"
    assert client.status.status_code is StatusCode.ERROR
    assert server.status.status_code is StatusCode.UNSET  # The caller's wish, not our failure.


@every_kind
async def test_cancelling_the_call_object_cancels_the_handler(kind, observed):
    act = Hanging()
    async with probing(act) as client:
        call = client.start(kind, timeout=10)
        reading = asyncio.create_task(_read(call, streamed=KINDS[kind][1]))
        await act.started.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert await act.ended() is asyncio.CancelledError
        [span] = await observed.ended(1, SpanKind.CLIENT)
    assert span.attributes[telemetry.RPC_STATUS] == "CANCELLED"


async def test_cancellation_passes_through_a_service_in_the_middle():
    act = Hanging()

    async def forward(request, context):
        return (await inner("Unary"))[0]

    async with probing(act) as inner, probing(forward) as outer:
        task = asyncio.create_task(outer("Unary"))
        await act.started.wait()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        assert await act.ended() is asyncio.CancelledError


@pytest.mark.parametrize("kind", ["ServerStream", "BothStreams"])
async def test_a_reply_stream_that_is_given_up_is_closed_in_its_own_context(
    kind, observed, monkeypatch, caplog
):
    made, closed = [], asyncio.Event()

    async def replies(self, request, context):
        with telemetry.span("work"):  # Detaching it in another context logs an error.
            try:
                while True:
                    made.append(1)
                    yield pb.GenerateResponse(generator="x" * 1_000_000)
            finally:
                closed.set()

    monkeypatch.setattr(Probe, kind, replies)
    async with probing(None) as client:
        call = client.start(kind, timeout=10)
        await anext(aiter(call))
        # Nobody reads on, so the server cannot write on: the generator is left at its yield. No
        # event tells of a write that waits; when no more are made for a while, one does.
        before = 0
        while len(made) > before:
            before = len(made)
            await asyncio.sleep(0.1)
        call.cancel()
        async with asyncio.timeout(5):
            await closed.wait()
        [server] = await observed.ended(1, SpanKind.SERVER)
    assert server.attributes[telemetry.RPC_STATUS] == "CANCELLED"
    [work] = [span for span in observed.spans if span.name == "work"]
    assert work.parent.span_id == server.context.span_id
    assert work.end_time <= server.end_time
    assert "detach" not in caplog.text


@pytest.mark.parametrize("kind", ["ClientStream", "BothStreams"])
async def test_an_upload_that_is_given_up_never_looks_like_one_that_has_ended(kind, monkeypatch):
    received, ended, cancelled = asyncio.Event(), [], []

    async def upload(requests):
        try:
            async for _ in requests:
                received.set()
            ended.append(1)
        except asyncio.CancelledError:
            cancelled.append(1)
            raise

    async def one(self, requests, context):
        await upload(requests)
        return pb.GenerateResponse()

    async def many(self, requests, context):
        await upload(requests)
        yield pb.GenerateResponse()

    monkeypatch.setattr(Probe, kind, many if KINDS[kind][1] else one)
    async with probing(None) as client:
        for _ in range(10):
            received.clear()
            call = client.start(kind, requests=half(), timeout=10)
            await received.wait()
            call.cancel()
        assert await eventually(lambda: len(cancelled) == 10)
    assert ended == []


async def half():
    """The first request of an upload whose rest never comes."""
    yield pb.GenerateRequest(question="first")
    await asyncio.Event().wait()


async def _read(call, *, streamed):
    if not streamed:
        return await call
    return [reply async for reply in call]
