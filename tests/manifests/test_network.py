"""The policies allow the edges of the architecture, all of them and no others."""

import re
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from tests.manifests.network import Network, Outside
from tests.manifests.rendered import (
    SERVICES,
    Combination,
    of_kind,
    render,
    services,
    settings,
    workloads,
)

ROOT = Path(__file__).parents[2]
TRACE = yaml.safe_load((ROOT / "tests/cases/trace_edges.yaml").read_text())
GRPC = 50051
DNS = frozenset({(53, "UDP"), (53, "TCP")})


def verity(*names):
    return [f"verity-{name}" for name in names]


def asked_by(service):
    """The services that a service's settings name."""
    fields = import_module(f"services.{service}.__main__").Settings.model_fields
    return {name.removesuffix("_target") for name in fields if name.endswith("_target")}


def expected(components):
    edges = {
        (f"verity-{one}", f"verity-{other}", GRPC) for one in SERVICES for other in asked_by(one)
    }
    edges |= {
        ("verity-orchestrator", "verity-redis", 6379),
        ("verity-retrieval", "verity-qdrant", 6333),
        ("verity-retrieval", "verity-qdrant", 6334),
        ("verity-snapshots", "verity-qdrant", 6333),
    }
    if "tracing" in components:
        edges |= {(name, "verity-collector", 4317) for name in verity(*SERVICES)}
        edges |= {
            ("verity-collector", "verity-sampler", 4317),
            ("verity-sampler", "verity-jaeger", 4317),
        }
    if "operations" in components:
        edges |= {("verity-cli", f"verity-{name}", GRPC) for name in SERVICES if name != "gateway"}
        edges |= {("verity-cli", "verity-gateway", 8000), ("verity-cli", "verity-qdrant", 6334)}
        for one in ("verity-cli", "verity-backup"):
            edges |= {(one, "verity-redis", 6379), (one, "verity-qdrant", 6333)}
    if "qdrant-cluster" in components:
        edges.add(("verity-qdrant", "verity-qdrant", 6335))
    return edges


def test_the_trace_of_a_question_and_the_settings_name_the_same_edges():
    traced = {(edge["caller"], edge["callee"]) for edge in TRACE["calls"]}
    told = {("orchestrator", name) for name in asked_by("orchestrator")}
    assert traced - {("cli", "orchestrator")} == told


def test_pods_talk_along_the_edges_of_the_architecture_and_no_others(combination, documents):
    assert Network(documents).edges() == expected(combination.components)


def test_no_edge_is_open_at_one_end_alone(documents):
    assert Network(documents).half_open() == set()


def test_what_no_policy_allows_is_denied_for_every_pod(documents):
    network = Network(documents)
    assert all(network.isolated(one["metadata"]["name"]) for one in workloads(documents))


def test_outside_the_namespace_there_are_names_the_edge_the_model_and_prometheus(
    combination, documents
):
    label = "kubernetes.io/metadata.name="
    wanted = {
        Outside("to", w["metadata"]["name"], f"{label}kube-system", DNS)
        for w in workloads(documents)
    }
    grpc = frozenset({(GRPC, "TCP")})
    cidr = {"local": "192.0.2.0/24", "production": "198.51.100.0/24"}[combination.overlay]
    wanted |= {
        Outside("from", "verity-gateway", f"{label}ingress-nginx", frozenset({(8000, "TCP")})),
        Outside("from", "verity-orchestrator", "verity.dev/client=true", grpc),
        Outside("to", "verity-generation", cidr, frozenset({(443, "TCP")})),
    }
    if "monitoring" in combination.components:
        scraped = frozenset({(9464, "TCP")})
        wanted |= {Outside("from", n, f"{label}monitoring", scraped) for n in verity(*SERVICES)}
        wanted.add(
            Outside("from", "verity-qdrant", f"{label}monitoring", frozenset({(6333, "TCP")}))
        )
    if "operations" in combination.components:
        wanted.add(Outside("to", "verity-cli", "192.0.2.0/24", frozenset({(443, "TCP")})))
    if "grpc-route" in combination.components:
        wanted.add(Outside("from", "verity-orchestrator", f"{label}gateway-system", grpc))
    if "grpc-ingress" in combination.components:
        wanted.add(Outside("from", "verity-orchestrator", f"{label}ingress-nginx", grpc))
    assert Network(documents).outside() == wanted


def test_whatever_a_setting_names_may_be_reached(documents):
    edges = Network(documents).edges()
    for service, deployment in services(documents).items():
        text = " ".join(settings(documents, deployment).values())
        for target, port in re.findall(r"\b(verity-[a-z]+):(\d+)", text):
            if int(port) != 6333 or service == "retrieval":
                assert (f"verity-{service}", target, int(port)) in edges, (service, target)


@pytest.mark.parametrize("overlay", ["local", "production"])
def test_each_name_that_a_setting_or_a_configuration_calls_is_a_service(overlay):
    components = ("tracing", "monitoring", "mtls", "qdrant-cluster")
    documents = render(Combination(overlay, components))
    there = {one["metadata"]["name"] for one in of_kind(documents, "Service")}
    configured = [one["data"] for one in of_kind(documents, "ConfigMap")]
    text = "\n".join(value for data in configured for value in data.values())
    called = set(re.findall(r"(?:://|hostname: |endpoint: |\.)(verity-[a-z-]+?)(?=[:,.\s/])", text))
    # Pods of the cluster by their own names.
    assert {re.sub(r"-\d$", "", name) for name in called} <= there
