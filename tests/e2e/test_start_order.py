"""Processes that start before what they need: they live, say what is missing, and serve later."""

import socket
import subprocess
import sys

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from verity.v1 import retrieval_service_pb2 as retrieval
from verity.v1 import retrieval_service_pb2_grpc as retrieval_rpc

from tests.e2e.conftest import ROOT, surroundings
from tests.e2e.test_life_cycle import answers, events, served, wait_until

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def nobodys_address():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return f"127.0.0.1:{one.getsockname()[1]}"


def test_an_orchestrator_that_is_there_first_answers_once_the_others_are(system, tmp_path):
    address = nobodys_address()
    with (
        served("orchestrator", system, tmp_path, VERITY_VERIFICATION_TARGET=address) as (_, front),
        grpc.insecure_channel(front) as channel,
    ):
        assert not answers(channel)
        with served("verification", system, tmp_path, VERITY_BIND=address):
            wait_until(lambda: answers(channel))


def test_retrieval_without_its_qdrant_lives_is_not_ready_and_says_unavailable(system, tmp_path):
    log = tmp_path / "retrieval.jsonl"
    environ = surroundings(
        system.receiver,
        VERITY_BIND="127.0.0.1:0",
        VERITY_DATA_DIR=str(tmp_path),
        VERITY_QDRANT_URL=f"http://{nobodys_address()}",
    )
    with log.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "services.retrieval"], cwd=ROOT, env=environ, stderr=stderr
        )
    try:
        wait_until(lambda: "index_unavailable" in events(log), seconds=60)
        with grpc.insecure_channel(events(log)["listening"]["address"]) as channel:
            check = health_pb2_grpc.HealthStub(channel).Check
            said = {
                name: check(health_pb2.HealthCheckRequest(service=name), timeout=10).status
                for name in ("liveness", "readiness")
            }
            request = retrieval.RetrieveRequest(query="Who?")
            with pytest.raises(grpc.RpcError) as refused:
                retrieval_rpc.RetrievalServiceStub(channel).Retrieve(request, timeout=20)
        assert said == {"liveness": SERVING, "readiness": NOT_SERVING}
        assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
