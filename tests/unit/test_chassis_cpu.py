"""Threads are counted by what the container may use, and work keeps its context in them."""

import os
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import pytest

from services.chassis import cpu, telemetry

CPUS = 8


@pytest.fixture(autouse=True)
def _a_host_with_eight_cpus(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(CPUS)))


def threads(tmp_path, files, own=""):
    listing = tmp_path / "self"
    listing.write_text(own)
    for name, text in files.items():
        path = tmp_path / "cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return cpu.threads(tmp_path / "cgroup", listing)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, CPUS),
        ({"cpu.max": "max 100000\n"}, CPUS),
        ({"cpu.max": "200000 100000\n"}, 2),
        ({"cpu.max": "250000 100000\n"}, 2),
        ({"cpu.max": "50000 100000\n"}, 1),
        ({"cpu.max": "9900000 100000\n"}, CPUS),
        ({"cpu.max": "nonsense\n"}, CPUS),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, CPUS),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ({"cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 1),
        ({"cpu/cpu.cfs_quota_us": "50000\n"}, CPUS),
    ],
)
def test_the_quota_of_either_version_caps_the_threads(tmp_path, files, expected):
    assert threads(tmp_path, files) == expected


def test_the_smallest_quota_of_all_groups_above_counts(tmp_path):
    files = {
        "pods/cpu.max": "300000 100000",
        "pods/one/cpu.max": "max 100000",
        "pods/other/cpu.max": "100000 100000",
    }
    assert threads(tmp_path, files, own="0::/pods/one\n") == 3


def test_the_groups_of_version_1_are_found_by_their_controller(tmp_path):
    group = "cpu,cpuacct/pod/"
    files = {group + "cpu.cfs_quota_us": "200000", group + "cpu.cfs_period_us": "100000"}
    assert threads(tmp_path, files, own="5:memory:/pod\n4:cpu,cpuacct:/pod\n") == 2


async def test_work_in_a_thread_belongs_to_the_trace_and_context_it_came_from(observed):
    tenant = ContextVar("tenant", default="none")
    tenant.set("one")
    with ThreadPoolExecutor(1) as executor, telemetry.span("request"):
        seen = await cpu.in_thread(executor, lambda: (telemetry.trace_id(), tenant.get()))
        assert seen == (telemetry.trace_id(), "one")
