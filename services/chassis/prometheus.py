"""The scrape port: our metrics in the OpenMetrics format, with exemplars that name a trace.

OpenTelemetry's own Prometheus exporter leaves exemplars out, and they are the way from a slow
bucket to the trace that filled it.
"""

import math
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
    NumberDataPoint,
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
        """Answers GET /metrics on `bind`, if given; yields the address it got."""
        if not bind:
            yield ""
            return
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
    name, help_text = metric.name.replace(".", "_"), metric.description or ""
    unit = _UNITS.get(metric.unit or "", "")
    points = metric.data.data_points
    keys = sorted({key for point in points for key in point.attributes or {}})
    labels = [key.replace(".", "_") for key in keys]

    def values(point: NumberDataPoint | HistogramDataPoint) -> list[str]:
        return [str((point.attributes or {}).get(key, "")) for key in keys]

    match metric.data:
        case Histogram():
            histogram = HistogramMetricFamily(name, help_text, labels=labels, unit=unit)
            for bucketed in metric.data.data_points:
                histogram.add_metric(values(bucketed), _buckets(bucketed), bucketed.sum)
            return histogram
        case Sum(is_monotonic=True):
            counter = CounterMetricFamily(name, help_text, labels=labels, unit=unit)
            for number in metric.data.data_points:
                counter.add_metric(values(number), number.value)
            return counter
        case Sum() | Gauge():
            gauge = GaugeMetricFamily(name, help_text, labels=labels, unit=unit)
            for number in metric.data.data_points:
                gauge.add_metric(values(number), number.value)
            return gauge
        case other:
            raise TypeError(f"{metric.name}: no Prometheus form for {type(other).__name__}")


# A bucket's upper bound, the count up to it and, where there is one, an exemplar.
_Bucket = tuple[str, float] | tuple[str, float, Exemplar]


def _buckets(point: HistogramDataPoint) -> list[_Bucket]:
    buckets: list[_Bucket] = []
    below = -math.inf
    bounds = [*point.explicit_bounds, math.inf]
    for bound, count in zip(bounds, accumulate(point.bucket_counts), strict=True):
        label = "+Inf" if bound == math.inf else str(bound)
        exemplar = _exemplar(point, below, bound)
        buckets.append((label, count, exemplar) if exemplar else (label, count))
        below = bound
    return buckets


def _exemplar(point: HistogramDataPoint, above: float, up_to: float) -> Exemplar | None:
    for found in point.exemplars:
        if found.trace_id and above < found.value <= up_to:
            return Exemplar(
                {
                    "trace_id": trace.format_trace_id(found.trace_id),
                    "span_id": trace.format_span_id(found.span_id or 0),
                },
                found.value,
                found.time_unix_nano / 1e9,
            )
    return None
