"""The scrape port: our metrics in the OpenMetrics format, with exemplars that name a trace.

OpenTelemetry's own Prometheus exporter leaves exemplars out, and they are how one gets from a slow bucket
to the trace that filled it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate

from opentelemetry import trace
from opentelemetry.sdk.metrics.export import (
    Gauge,
    Histogram,
    HistogramDataPoint,
    InMemoryMetricReader,
    Metric,
    Sum,
)
from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import (
    CounterMetricFamily,
    Exemplar,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.registry import Collector

_UNITS = {"s": "seconds", "By": "bytes"}
Family = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily


class Scrape(Collector):
    """Turns what the SDK holds into Prometheus families each time it is asked."""

    def __init__(self) -> None:
        self.reader = InMemoryMetricReader()

    @contextmanager
    def served(self, bind: str) -> Iterator[str]:
        """Answers GET /metrics on `bind`; yields the address, with the port that was chosen for 0."""
        registry = CollectorRegistry()
        registry.register(self)
        host, _, port = bind.rpartition(":")
        server, thread = start_http_server(int(port), host.strip("[]"), registry)
        try:
            yield f"{host}:{server.server_port}"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def describe(self) -> Sequence[Family]:
        return []

    def collect(self) -> Iterator[Family]:
        data = self.reader.get_metrics_data()
        for resource in data.resource_metrics if data else ():
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    yield _family(metric)


def _family(metric: Metric) -> Family:
    name = metric.name.replace(".", "_")
    unit = _UNITS.get(metric.unit or "", "")
    keys = sorted({key for point in metric.data.data_points for key in point.attributes or {}})
    labels = [key.replace(".", "_") for key in keys]
    family: Family
    match metric.data:
        case Histogram():
            family = HistogramMetricFamily(name, metric.description or "", labels=labels, unit=unit)
        case Sum(is_monotonic=True):
            family = CounterMetricFamily(name, metric.description or "", labels=labels, unit=unit)
        case Sum() | Gauge():
            family = GaugeMetricFamily(name, metric.description or "", labels=labels, unit=unit)
        case other:
            raise TypeError(f"{metric.name}: no Prometheus form for {type(other).__name__}")
    for point in metric.data.data_points:
        values = [str((point.attributes or {}).get(key, "")) for key in keys]
        if isinstance(family, HistogramMetricFamily):
            family.add_metric(values, _buckets(point), point.sum)
        else:
            family.add_metric(values, point.value)
    return family


def _buckets(point: HistogramDataPoint) -> list[tuple[str, float, Exemplar | None]]:
    bounds = [*point.explicit_bounds, float("inf")]
    floors = [float("-inf"), *point.explicit_bounds]
    return [
        ("+Inf" if bound == float("inf") else str(bound), count, _exemplar(point, floor, bound))
        for floor, bound, count in zip(floors, bounds, accumulate(point.bucket_counts), strict=True)
    ]


def _exemplar(point: HistogramDataPoint, above: float, up_to: float) -> Exemplar | None:
    for exemplar in point.exemplars:
        if exemplar.trace_id and above < exemplar.value <= up_to:
            return Exemplar(
                {
                    "trace_id": trace.format_trace_id(exemplar.trace_id),
                    "span_id": trace.format_span_id(exemplar.span_id or 0),
                },
                exemplar.value,
                exemplar.time_unix_nano / 1e9,
            )
    return None
