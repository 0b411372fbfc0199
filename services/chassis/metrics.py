"""The measurements that more than one service takes in the same way."""

import asyncio
import time

from services.chassis import telemetry

LAG_INTERVAL_SECONDS = 0.25


class QueueMetrics:
    """How many wait in a queue and how long they waited.

    Args:
        name: The queue's name, one of a few; it becomes a label, as does each lane.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._depth = telemetry.meter().create_up_down_counter(
            "verity.queue.depth", unit="{item}", description="Items that wait in a queue."
        )
        self._wait = telemetry.meter().create_histogram(
            "verity.queue.wait", unit="s", description="How long items waited in a queue."
        )

    def entered(self, lane: str = "") -> None:
        """Something waits from now on."""
        self._depth.add(1, self._labels(lane))

    def left(self, waited_seconds: float, lane: str = "") -> None:
        """It waits no longer: it was taken, or dropped."""
        self._depth.add(-1, self._labels(lane))
        self._wait.record(waited_seconds, self._labels(lane))

    def _labels(self, lane: str) -> dict[str, str]:
        return {telemetry.QUEUE: self._name, telemetry.LANE: lane}


async def watch_event_loop() -> None:
    """Measures until cancelled how late the loop runs what is due, which is when it is blocked."""
    lag = telemetry.meter().create_histogram(
        "verity.event_loop.lag", unit="s", description="How late the event loop ran a timer."
    )
    while True:
        due = time.perf_counter() + LAG_INTERVAL_SECONDS
        await asyncio.sleep(LAG_INTERVAL_SECONDS)
        lag.record(max(0.0, time.perf_counter() - due))
