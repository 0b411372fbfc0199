"""Each exception becomes one status, and the caller hears nothing else of it."""

import asyncio

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from probe import KINDS, NAME, Client, probing
from verity.v1 import generation_service_pb2 as pb

from services.chassis.client import channel
from services.chassis.errors import (
    Aborted,
    DeadlineExceeded,
    FailedPrecondition,
    InvalidInput,
    NotFound,
    OutOfRange,
    Overloaded,
    Unavailable,
    Violation,
)

Code = grpc.StatusCode
SECRET = "redis://:hunter2@internal:6379"

TABLE = [
    (InvalidInput("Send a PDF."), Code.INVALID_ARGUMENT),
    (NotFound("No such document."), Code.NOT_FOUND),
    (OutOfRange("The document has 3 pages."), Code.OUT_OF_RANGE),
    (FailedPrecondition("The source has no pages."), Code.FAILED_PRECONDITION),
    (Aborted("Being answered already."), Code.ABORTED),
    (Overloaded("The queue is full.", retry_after=2.5), Code.RESOURCE_EXHAUSTED),
    (Unavailable("The index is down."), Code.UNAVAILABLE),
    (DeadlineExceeded("Out of time."), Code.DEADLINE_EXCEEDED),
]
table = pytest.mark.parametrize(("error", "code"), TABLE, ids=[code.name for _, code in TABLE])
every_kind = pytest.mark.parametrize("kind", KINDS)


def raising(error):
    async def act(request, context):
        raise error

    return act


def forwarding(client):
    async def act(request, context):
        return (await client("Unary", request.question))[0]

    return act


def detail(error, kind):
    """The one detail of a kind in an error's rich status."""
    status = rpc_status.from_call(error)
    found = [packed for packed in status.details if packed.Is(kind.DESCRIPTOR)]
    assert len(found) == 1
    message = kind()
    found[0].Unpack(message)
    return message


@table
@every_kind
async def test_each_error_reaches_the_caller_as_its_status_with_its_message(error, code, kind):
    async with probing(raising(error)) as call:
        failure = await call.failure(kind)
    assert (failure.code(), failure.details()) == (code, str(error))


@table
async def test_a_second_hop_passes_status_message_and_details_on(error, code):
    async with probing(raising(error)) as inner, probing(forwarding(inner)) as outer:
        failure = await outer.failure("Unary")
        original = await inner.failure("Unary")
    assert (failure.code(), failure.details()) == (code, str(error))
    assert rpc_status.from_call(failure) == rpc_status.from_call(original)


async def test_an_overloaded_service_says_when_to_come_back():
    async with probing(raising(Overloaded("Full.", retry_after=2.5))) as call:
        info = detail(await call.failure("Unary"), error_details_pb2.RetryInfo)
    assert info.retry_delay.ToMilliseconds() == 2500


async def test_violations_and_reason_arrive_as_bad_request_and_error_info():
    error = InvalidInput(
        "The file is encrypted.",
        violations=(Violation("chunk", "is bad"),),
        reason="ENCRYPTED_FILE",
    )
    async with probing(raising(error)) as call:
        failure = await call.failure("Unary")
    violations = detail(failure, error_details_pb2.BadRequest).field_violations
    assert [(v.field, v.description) for v in violations] == [("chunk", "is bad")]
    info = detail(failure, error_details_pb2.ErrorInfo)
    assert (info.reason, info.domain) == ("ENCRYPTED_FILE", "verity")


@every_kind
async def test_an_unexpected_error_leaves_as_internal_with_an_id_and_none_of_its_text(
    kind, observed, caplog
):
    async with probing(raising(ValueError(SECRET))) as call:
        failure = await call.failure(kind)
    assert (failure.code(), failure.details()) == (Code.INTERNAL, "internal error")
    assert "hunter2" not in str(failure)
    error_id = detail(failure, error_details_pb2.ErrorInfo).metadata["error_id"]
    assert len(error_id) == 32
    [line] = [r.msg for r in caplog.records if r.msg.get("event") == "unexpected_error"]
    assert line["error_id"] == line["trace_id"] == error_id
    assert SECRET in line["exception"]


async def test_an_inner_services_internal_error_is_ours_to_hide_too():
    async with probing(raising(ValueError(SECRET))) as inner, probing(forwarding(inner)) as outer:
        failure = await outer.failure("Unary")
    assert (failure.code(), failure.details()) == (Code.INTERNAL, "internal error")


