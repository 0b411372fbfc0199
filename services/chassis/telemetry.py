"""Traces, metrics and logs of one process, listening to the standard OTEL_* variables."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib import metadata
from typing import Any

import structlog
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import Meter, NoOpMeter
from opentelemetry.sdk.metrics import Histogram, MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.metrics.view import ExplicitBucketHistogramAggregation, View
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue

from services.chassis import logging, prometheus
from services.chassis.settings import Settings

# Attribute names. RPC and HTTP names are OpenTelemetry's stable ones.
RPC_SYSTEM = "rpc.system.name"
RPC_METHOD = "rpc.method"
RPC_STATUS = "rpc.response.status_code"
HTTP_METHOD = "http.request.method"
HTTP_ROUTE = "http.route"
HTTP_STATUS = "http.response.status_code"
ERROR_TYPE = "error.type"
QUEUE = "verity.queue"
LANE = "verity.lane"

# Every duration, from one embedding to the slowest answer.
SECONDS = (
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0,
)  # fmt: skip

# A collector that is down must not hold up the exit: 2 s for one export, 4 s for all of it.
EXPORT_SECONDS = 2.0
FLUSH_SECONDS = 4.0

_SCOPE = "verity"
_PROPAGATOR = TraceContextTextMapPropagator()  # Baggage is neither read nor sent.

# One process has one telemetry. Not OpenTelemetry's own global, which is set once and never closed.
_tracer: trace.Tracer = trace.NoOpTracer()
_meter: Meter = NoOpMeter(_SCOPE)


@contextmanager
def configured(
    service_name: str,
    settings: Settings,
    *,
    span_processors: Sequence[SpanProcessor] = (),
    metric_readers: Sequence[MetricReader] = (),
) -> Iterator[str]:
    """Turns telemetry on, and on leaving sends what is left, for a few seconds at most.

    Spans are always made, so that every answer has a trace id; they are exported when an OTLP
    endpoint is set. Yields the address on which Prometheus may scrape, empty when there is none.

    Args:
        service_name: The service.name of everything sent, unless OTEL_SERVICE_NAME says otherwise.
        settings: Says where to send.
        span_processors: More receivers of spans; for tests.
        metric_readers: More readers of metrics; for tests.
    """
    global _tracer, _meter
    resource = _resource(service_name)
    scrape = prometheus.Scrape()
    meters = _meter_provider(resource, settings, [*metric_readers, scrape.reader])
    tracers = _tracer_provider(resource, settings, span_processors, meters)
    with ExitStack() as stack:
        stack.enter_context(logging.configured(service_name, settings.log_level))
        stack.callback(_shut_down, tracers, meters)
        address = stack.enter_context(scrape.served(settings.metrics_bind))
        structlog.get_logger().info("settings", **settings.printable())
        before = _tracer, _meter
        _tracer, _meter = tracers.get_tracer(_SCOPE), meters.get_meter(_SCOPE)
        try:
            yield address
        finally:
            _tracer, _meter = before


@contextmanager
def span(name: str, **attributes: AttributeValue) -> Iterator[trace.Span]:
    """A child of the current span. An exception marks it with its type, never with its text."""
    with tracer().start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield current
        except Exception as error:
            current.set_status(trace.StatusCode.ERROR)
            current.set_attribute(ERROR_TYPE, type(error).__name__)
            raise


def trace_id() -> str:
    """The current trace, as 32 hexadecimal digits; empty outside one."""
    context = trace.get_current_span().get_span_context()
    return trace.format_trace_id(context.trace_id) if context.is_valid else ""


def tracer() -> trace.Tracer:
    return _tracer


def meter() -> Meter:
    """Makes instruments, named "verity.*"; ask for it in a constructor, after `configured`."""
    return _meter


def extract(headers: Mapping[str, str]) -> otel_context.Context:
    """The caller's trace, from W3C headers."""
    return _PROPAGATOR.extract(headers, context=otel_context.Context())


def inject(span: trace.Span) -> dict[str, str]:
    """W3C headers that make `span` the parent of what the callee does."""
    headers: dict[str, str] = {}
    _PROPAGATOR.inject(headers, context=trace.set_span_in_context(span))
    return headers


def _resource(service_name: str) -> Resource:
    ours = {
        "service.namespace": _SCOPE,
        "service.name": service_name,
        "service.version": metadata.version("verity"),
    }
    return Resource(ours).merge(OTELResourceDetector().detect())


def _meter_provider(
    resource: Resource, settings: Settings, readers: list[MetricReader]
) -> MeterProvider:
    if endpoint := settings.otlp_metrics_endpoint or settings.otlp_endpoint:
        exporter = OTLPMetricExporter(endpoint=endpoint, timeout=EXPORT_SECONDS)
        readers = [*readers, PeriodicExportingMetricReader(exporter)]
    durations = View(
        instrument_type=Histogram,
        instrument_unit="s",
        aggregation=ExplicitBucketHistogramAggregation(SECONDS),
    )
    return MeterProvider(readers, resource, shutdown_on_exit=False, views=[durations])


def _tracer_provider(
    resource: Resource,
    settings: Settings,
    processors: Sequence[SpanProcessor],
    meters: MeterProvider,
) -> TracerProvider:
    provider = TracerProvider(resource=resource, shutdown_on_exit=False, meter_provider=meters)
    for processor in processors:
        provider.add_span_processor(processor)
    if endpoint := settings.otlp_traces_endpoint or settings.otlp_endpoint:
        exporter = OTLPSpanExporter(endpoint=endpoint, timeout=EXPORT_SECONDS)
        provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def _shut_down(*providers: Any) -> None:
    threads = [
        threading.Thread(target=_shut_down_one, args=(provider,), daemon=True)
        for provider in providers
    ]
    until = time.monotonic() + FLUSH_SECONDS
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))


def _shut_down_one(provider: Any) -> None:
    try:
        provider.shutdown()
    except Exception as error:  # noqa: BLE001 - the last telemetry is lost; the exit goes on
        structlog.get_logger().warning("telemetry_lost", error=type(error).__name__)
