"""The caller's deadline binds everything that is done for the call."""

import asyncio

import grpc
from probe import KINDS, probing
from verity.v1 import generation_service_pb2 as pb

from services.chassis import deadline

Code = grpc.StatusCode


def noting(notes, then=None):
    """Notes what is left of the deadline, then asks the next service."""

    async def act(request, context):
        notes.append(deadline.remaining())
        if then:
            await then("Unary", request.question, timeout=None)
        return pb.GenerateResponse()

    return act


async def hang(request, context):
    await asyncio.Event().wait()


async def test_a_deadline_shrinks_over_three_hops():
    left = []
    async with (
        probing(noting(left)) as third,
        probing(noting(left, third)) as second,
        probing(noting(left, second)) as first,
    ):
        await first("Unary", timeout=2)
    assert 2 > left[0] > left[1] > left[2] > 0
    assert left[0] - left[2] > 0.03  # Two reserves.


async def test_a_calls_own_cap_counts_when_it_is_nearer():
    left = []

    async def act(request, context):
        await inner("Unary", timeout=0.5)
        return pb.GenerateResponse()

    async with probing(noting(left)) as inner, probing(act) as outer:
        await outer("Unary", timeout=5)
    assert left[0] < 0.5


async def test_a_call_without_a_deadline_gets_its_methods_own():
    left = []
    async with probing(noting(left), deadline=3) as call:
        await call("Unary", timeout=None)
    assert 2.5 < left[0] < 3


async def test_the_server_itself_ends_a_call_that_takes_too_long():
    async with probing(hang, deadline=0.1) as call:
        for kind in KINDS:
            failure = await call.failure(kind, timeout=None)
            assert failure.code() is Code.DEADLINE_EXCEEDED
            assert failure.details() == "The call's deadline has passed."


async def test_a_callers_deadline_ends_the_work_of_every_hop():
    ended = []

    async def act(request, context):
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def forward(request, context):
        return (await inner("Unary", timeout=None))[0]

    async with probing(act) as inner, probing(forward) as outer:
        failure = await outer.failure("Unary", timeout=0.3)
    assert failure.code() is Code.DEADLINE_EXCEEDED
    assert ended == [True]


async def test_a_call_is_not_sent_when_no_time_is_left_for_it():
    reached = []

    async def act(request, context):
        reached.append(True)
        return pb.GenerateResponse()

    async def late(request, context):
        with_nothing_left = deadline.within(deadline.remaining() / 1000)
        async with with_nothing_left:
            return (await inner("Unary", timeout=None))[0]

    async with probing(act) as inner, probing(late) as outer:
        failure = await outer.failure("Unary", timeout=2)
    assert failure.code() is Code.DEADLINE_EXCEEDED
    assert reached == []


async def test_outside_a_call_there_is_no_deadline():
    assert deadline.remaining() is None
