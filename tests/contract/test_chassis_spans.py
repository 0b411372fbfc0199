"""Every RPC is one span on each side, which says how the RPC really ended."""

import asyncio

import grpc
import pytest
from opentelemetry import baggage, context
from opentelemetry.trace import SpanKind, StatusCode, format_trace_id
from probe import KINDS, NAME, probing
from verity.v1 import generation_service_pb2 as pb

from services.chassis import telemetry
from services.chassis.errors import NotFound, Unavailable
from services.chassis.settings import Settings

Code = grpc.StatusCode
CANARY = "what-the-user-asked"


async def fine(request, context):
    return pb.GenerateResponse(generator=telemetry.trace_id())


async def not_found(request, context):
    raise NotFound("No such document.")


async def down(request, context):
    raise Unavailable("The index is down.")


async def crash(request, context):
    raise ValueError(CANARY)


async def abort(request, context):
    await context.abort(Code.PERMISSION_DENIED, "no")


async def hang(request, context):
    await asyncio.Event().wait()


# How it ends: what each side's span says, and whether the server's is an error; cancel is in
# test_chassis_cancellation.py.
OUTCOMES = [
    (fine, Code.OK, StatusCode.UNSET),
    (not_found, Code.NOT_FOUND, StatusCode.UNSET),
    (abort, Code.PERMISSION_DENIED, StatusCode.UNSET),
    (down, Code.UNAVAILABLE, StatusCode.ERROR),
    (crash, Code.INTERNAL, StatusCode.ERROR),
    (hang, Code.DEADLINE_EXCEEDED, StatusCode.ERROR),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("act", "code", "server_status"), OUTCOMES, ids=[act.__name__ for act, _, _ in OUTCOMES]
)
async def test_both_spans_say_how_the_call_ended(act, code, server_status, kind, observed):
    async with probing(act) as call:
        if code is Code.OK:
            await call(kind)
        else:
            await call.failure(kind, timeout=0.15 if act is hang else 10)
        [server] = await observed.ended(1, SpanKind.SERVER)
        [client] = await observed.ended(1, SpanKind.CLIENT)
    for span in (server, client):
        assert span.name == f"{NAME}/{kind}"
        assert span.attributes[telemetry.RPC_SYSTEM] == "grpc"
        assert span.attributes[telemetry.RPC_METHOD] == f"{NAME}/{kind}"
        assert span.attributes[telemetry.RPC_STATUS] == code.name
    assert server.status.status_code is server_status
    assert client.status.status_code is (StatusCode.UNSET if code is Code.OK else StatusCode.ERROR)
    assert server.parent.span_id == client.context.span_id


async def test_a_deadline_that_the_caller_set_is_no_cancellation_on_the_server(observed):
    async with probing(hang, deadline=60) as call:
        await call.failure("Unary", timeout=0.1)
        [server] = await observed.ended(1, SpanKind.SERVER)
    assert server.attributes[telemetry.RPC_STATUS] == "DEADLINE_EXCEEDED"


async def test_calls_over_two_hops_are_one_trace(observed):
    async def forward(request, context):
        with telemetry.span("thinking"):
            return (await inner("Unary"))[0]

    async with probing(fine) as inner, probing(forward) as outer:
        [reply] = await outer("Unary")
        servers = await observed.ended(2, SpanKind.SERVER)
        clients = await observed.ended(2, SpanKind.CLIENT)
    spans = {span.context.span_id: span for span in observed.spans}
    assert {format_trace_id(span.context.trace_id) for span in spans.values()} == {reply.generator}
    assert len(servers) == len(clients) == 2
    # From the innermost outwards.
    chain, span = [], servers[0]
    while span:
        chain.append((span.kind, span.name.rpartition("/")[2]))
        span = spans.get(span.parent.span_id) if span.parent else None
    assert chain == [
        (SpanKind.SERVER, "Unary"),
        (SpanKind.CLIENT, "Unary"),
        (SpanKind.INTERNAL, "thinking"),
        (SpanKind.SERVER, "Unary"),
        (SpanKind.CLIENT, "Unary"),
    ]


async def test_no_text_of_a_request_or_an_exception_is_in_spans_or_ordinary_logs(observed, caplog):
    async def failing(request, context):
        with telemetry.span("inner"):
            raise NotFound(CANARY)

    async with probing(failing) as call:
        await call.failure("Unary", CANARY)
        await observed.ended(1, SpanKind.SERVER)
    assert CANARY not in "".join(span.to_json() for span in observed.spans)
    [inner] = [span for span in observed.spans if span.name == "inner"]
    assert inner.status.status_code is StatusCode.ERROR
    assert inner.attributes[telemetry.ERROR_TYPE] == "NotFound"
    assert CANARY not in caplog.text


async def test_an_unexpected_errors_text_is_in_no_span(observed):
    async with probing(crash) as call:
        await call.failure("Unary")
        await observed.ended(1, SpanKind.SERVER)
    assert CANARY not in "".join(span.to_json() for span in observed.spans)


async def test_baggage_goes_nowhere(observed):
    seen = []

    async def act(request, context):
        seen.append(dict(context.invocation_metadata()))
        return pb.GenerateResponse()

    async with probing(act) as call:
        token = context.attach(baggage.set_baggage("user", "alice@example.com"))
        try:
            await call("Unary")
        finally:
            context.detach(token)
    assert "traceparent" in seen[0]
    assert "alice" not in str(seen[0])


async def test_each_finished_call_is_one_log_line_with_its_trace(observed, caplog):
    async with probing(not_found) as call:
        await call.failure("Unary")
        [server] = await observed.ended(1, SpanKind.SERVER)
    [line] = [r.msg for r in caplog.records if r.msg.get("event") == "rpc"]
    assert (line["method"], line["code"]) == (f"{NAME}/Unary", "NOT_FOUND")
    assert line["ms"] >= 0
    assert line["service"] == "test"
    assert line["trace_id"] == format_trace_id(server.context.trace_id)


async def test_the_log_line_of_a_failed_call_names_what_was_behind_it(observed, caplog):
    async def act(request, context):
        try:
            raise ConnectionRefusedError(CANARY)
        except OSError as error:
            raise Unavailable("The index is down.") from error

    async with probing(act) as call:
        await call.failure("Unary")
    # asyncio and gRPC may say something of their own meanwhile.
    ours = [r.msg for r in caplog.records if isinstance(r.msg, dict)]
    [line] = [one for one in ours if one.get("event") == "rpc"]
    assert (line["code"], line["error"]) == ("UNAVAILABLE", "ConnectionRefusedError")


async def test_answers_have_a_trace_id_even_when_nothing_is_exported():
    with telemetry.configured("test", Settings()):
        async with probing(fine) as call:
            [reply] = await call("Unary")
    assert len(reply.generator) == 32
    assert int(reply.generator, 16)


async def test_outside_of_any_call_there_is_no_trace_id(observed):
    assert telemetry.trace_id() == ""
