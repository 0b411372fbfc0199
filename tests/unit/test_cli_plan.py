"""Which processes a local system has, where they listen, and what happens when a port is taken."""

import socket

import pytest

from cli import plan, redis_server
from cli.errors import USAGE, CliError


def free_row(count: int) -> int:
    """The first of a row of ports that nobody listens on."""
    for first in range(20000, 30000, count):
        try:
            for port in range(first, first + count):
                socket.create_server((plan.HOST, port)).close()
        except OSError:
            continue
        return first
    raise AssertionError("no free ports")


def test_the_agents_take_the_ports_after_the_orchestrators():
    first = free_row(4)
    chosen = plan.ports(first, 0, 0)
    assert chosen.grpc == {
        "orchestrator": first,
        "retrieval": first + 1,
        "generation": first + 2,
        "verification": first + 3,
    }


def test_zero_takes_free_ports_that_all_differ():
    chosen = plan.ports(0, 0, 0)
    every = [*chosen.grpc.values(), *chosen.metrics.values(), chosen.redis]
    every.append(int(chosen.gateway.rpartition(":")[2]))
    assert len(set(every)) == 11
    assert all(every)


def test_a_gateway_whose_port_is_taken_moves_to_a_free_one():
    with socket.create_server((plan.HOST, 0)) as taken:
        port = taken.getsockname()[1]
        moved = plan.ports(0, 0, 0, f"{plan.HOST}:{port}").gateway
    assert moved.startswith(f"{plan.HOST}:")
    assert moved != f"{plan.HOST}:{port}"


def test_a_gateway_gives_way_to_a_service_that_is_told_the_same_port():
    first = free_row(4)
    chosen = plan.ports(first, 0, 0, f"{plan.HOST}:{first + 1}")
    assert chosen.grpc["retrieval"] == first + 1
    assert chosen.gateway != f"{plan.HOST}:{first + 1}"


def test_a_gateway_on_no_address_of_this_machine_is_refused():
    with pytest.raises(CliError, match="for the gateway cannot be used") as failure:
        plan.ports(0, 0, 0, "192.0.2.1:8000")
    assert "--gateway-bind" in failure.value.hint


def test_on_loopback_the_gateway_answers_to_no_name_but_localhost(tmp_path):
    parts = plan.parts(plan.ports(0, 0, 0), tmp_path, "extractive")
    told = parts[0].spec.environment
    assert told["VERITY_ALLOWED_HOSTS"] == "localhost,127.0.0.1,::1"
    assert told["VERITY_ORCHESTRATOR_TARGET"] == parts[1].address
    assert told["VERITY_GATEWAY_BIND"] == parts[0].address


def test_a_taken_port_is_named_with_its_process_and_the_way_out():
    first = free_row(4)
    with socket.create_server((plan.HOST, first + 2)), pytest.raises(CliError) as failure:
        plan.ports(first, 0, 0)
    line = failure.value.line().plain
    assert f"Port {first + 2} for generation cannot be used: Address already in use." in line
    assert "--port" in line


def test_a_taken_redis_port_names_its_own_option():
    with socket.create_server((plan.HOST, 0)) as taken, pytest.raises(CliError) as failure:
        plan.ports(0, taken.getsockname()[1], 0)
    assert "--redis-port" in failure.value.hint


def test_two_processes_on_one_port_are_refused():
    first = free_row(4)
    with pytest.raises(CliError, match="both retrieval and redis") as failure:
        plan.ports(first, first + 1, 0)
    assert failure.value.exit_code == USAGE


def test_a_port_past_the_last_one_is_refused():
    with pytest.raises(CliError, match="65536 for generation is past the last"):
        plan.ports(65534, 0, 0)


def test_each_service_is_told_where_it_listens_and_whom_it_calls(tmp_path):
    chosen = plan.ports(0, 0, 0)
    parts = {part.spec.name: part for part in plan.parts(chosen, tmp_path, "extractive")}
    assert list(parts) == [
        "gateway", "orchestrator", "retrieval", "generation", "verification", "redis",
    ]  # fmt: skip
    told = parts["orchestrator"].spec.environment
    assert told["VERITY_BIND"] == parts["orchestrator"].address
    assert told["VERITY_RETRIEVAL_TARGET"] == parts["retrieval"].address
    assert told["VERITY_GENERATION_TARGET"] == parts["generation"].address
    assert told["VERITY_VERIFICATION_TARGET"] == parts["verification"].address
    assert told["VERITY_REDIS_URL"] == f"redis://{parts['redis'].address}/0"
    assert told["VERITY_METRICS_BIND"] == parts["orchestrator"].metrics
    assert parts["retrieval"].spec.environment["VERITY_DATA_DIR"] == str(tmp_path / "retrieval")


def test_callers_are_drained_before_what_they_call(tmp_path):
    parts = plan.parts(plan.ports(0, 0, 0), tmp_path, "extractive")
    order = {part.spec.name: part.spec.stop_order for part in parts}
    assert (
        order["gateway"]
        < order["orchestrator"]
        < order["retrieval"]
        == order["verification"]
        < order["redis"]
    )


def test_redis_keeps_what_it_is_told_on_loopback_only(tmp_path):
    command = redis_server.command("redis-server", 6379, tmp_path)
    given = dict(zip(command[1::2], command[2::2], strict=True))
    assert given["--bind"] == "127.0.0.1"
    assert given["--appendonly"] == "yes"
    assert given["--maxmemory-policy"] == "noeviction"
    assert given["--dir"] == str(tmp_path)


def test_a_redis_on_path_is_preferred(tmp_path, monkeypatch):
    own = tmp_path / "redis-server"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert redis_server.binary() == str(own)


def test_without_one_on_path_the_wheel_has_one(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert redis_server.binary().endswith("valkey-server")
