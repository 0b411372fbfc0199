"""Keeps the spans and metrics of a test, and waits for those that end a moment after their call."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

T = TypeVar("T")


async def eventually(probe: Callable[[], T], *, seconds: float = 5) -> T:
    """The first true value of `probe`, or its last one when none comes in time."""
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while not (value := probe()) and loop.time() < until:  # noqa: ASYNC110 - no event says it
        await asyncio.sleep(0.01)
    return value


class Observed:
    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.span_processor = SimpleSpanProcessor(self._exporter)
        self.metric_reader = InMemoryMetricReader()

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self._exporter.get_finished_spans())

    async def ended(self, count: int, kind: SpanKind) -> list[ReadableSpan]:
        """The spans of a kind, in the order in which they ended, once there are `count`."""

        def of_kind() -> list[ReadableSpan]:
            return [span for span in self.spans if span.kind is kind]

        await eventually(lambda: len(of_kind()) >= count)
        spans = of_kind()
        assert len(spans) == count, [span.name for span in self.spans]
        return spans

    def points(self, metric: str) -> list:
        """The data points of a metric; none when it was never recorded."""
        data = self.metric_reader.get_metrics_data()
        return [
            point
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for found in scope.metrics
            if found.name == metric
            for point in found.data.data_points
        ]
