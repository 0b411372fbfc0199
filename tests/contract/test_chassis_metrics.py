"""What an operator can see of a process from outside: by scraping, and at a collector."""

import asyncio
import threading
import time
import urllib.request
from concurrent import futures

import grpc
import pytest
from observed import eventually
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as otlp
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2_grpc as otlp_grpc
from probe import NAME, probing
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from verity.v1 import generation_service_pb2 as pb

from services.chassis import telemetry
from services.chassis.errors import NotFound
from services.chassis.metrics import QueueMetrics
from services.chassis.settings import Settings

OPEN_METRICS = "application/openmetrics-text; version=1.0.0"
# Everything a metric may be labelled with, here and in all services: a few values each.
LABELS = {
    telemetry.RPC_SYSTEM,
    telemetry.RPC_METHOD,
    telemetry.RPC_STATUS,
    telemetry.ERROR_TYPE,
    telemetry.QUEUE,
    telemetry.LANE,
}


async def traced(request, context):
    return pb.GenerateResponse(generator=telemetry.trace_id())


async def not_found(request, context):
    raise NotFound("No such document.")


async def scrape(address, accept=OPEN_METRICS):
    """Every sample at the scrape port, by name."""
    request = urllib.request.Request(f"http://{address}/metrics", headers={"Accept": accept})
    with await asyncio.to_thread(urllib.request.urlopen, request, timeout=5) as reply:
        text = reply.read().decode()
    if accept != OPEN_METRICS:
        return text
    samples = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            samples.setdefault(sample.name, []).append(sample)
    return samples


@pytest.fixture
def scraped():
    """The address of a scrape port."""
    with telemetry.configured("test", Settings(metrics_bind="127.0.0.1:0")) as address:
        yield address


async def test_rpc_durations_can_be_scraped_with_how_each_ended(scraped):
    async with probing(not_found) as call:
        await call.failure("Unary")
    for side in ("server", "client"):
        samples = await scrape(scraped)
        [count] = samples[f"rpc_{side}_call_duration_seconds_count"]
        assert count.value == 1
        assert count.labels["rpc_method"] == f"{NAME}/Unary"
        assert count.labels["rpc_response_status_code"] == "NOT_FOUND"
        buckets = samples[f"rpc_{side}_call_duration_seconds_bucket"]
        assert [float(bucket.labels["le"]) for bucket in buckets] == [
            *telemetry.SECONDS,
            float("inf"),
        ]
        assert buckets[-1].value == 1


async def test_a_bucket_names_a_trace_that_filled_it(scraped):
    async with probing(traced) as call:
        [reply] = await call("Unary")
    samples = await scrape(scraped)
    for side in ("server", "client"):
        buckets = samples[f"rpc_{side}_call_duration_seconds_bucket"]
        exemplars = [bucket.exemplar for bucket in buckets if bucket.exemplar]
        assert [exemplar.labels["trace_id"] for exemplar in exemplars] == [reply.generator]


async def test_an_old_prometheus_gets_the_plain_text_format(scraped):
    async with probing(traced) as call:
        await call("Unary")
    text = await scrape(scraped, accept="text/plain")
    assert f'rpc_server_call_duration_seconds_count{{rpc_method="{NAME}/Unary"' in text
    assert "trace_id" not in text


async def test_calls_in_flight_are_counted_up_and_down_again(observed):
    release = asyncio.Event()

    async def act(request, context):
        await release.wait()
        return pb.GenerateResponse()

    def in_flight():
        return sum(point.value for point in observed.points("verity.server.in_flight"))

    async with probing(act) as call:
        calls = [asyncio.create_task(call("Unary")) for _ in range(3)]
        assert await eventually(lambda: in_flight() == 3)
        calls.pop().cancel()
        assert await eventually(lambda: in_flight() == 2)
        release.set()
        await asyncio.gather(*calls)
    assert in_flight() == 0


async def test_a_blocked_event_loop_shows(observed):
    async def blocking(request, context):
        time.sleep(0.5)  # noqa: ASYNC251 - the fault that is to be seen
        return pb.GenerateResponse()

    def longest():
        return max((point.max for point in observed.points("verity.event_loop.lag")), default=0)

    async with probing(blocking) as call:
        await eventually(longest)
        await call("Unary")
        assert await eventually(lambda: longest() > 0.2)


def test_a_queue_tells_its_depth_and_how_long_items_waited(observed):
    queue = QueueMetrics("embedding")
    queue.entered("query")
    queue.entered("query")
    queue.entered("ingest")
    queue.left(0.2, "query")
    depths = {
        point.attributes[telemetry.LANE]: point.value
        for point in observed.points("verity.queue.depth")
    }
    assert depths == {"query": 1, "ingest": 1}
    [wait] = observed.points("verity.queue.wait")
    assert (wait.count, wait.sum) == (1, 0.2)


async def test_no_label_is_outside_the_list(observed):
    QueueMetrics("embedding").entered("query")
    async with probing(not_found) as call:
        await call.failure("Unary", "what-the-user-asked")
    points = [
        point
        for resource in observed.metric_reader.get_metrics_data().resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in metric.data.data_points
    ]
    assert points
    assert {label for point in points for label in point.attributes} <= LABELS
    assert "what-the-user-asked" not in str(points)


class Collector(otlp_grpc.MetricsServiceServicer):
    def __init__(self):
        self.names = set()

    def Export(self, request, context):
        self.names |= {
            metric.name
            for resource in request.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }
        return otlp.ExportMetricsServiceResponse()


async def test_metrics_reach_a_collector_at_the_latest_when_the_process_ends():
    collector = Collector()
    server = grpc.server(futures.ThreadPoolExecutor(1))
    otlp_grpc.add_MetricsServiceServicer_to_server(collector, server)
    endpoint = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    with telemetry.configured("test", Settings(otlp_metrics_endpoint=endpoint)):
        async with probing(traced) as call:
            await call("Unary")
    server.stop(None).wait()
    assert {"rpc.server.call.duration", "rpc.client.call.duration"} <= collector.names


def test_what_is_not_turned_on_costs_no_port_and_no_thread():
    before = set(threading.enumerate())
    with telemetry.configured("test", Settings()) as address:
        assert address == ""
        assert set(threading.enumerate()) <= before