@pytest.mark.parametrize("code", [Code.UNIMPLEMENTED, Code.DATA_LOSS, Code.UNKNOWN])
async def test_a_status_that_is_about_our_own_call_becomes_internal(code):
    async def act(request, context):
        await context.abort(code, "about you")

    async with probing(act) as inner, probing(forwarding(inner)) as outer:
        failure = await outer.failure("Unary")
    assert (failure.code(), failure.details()) == (Code.INTERNAL, "internal error")


async def test_an_unreachable_service_is_unavailable_and_its_address_is_not_told():
    async with (
        channel("127.0.0.1:1", service=NAME, idempotent=[]) as nowhere,
        probing(forwarding(Client(nowhere))) as outer,
    ):
        failure = await outer.failure("Unary")
    assert failure.code() is Code.UNAVAILABLE
    assert "127.0.0.1" not in failure.details()


async def test_a_peer_that_drops_the_call_is_unavailable():
    async def act(request, context):
        await context.abort(Code.CANCELLED, "going away")

    async with probing(act) as inner, probing(forwarding(inner)) as outer:
        failure = await outer.failure("Unary")
    assert failure.code() is Code.UNAVAILABLE


async def test_a_stray_cancellation_inside_a_live_call_answers_instead_of_hanging():
    async def act(request, context):
        inner = asyncio.create_task(asyncio.Event().wait())
        inner.cancel()
        await inner

    async with probing(act) as call:
        for kind in KINDS:
            failure = await call.failure(kind, timeout=5)
            assert (failure.code(), failure.details()) == (Code.INTERNAL, "internal error")


async def test_a_timeout_inside_the_handler_is_not_the_callers_deadline():
    async def act(request, context):
        async with asyncio.timeout(0.01):
            await asyncio.Event().wait()

    async with probing(act) as call:
        assert (await call.failure("Unary")).code() is Code.INTERNAL


async def test_a_method_that_is_not_written_yet_is_unimplemented():
    async with probing(raising(NotImplementedError("Method not implemented!"))) as call:
        failure = await call.failure("Unary")
    assert failure.code() is Code.UNIMPLEMENTED
    assert "does not answer this method" in failure.details()


async def test_a_handlers_own_abort_is_left_alone():
    async def act(request, context):
        await context.abort(Code.PERMISSION_DENIED, "no")

    async with probing(act) as call:
        failure = await call.failure("Unary")
    assert (failure.code(), failure.details()) == (Code.PERMISSION_DENIED, "no")


async def test_an_error_in_the_middle_of_a_stream_comes_after_the_replies_before_it():
    async def act(request, context):
        if request.question == "bad":
            raise NotFound("No such thing.")
        return pb.GenerateResponse(generator=request.question)

    async with probing(act) as client:
        call = client.start("BothStreams", "one", "two", "bad", timeout=10)
        replies = aiter(call)
        assert (await anext(replies)).generator == "one"
        assert (await anext(replies)).generator == "two"
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await anext(replies)
    assert caught.value.code() is Code.NOT_FOUND


async def test_a_status_fits_the_header_space_however_much_was_wrong():
    violations = tuple(Violation(f"passages[{n}].text" * 20, "ü" * 4000) for n in range(1000))
    async with probing(raising(InvalidInput("ü" * 100_000, violations=violations))) as call:
        failure = await call.failure("Unary")
    assert failure.code() is Code.INVALID_ARGUMENT
    assert detail(failure, error_details_pb2.BadRequest).field_violations


@every_kind
async def test_a_request_that_breaks_its_rules_never_reaches_its_handler(kind):
    seen = []

    async def act(request, context):
        seen.append(request.question)
        return pb.GenerateResponse()

    async with probing(act) as call:
        failure = await call.failure(kind, " ")
    assert failure.code() is Code.INVALID_ARGUMENT
    assert detail(failure, error_details_pb2.BadRequest).field_violations[0].field == "question"
    assert seen == []


@pytest.mark.parametrize("kind", ["ClientStream", "BothStreams"])
async def test_each_message_of_a_request_stream_is_validated(kind):
    seen = []

    async def act(request, context):
        seen.append(request.question)
        return pb.GenerateResponse()

    async with probing(act) as call:
        failure = await call.failure(kind, "first", "second", "", "fourth")
    assert failure.code() is Code.INVALID_ARGUMENT
    assert seen == ["first", "second"]
