"""Telemetry is sent before the process ends, and never holds it up."""

import asyncio
import threading

import pytest
from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.trace import StatusCode

from services.chassis import telemetry
from services.chassis.settings import Settings


class Slow(SpanProcessor):
    """Takes until `done` to shut down."""

    def __init__(self):
        self.done = threading.Event()
        self.finished = False

    def shutdown(self):
        self.done.wait()
        self.finished = True


def test_leaving_waits_until_what_is_left_was_sent():
    processor = Slow()
    with telemetry.configured("test", Settings(), span_processors=[processor]):
        threading.Timer(0.2, processor.done.set).start()
    assert processor.finished


def test_leaving_does_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr(telemetry, "FLUSH_SECONDS", 0.1)
    processor = Slow()
    with telemetry.configured("test", Settings(), span_processors=[processor]):
        pass
    assert not processor.finished
    processor.done.set()


def test_a_failing_shutdown_does_not_fail_the_process():
    class Failing(SpanProcessor):
        def shutdown(self):
            raise OSError("gone")

    with telemetry.configured("test", Settings(), span_processors=[Failing()]):
        pass


def test_after_leaving_nothing_is_recorded(observed):
    with telemetry.configured("inner", Settings()):
        pass
    with telemetry.span("outer"):
        assert telemetry.trace_id()
    assert [span.name for span in observed.spans] == ["outer"]


def test_the_service_is_named_by_otel_service_name_if_given(monkeypatch, observed):
    with telemetry.span("one"):
        pass
    [span] = observed.spans
    assert span.resource.attributes["service.name"] == "test"
    assert span.resource.attributes["service.version"]
    monkeypatch.setenv("OTEL_SERVICE_NAME", "mine")
    seen = []

    class Seen(SpanProcessor):
        def on_end(self, span):
            seen.append(span.resource.attributes["service.name"])

    with (
        telemetry.configured("test", Settings(), span_processors=[Seen()]),
        telemetry.span("two"),
    ):
        pass
    assert seen == ["mine"]


def test_a_span_keeps_the_type_of_an_error_and_not_its_text(observed):
    with pytest.raises(ValueError, match="secret"), telemetry.span("work", **{"verity.lane": "q"}):
        raise ValueError("secret")
    [span] = observed.spans
    assert span.status.status_code is StatusCode.ERROR
    assert dict(span.attributes) == {"verity.lane": "q", "error.type": "ValueError"}
    assert "secret" not in span.to_json()


async def test_a_cancelled_span_is_no_error(observed):
    with pytest.raises(asyncio.CancelledError), telemetry.span("work"):
        raise asyncio.CancelledError
    [span] = observed.spans
    assert span.status.status_code is StatusCode.UNSET
