"""What a platform team wants of every workload, of every set of manifests."""

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from pydantic import SecretStr

from services.chassis import telemetry
from services.chassis.settings import variable
from tests.manifests.rendered import (
    ROOT,
    SERVICES,
    container,
    named,
    of_kind,
    services,
    settings,
    template,
    workloads,
)

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
SCRATCH = {"emptyDir", "configMap", "secret", "persistentVolumeClaim", "projected"}
# Seconds; what the README says of `verity up` is less.
START = 4


def pods(documents):
    return {one["metadata"]["name"]: template(one)["spec"] for one in workloads(documents)}


def bytes_of(quantity):
    number, unit = re.fullmatch(r"(\d+)(Mi|Gi)", quantity).groups()
    return int(number) * 2 ** {"Mi": 20, "Gi": 30}[unit]


def millis(quantity):
    return int(quantity[:-1]) if quantity.endswith("m") else int(quantity) * 1000


def defaults(service):
    fields = import_module(f"services.{service}.__main__").Settings.model_fields
    return {variable(name, f.validation_alias): f for name, f in fields.items()}


def number(documents, service, name):
    """A setting's value: as it is set, else its default."""
    said = settings(documents, services(documents)[service]).get(name)
    return float(defaults(service)[name].default if said is None else said)


def test_pods_fit_the_restricted_pod_security_standard(documents):
    namespace = named(documents, "Namespace", "verity")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    for name, pod in pods(documents).items():
        context = pod["securityContext"]
        assert context["runAsNonRoot"] is True, name
        assert context["runAsUser"] > 0, name
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert not {"hostNetwork", "hostPID", "hostIPC", "initContainers"} & set(pod), name
        for volume in pod["volumes"]:
            assert SCRATCH & set(volume), (name, volume)
        (one,) = pod["containers"]
        assert one["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }, name


def test_our_pods_run_as_the_images_user(documents):
    for deployment in services(documents).values():
        assert template(deployment)["spec"]["securityContext"]["runAsUser"] == 12345
    assert "USER 12345:12345" in (ROOT / "Dockerfile").read_text()


def test_no_pod_has_a_token_of_the_clusters_or_variables_of_its_services(documents):
    for name, pod in pods(documents).items():
        assert pod["automountServiceAccountToken"] is False, name
        assert pod["enableServiceLinks"] is False, name
    for account in of_kind(documents, "ServiceAccount"):
        assert account["automountServiceAccountToken"] is False
    for name in SERVICES:
        pod = template(services(documents)[name])["spec"]
        assert pod["serviceAccountName"] == f"verity-{name}"
        named(documents, "ServiceAccount", f"verity-{name}")


def test_every_image_has_a_version_or_a_digest(documents):
    for workload in workloads(documents):
        image = container(workload)["image"]
        assert re.search(r"(:[^:/@]*\d[^:/@]*|@sha256:[0-9a-f]{64})$", image), image
        assert not image.endswith(":latest")
        if "verity-" in image and "@" not in image:
            assert image.endswith(f":{VERSION}"), image


def test_qdrant_is_of_the_clients_minor_version(documents):
    image = container(named(documents, "StatefulSet", "verity-qdrant"))["image"]
    lock = (ROOT / "requirements.lock").read_text()
    client = re.search(r"^qdrant-client==(\d+\.\d+)\.", lock, re.MULTILINE)[1]
    assert f":v{client}." in image


def test_memory_is_asked_for_as_it_is_limited_and_cpu_is_asked_for(documents):
    for name, pod in pods(documents).items():
        resources = pod["containers"][0]["resources"]
        assert resources["requests"]["memory"] == resources["limits"]["memory"], name
        assert 0 < millis(resources["requests"]["cpu"]) <= millis(resources["limits"]["cpu"]), name


def test_thread_pools_are_sized_by_the_quota(documents):
    for deployment in services(documents).values():
        one = container(deployment)
        # A whole number, so that the quota and what is rounded from it are the same.
        assert millis(one["resources"]["limits"]["cpu"]) % 1000 == 0
        by_name = {item["name"]: item for item in one["env"]}
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            source = by_name[name]["valueFrom"]["resourceFieldRef"]
            assert source == {
                "containerName": one["name"],
                "resource": "limits.cpu",
                "divisor": "1",
            }


def test_retrieval_has_the_memory_that_its_readers_may_take(documents):
    limit = bytes_of(container(services(documents)["retrieval"])["resources"]["limits"]["memory"])
    readers = 2 * number(documents, "retrieval", "VERITY_PARSE_MEMORY_BYTES")
    assert limit >= readers + 512 * 2**20


def test_grpc_services_are_probed_natively_on_their_health_port(documents):
    for name, deployment in services(documents).items():
        one = container(deployment)
        if name == "gateway":
            continue
        ports = {port["name"]: port["containerPort"] for port in one["ports"]}
        bound = settings(documents, deployment)
        assert bound["VERITY_HEALTH_BIND"].endswith(f":{ports['health']}")
        assert bound["VERITY_BIND"].endswith(f":{ports['grpc']}")
        assert bound["VERITY_METRICS_BIND"].endswith(f":{ports['metrics']}")
        for probe, asked in (
            ("startup", "liveness"),
            ("liveness", "liveness"),
            ("readiness", "readiness"),
        ):
            found = one[f"{probe}Probe"]
            assert found["grpc"] == {"port": ports["health"], "service": asked}, (name, probe)


def test_the_gateway_is_alive_by_itself_and_ready_with_all_it_needs(documents):
    one = container(services(documents)["gateway"])
    found = {
        probe: one[f"{probe}Probe"]["httpGet"]["path"]
        for probe in ("startup", "liveness", "readiness")
    }
    assert found == {"startup": "/healthz", "liveness": "/healthz", "readiness": "/readyz"}
    bound = settings(documents, services(documents)["gateway"])
    assert bound["VERITY_GATEWAY_BIND"].endswith(":8000")
    assert {"name": "http", "containerPort": 8000} in one["ports"]


def test_everything_that_runs_on_has_all_three_probes(documents):
    for workload in of_kind(documents, "Deployment", "StatefulSet"):
        one = container(workload)
        assert {"startupProbe", "livenessProbe", "readinessProbe"} <= set(one)


def test_a_slow_start_is_no_crash(documents):
    for deployment in services(documents).values():
        probe = container(deployment)["startupProbe"]
        budget = probe["periodSeconds"] * probe["failureThreshold"]
        assert budget >= 3 * START * 10  # On a tenth of the CPU.
        assert deployment["spec"]["progressDeadlineSeconds"] > budget


@pytest.mark.parametrize(
    ("service", "longest"),
    [
        ("gateway", "VERITY_ASK_SECONDS"),
        ("orchestrator", "VERITY_ANSWER_SECONDS"),
        ("generation", "VERITY_MODEL_TOTAL_SECONDS"),
        ("verification", "VERITY_JUDGE_SECONDS"),
        ("retrieval", "VERITY_PARSE_SECONDS"),
    ],
)
def test_a_pod_has_the_time_that_its_calls_need_to_end(documents, service, longest):
    deployment = services(documents)[service]
    grace = number(documents, service, "VERITY_GRACE_SECONDS")
    assert grace >= number(documents, service, longest)
    pre_stop = container(deployment)["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert 5 <= pre_stop <= 15
    needed = (
        pre_stop
        + number(documents, service, "VERITY_DRAIN_SECONDS")
        + grace
        + telemetry.FLUSH_SECONDS
    )
    assert template(deployment)["spec"]["terminationGracePeriodSeconds"] >= needed + 5


def test_a_rollout_takes_no_pod_away_before_another_serves(documents):
    for deployment in services(documents).values():
        assert deployment["spec"]["strategy"]["rollingUpdate"] == {
            "maxSurge": 1,
            "maxUnavailable": 0,
        }


def scalers(documents):
    hpas = {
        one["spec"]["scaleTargetRef"]["name"]: one["spec"]["minReplicas"]
        for one in of_kind(documents, "HorizontalPodAutoscaler")
    }
    keda = {
        one["spec"]["scaleTargetRef"]["name"]: one["spec"]["minReplicaCount"]
        for one in of_kind(documents, "ScaledObject")
    }
    assert not hpas.keys() & keda.keys()
    return hpas | keda


def test_in_production_each_service_has_two_pods_at_least_apart_and_not_taken_at_once(
    combination, documents
):
    if combination.overlay != "production":
        assert not of_kind(documents, "HorizontalPodAutoscaler")
        return
    scaled = scalers(documents)
    budgets = {
        one["metadata"]["name"]: one["spec"] for one in of_kind(documents, "PodDisruptionBudget")
    }
    for service, deployment in services(documents).items():
        name = f"verity-{service}"
        assert scaled[name] >= 2
        assert "replicas" not in deployment["spec"]  # Or each apply would undo the autoscaler.
        assert budgets[name]["maxUnavailable"] == 1
        assert budgets[name]["selector"] == deployment["spec"]["selector"]
        spread = template(deployment)["spec"]["topologySpreadConstraints"]
        assert {one["topologyKey"] for one in spread} == {
            "kubernetes.io/hostname",
            "topology.kubernetes.io/zone",
        }
        for one in spread:
            assert one["whenUnsatisfiable"] == "ScheduleAnyway"
            assert one["labelSelector"] == deployment["spec"]["selector"]


def test_a_budget_never_forbids_to_drain_a_node(documents):
    for budget in of_kind(documents, "PodDisruptionBudget"):
        selector = budget["spec"]["selector"]["matchLabels"]
        (target,) = [
            one
            for one in workloads(documents)
            if selector.items() <= template(one)["metadata"]["labels"].items()
        ]
        counts = scalers(documents)
        assert counts.get(target["metadata"]["name"], target["spec"].get("replicas", 1)) >= 2


def test_autoscalers_go_by_cpu_and_with_prometheus_by_calls_in_flight(combination, documents):
    for one in of_kind(documents, "HorizontalPodAutoscaler"):
        metrics = {m["type"]: m for m in one["spec"]["metrics"]}
        assert metrics["Resource"]["resource"]["name"] == "cpu"
        if "monitoring" in combination.components:
            assert metrics["Pods"]["pods"]["metric"] == {"name": "verity_server_in_flight"}
        else:
            assert set(metrics) == {"Resource"}


def test_a_port_of_grpc_says_so_and_is_behind_a_headless_service(documents):
    for one in of_kind(documents, "Service"):
        for port in one["spec"]["ports"]:
            if port["name"] in {"grpc", "otlp", "peers"}:
                assert port["appProtocol"] == "kubernetes.io/h2c", one["metadata"]["name"]
                assert one["spec"]["clusterIP"] == "None"


def test_clients_of_grpc_resolve_every_pod(documents):
    for deployment in services(documents).values():
        for name, value in settings(documents, deployment).items():
            if name.endswith("_TARGET"):
                assert re.fullmatch(r"dns:///verity-[a-z]+:50051", value), value


def test_every_service_selects_pods_that_have_its_ports(documents):
    for one in of_kind(documents, "Service"):
        selector = one["spec"]["selector"]
        (target,) = [
            w
            for w in workloads(documents)
            if selector.items() <= template(w)["metadata"]["labels"].items()
        ]
        ports = {port["name"] for port in container(target)["ports"]}
        assert {port["targetPort"] for port in one["spec"]["ports"]} <= ports


def secret(field):
    return field.annotation is SecretStr


def test_secrets_are_files_and_each_service_sees_its_own_alone(documents):
    for workload in workloads(documents):
        for item in container(workload).get("env", []):
            assert "secretKeyRef" not in item.get("valueFrom", {})
    for service, deployment in services(documents).items():
        known = defaults(service)
        wanted = {name for name, field in known.items() if secret(field)}
        wanted |= {"VERITY_REDIS_URL"} & set(known)
        volumes = {v["name"]: v for v in template(deployment)["spec"]["volumes"]}
        items = volumes.get("secrets", {}).get("secret", {}).get("items", [])
        assert {item["key"] for item in items} == wanted, service
        where = settings(documents, deployment)["VERITY_SECRETS_DIR"]
        mounted = {m["mountPath"] for m in container(deployment)["volumeMounts"]}
        assert (where in mounted) == bool(wanted)
        assert bool(where) == bool(wanted)
        # A secret in a ConfigMap would be there for everyone to read.
        plain = settings(documents, deployment)
        assert not [n for n, f in known.items() if secret(f) and plain.get(n)]


def test_every_setting_is_one_that_its_service_has(documents):
    for service, deployment in services(documents).items():
        own = settings(documents, deployment).keys() - set(defaults(service))
        assert own == set(), service


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_takes_the_settings_that_it_is_given(documents, service, monkeypatch):
    for name, value in settings(documents, services(documents)[service]).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("VERITY_SECRETS_DIR")
    chosen = import_module(f"services.{service}.__main__").Settings()
    assert chosen.bind == "0.0.0.0:50051"


def test_redis_keeps_every_write_and_drops_nothing(documents):
    (config,) = [
        one["data"]["redis.conf"]
        for one in of_kind(documents, "ConfigMap")
        if one["metadata"]["name"].startswith("verity-redis")
    ]
    assert {"appendonly yes", "maxmemory-policy noeviction"} <= set(config.splitlines())
    limit = bytes_of(
        container(named(documents, "StatefulSet", "verity-redis"))["resources"]["limits"]["memory"]
    )
    most = int(re.search(r"^maxmemory (\d+)mb$", config, re.MULTILINE)[1]) * 2**20
    assert most <= limit * 0.8


def test_stores_keep_their_data(documents):
    for name in ("verity-redis", "verity-qdrant"):
        spec = named(documents, "StatefulSet", name)["spec"]
        (claim,) = spec["volumeClaimTemplates"]
        mounted = {
            m["name"] for m in container(named(documents, "StatefulSet", name))["volumeMounts"]
        }
        assert claim["metadata"]["name"] in mounted


def test_a_cluster_of_qdrant_keeps_two_copies_on_three_nodes(combination, documents):
    chosen = settings(documents, services(documents)["retrieval"])
    qdrant = named(documents, "StatefulSet", "verity-qdrant")["spec"]
    clustered = "qdrant-cluster" in combination.components
    assert qdrant["replicas"] == (3 if clustered else 1)
    assert chosen["VERITY_QDRANT_REPLICATION_FACTOR"] == ("2" if clustered else "1")
    snapshots = [
        one["data"]
        for one in of_kind(documents, "ConfigMap")
        if one["metadata"]["name"].startswith("verity-snapshots")
    ]
    assert len(snapshots[0]["QDRANT_URLS"].split(",")) == qdrant["replicas"]


def test_hops_show_certificates_with_the_names_that_are_called(combination, documents):
    if "mtls" not in combination.components:
        assert not of_kind(documents, "Certificate")
        return
    for service, deployment in services(documents).items():
        certificate = named(documents, "Certificate", f"verity-{service}")["spec"]
        assert f"verity-{service}" in certificate["dnsNames"]
        volumes = {v["name"]: v for v in template(deployment)["spec"]["volumes"]}
        assert volumes["tls"]["secret"]["secretName"] == certificate["secretName"]
        mounts = {m["name"]: m["mountPath"] for m in container(deployment)["volumeMounts"]}
        chosen = settings(documents, deployment)
        for name in ("VERITY_TLS_CERTIFICATE", "VERITY_TLS_KEY", "VERITY_TLS_CA"):
            assert Path(chosen[name]).parent == Path(mounts["tls"])


def test_the_ingress_holds_no_event_back(combination, documents):
    if combination.overlay == "local":
        return
    annotations = named(documents, "Ingress", "verity-gateway")["metadata"]["annotations"]
    nginx = "nginx.ingress.kubernetes.io"
    assert annotations[f"{nginx}/proxy-buffering"] == "off"
    read = float(annotations[f"{nginx}/proxy-read-timeout"])
    assert read > number(documents, "gateway", "VERITY_ASK_SECONDS")
    assert named(documents, "Ingress", "verity-gateway")["spec"]["tls"]


def test_prod_asks_callers_who_they_are_and_local_says_that_it_does_not(combination, documents):
    for deployment in services(documents).values():
        chosen = settings(documents, deployment)
        found = chosen["VERITY_PROFILE"], chosen["VERITY_AUTH"]
        assert (
            found == {"local": ("dev", "none"), "production": ("prod", "jwt")}[combination.overlay]
        )
