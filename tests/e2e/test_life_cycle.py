"""Processes that end, are killed and come back, while they are being called."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import grpc
import psutil
import pytest
from verity.v1 import core_pb2 as core
from verity.v1 import generation_service_pb2 as generation
from verity.v1 import generation_service_pb2_grpc as generation_rpc
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import grounding_service_pb2_grpc as grounding_rpc
from verity.v1 import retrieval_service_pb2 as retrieval
from verity.v1 import retrieval_service_pb2_grpc as retrieval_rpc
from verity.v1 import verification_service_pb2 as verification
from verity.v1 import verification_service_pb2_grpc as verification_rpc

from tests.e2e.conftest import ROOT, running, surroundings

AGENTS = ("retrieval", "generation", "verification")
CALLS = 20
QUESTION = "What must a UBO holding more than 25% equity submit?"
# Long enough that twenty of them are still at work when the signal comes.
TEXT = "A corporate entity must submit a notarized proof of funds within 30 days. " * 200
PASSAGE = core.Passage(id="p1", text=TEXT, page_number=1)


def ask(channel):
    request = grounding.AskRequest(question=QUESTION)
    return grounding_rpc.GroundingServiceStub(channel).Ask(request, timeout=60)


def retrieve(channel):
    request = retrieval.RetrieveRequest(query=QUESTION)
    return retrieval_rpc.RetrievalServiceStub(channel).Retrieve(request, timeout=60)


def generate(channel):
    request = generation.GenerateRequest(question=QUESTION, passages=[PASSAGE])
    return generation_rpc.GenerationServiceStub(channel).Generate(request, timeout=60)


def verify(channel):
    quote = core.DraftCitation(passage_id="p1", quote=TEXT[:500])
    statement = core.DraftStatement(text=TEXT[:500], citations=[quote])
    request = verification.VerifyRequest(statements=[statement] * 5, passages=[PASSAGE])
    return verification_rpc.VerificationServiceStub(channel).Verify(request, timeout=60)


@contextlib.contextmanager
def served(service, system, data_dir, **more):
    """A process that nobody restarts, beside the others of the system; and its address."""
    environ = surroundings(
        system.receiver,
        VERITY_BIND="127.0.0.1:0",
        VERITY_DATA_DIR=str(data_dir),
        VERITY_REDIS_URL=f"redis://{system.address('redis')}/0",
        **{f"VERITY_{agent.upper()}_TARGET": system.address(agent) for agent in AGENTS},
    )
    # Not a pipe: one that nobody reads would stop the process when it is full.
    log = data_dir / f"{service}.jsonl"
    with log.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", f"services.{service}"],
            cwd=ROOT,
            env={**environ, **more},
            stderr=stderr,
        )
    try:
        wait_until(lambda: "ready" in events(log))
        yield process, events(log)["listening"]["address"]
    finally:
        process.kill()
        process.wait()


def events(log):
    return {(entry := json.loads(line))["event"]: entry for line in log.read_text().splitlines()}


@pytest.mark.parametrize(
    ("service", "call"),
    [
        ("orchestrator", ask),
        ("retrieval", retrieve),
        ("generation", generate),
        ("verification", verify),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_service_that_is_asked_to_stop_finishes_the_calls_in_flight(
    system, tmp_path, service, call
):
    with (
        served(service, system, tmp_path) as (process, address),
        grpc.insecure_channel(address) as channel,
        ThreadPoolExecutor(CALLS) as pool,
    ):
        calls = [pool.submit(call, channel) for _ in range(CALLS)]
        wait_until(lambda: any(one.done() for one in calls))
        process.send_signal(signal.SIGTERM)

        assert [error for one in calls if (error := one.exception())] == []
        assert process.wait(30) == 0


@pytest.mark.parametrize("service", AGENTS)
def test_a_killed_service_is_unavailable_to_callers_at_once_and_served_when_it_is_back(
    system, tmp_path, service
):
    with contextlib.ExitStack() as alive:
        agent, address = alive.enter_context(served(service, system, tmp_path))
        target = {f"VERITY_{service.upper()}_TARGET": address}
        _, front = alive.enter_context(served("orchestrator", system, tmp_path, **target))
        channel = alive.enter_context(grpc.insecure_channel(front))
        ask(channel)

        agent.kill()
        with pytest.raises(grpc.RpcError) as refused:
            ask(channel)
        alive.enter_context(served(service, system, tmp_path, VERITY_BIND=address))

        assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
        wait_until(lambda: answers(channel))


def answers(channel):
    try:
        ask(channel)
    except grpc.RpcError:
        return False
    return True


def test_a_killed_process_is_started_again_and_knows_what_it_knew(tmp_path_factory, receiver):
    with running(tmp_path_factory.mktemp("killed"), receiver) as system:
        ingest_policy(system)
        before = system.run("documents", "list")[1]
        os.kill(system.view["services"]["retrieval"]["pid"], signal.SIGKILL)

        wait_until(lambda: system.run("ask", QUESTION)[0] == 0)

        assert system.run("ask", QUESTION)[1]["status"] == "ANSWERED"
        assert system.run("documents", "list")[1] == before


def test_without_redis_answers_still_come_and_say_so(tmp_path_factory, receiver):
    with running(tmp_path_factory.mktemp("redis"), receiver) as system:
        ingest_policy(system)
        first = system.run("ask", QUESTION, "--conversation", "kept")[1]
        redis = psutil.Process(system.view["services"]["redis"]["pid"])
        redis.suspend()
        degraded = system.run("ask", QUESTION, "--conversation", "kept")[1]
        code, refused = system.run("answers", "show", first["answer_id"])
        redis.resume()

        assert degraded["status"] == "ANSWERED"
        assert degraded["memory_degraded"] is True
        assert degraded["historical_quality"] is None
        assert code == 1
        assert refused["error"]["code"] == "UNAVAILABLE"
        wait_until(lambda: system.run("answers", "show", first["answer_id"])[0] == 0, seconds=60)
        assert system.run("answers", "show", first["answer_id"])[1] == first


def ingest_policy(system):
    path = system.data_dir / "policy.md"
    path.write_text("# Ownership\n\nA UBO holding more than 25% equity must submit an affidavit.\n")
    assert system.run("ingest", str(path))[0] == 0


def test_stopping_the_system_leaves_no_process_behind(tmp_path_factory, receiver):
    with running(tmp_path_factory.mktemp("stop"), receiver) as system:
        children = [psutil.Process(one["pid"]) for one in system.view["services"].values()]
        assert len(children) == 6  # Five services and the store of the memory.
    assert not [child for child in children if child.is_running()]


def test_every_process_tells_its_memory_and_serves_soon(system):
    for one in system.view["services"].values():
        assert one["rss_bytes"] > 0
    # The limit is the issue's, for a warm disk cache; a cold one may take what it takes.
    assert system.view["seconds_to_serving"] < 60


def wait_until(holds, *, seconds=30):
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.005)
