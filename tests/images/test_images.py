"""Each image: what is in it, that it runs confined, and that together they answer a question."""

import json

import grpc
import httpx
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from images.build import BUDGETS, size
from tests.images.conftest import BASE_LABEL, SERVICES, docker, image, wait_until

GRPC_SERVICES = [name for name in SERVICES if name != "gateway"]
POLICY = "# Ownership\n\nA UBO holding more than 25% equity must submit a notarized affidavit.\n"
QUESTION = "What must a UBO holding more than 25% equity submit?"


def labels(service):
    return json.loads(docker("inspect", image(service)))[0]["Config"]["Labels"]


@pytest.mark.parametrize("service", BUDGETS)
def test_an_image_adds_no_more_to_its_base_than_its_budget(containers, service):
    base = labels(service)[BASE_LABEL]
    assert size(image(service)) - size(base) <= BUDGETS[service]


@pytest.mark.parametrize("service", BUDGETS)
def test_a_container_is_no_root_and_can_write_nothing_but_its_scratch(containers, service):
    assert containers.inside(service, "id", "-u").stdout.strip() == "12345"
    assert containers.inside(service, "touch", "/opt/verity/x").returncode
    assert containers.inside(service, "touch", "/x").returncode
    assert containers.inside(service, "touch", "/tmp/x").returncode == 0


@pytest.mark.parametrize("service", BUDGETS)
def test_an_image_has_neither_a_compiler_nor_pip(containers, service):
    for tool in ("pip", "pip3", "gcc", "cc", "make", "ld"):
        assert containers.inside(service, "which", tool).returncode, tool
    for module in ("pip", "ensurepip"):
        assert containers.inside(service, "python3", "-m", module, "--version").returncode
        assert containers.inside(service, "/usr/bin/env", "-i", "python3", "-m", module).returncode


@pytest.mark.parametrize("service", SERVICES)
def test_an_image_has_no_other_services_code(containers, service):
    code = containers.inside(service, "python", "-c", "import services; print(*services.__path__)")
    there = containers.inside(service, "ls", code.stdout.strip()).stdout.split()
    assert {"chassis", service} == set(there) - {"__init__.py", "__pycache__"}


@pytest.mark.parametrize("service", BUDGETS)
def test_an_image_says_what_is_in_it_and_carries_no_torch(containers, service):
    where = labels(service)["verity.sbom"]
    bill = json.loads(containers.inside(service, "cat", where).stdout)
    names = {one["name"] for one in bill["components"]}
    assert bill["bomFormat"] == "CycloneDX"
    assert {"grpcio", "verity"} <= names
    assert not names & {"torch", "triton", "pytest", "pip"}
    assert all(one["purl"].startswith("pkg:pypi/") and one["version"] for one in bill["components"])


@pytest.mark.parametrize("service", BUDGETS)
def test_an_image_asks_no_model_hub(containers, service):
    environment = containers.inside(service, "env").stdout
    assert "HF_HUB_OFFLINE=1" in environment
    assert "TRANSFORMERS_OFFLINE=1" in environment


@pytest.mark.parametrize("service", GRPC_SERVICES)
def test_a_service_passes_its_health_probes(containers, service):
    with grpc.insecure_channel(containers.address(service, 50051)) as channel:
        check = health_pb2_grpc.HealthStub(channel).Check
        for name in ("liveness", "readiness"):
            request = health_pb2.HealthCheckRequest(service=name)
            wait_until(lambda asked=request: serving(check, asked))


def serving(check, request):
    try:
        reply = check(request, timeout=5, wait_for_ready=True)
    except grpc.RpcError:
        return False
    return reply.status == health_pb2.HealthCheckResponse.SERVING


@pytest.fixture(scope="module")
def gateway(containers):
    address = f"http://{containers.address('gateway', 8000)}"
    with httpx.Client(base_url=address, trust_env=False, timeout=60) as client:
        wait_until(lambda: ready(client))
        yield client


def ready(client):
    try:
        return client.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False


def test_the_containers_take_a_document_in_and_answer_from_it(gateway):
    sent = gateway.post(
        "/v1/documents",
        files={"file": ("policy.md", POLICY.encode())},
        headers={"accept": "text/event-stream"},
    )
    assert "result" in sent.text, sent.text
    asked = {"query": QUESTION, "conversation_id": "of-containers"}
    said = gateway.post("/grounded_query", json=asked).json()
    assert said["status"] == "ANSWERED"
    assert "notarized affidavit" in said["answer"]
    (kept,) = gateway.get("/v1/conversations/of-containers/answers").json()["answers"]
    assert kept["trace_id"] == said["trace_id"]


def test_the_gateway_serves_the_page(gateway):
    assert '<div id="root"' in gateway.get("/").text


def test_tesseract_reads_in_the_retrieval_image(containers):
    assert "eng" in containers.inside("retrieval", "tesseract", "--list-langs").stdout


def verity(containers, *arguments):
    """What one command of `verity` printed, and its exit code."""
    done = containers.inside("cli", "verity", *arguments, "--json")
    return json.loads(done.stdout), done.returncode


def test_the_command_knows_every_service(containers):
    told, code = verity(containers, "config", "--effective")
    assert code == 0
    assert not [name for name in SERVICES if told["services"][name]["not_installed"]]


def test_the_command_takes_a_document_in_asks_about_it_and_checks_a_text(containers, gateway):
    write = 'printf %s "$1" | tee /tmp/text.md >/tmp/policy.md'
    containers.inside("cli", "sh", "-c", write, "sh", POLICY)
    _, taken = verity(containers, "ingest", "/tmp/policy.md")
    said, _ = verity(containers, "ask", QUESTION)
    _, checked = verity(containers, "check", "--answer=/tmp/text.md", "--source=/tmp/policy.md")
    assert (taken, said["status"], checked) == (0, "ANSWERED", 0)


def test_the_commands_doctor_finds_every_service_and_a_tesseract_of_its_own(containers, gateway):
    seen, _ = verity(containers, "doctor", "--gateway", "gateway:8000")
    fine = {finding["check"] for finding in seen["findings"] if finding["level"] == "ok"}
    assert {*SERVICES, "versions", "redis version", "ocr"} <= fine


@pytest.mark.parametrize("service", SERVICES)
def test_a_container_that_is_asked_to_stop_ends_well(containers, gateway, service):
    docker("stop", "--time", "30", containers.ids[service])
    state = json.loads(docker("inspect", containers.ids[service]))[0]["State"]
    assert (state["ExitCode"], state["OOMKilled"]) == (0, False)
