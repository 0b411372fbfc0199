"""compose.yaml runs the same images with the same configurations as the cluster."""

import re
import shutil
import subprocess
from importlib import import_module

import pytest
import yaml

from tests.manifests.rendered import ROOT, SERVICES, Combination, container, render, workloads

COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
RUN = COMPOSE["services"]
STORES = ("qdrant", "redis", "collector", "jaeger", "prometheus", "grafana")


def test_the_five_services_and_what_they_need_are_there():
    assert set(RUN) == {*SERVICES, *STORES}


def test_images_are_those_of_the_cluster():
    cluster = {container(w)["image"] for w in workloads(render(Combination("local", ("tracing",))))}
    ours = {one["image"] for one in RUN.values()}
    assert {image for image in ours if not image.startswith(("prom/", "grafana/"))} == cluster
    assert all(re.search(r":[^:]*\d", image) for image in ours)


def test_every_host_that_is_called_runs():
    hosts = {one["hostname"] for one in RUN.values()}
    for path in (ROOT / "compose").rglob("*.yaml"):
        assert set(re.findall(r"\bverity-[a-z]+", path.read_text())) <= hosts, path
    for name, one in RUN.items():
        text = " ".join(map(str, one.get("environment", {}).values()))
        assert set(re.findall(r"\bverity-[a-z]+", text)) <= hosts, name


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_takes_the_settings_that_it_is_given(service, monkeypatch):
    for name, value in RUN[service]["environment"].items():
        monkeypatch.setenv(name, "" if "${" in value else value)
    monkeypatch.delenv("VERITY_SECRETS_DIR", raising=False)
    settings = import_module(f"services.{service}.__main__").Settings()
    assert settings.auth == "none"


@pytest.mark.parametrize("name", RUN)
def test_a_container_is_confined_and_only_this_machine_reaches_it(name):
    one = RUN[name]
    assert one["read_only"] is True
    assert one["cap_drop"] == ["ALL"]
    assert one["security_opt"] == ["no-new-privileges:true"]
    assert all(port.startswith("127.0.0.1:") for port in one.get("ports", []))


def test_whatever_is_mounted_exists():
    for name, one in RUN.items():
        for volume in one.get("volumes", []):
            source = volume.partition(":")[0]
            if source.startswith("./"):
                assert (ROOT / source).exists(), (name, source)
            else:
                assert source in COMPOSE["volumes"], (name, source)


def test_grafana_finds_the_dashboards_and_their_source():
    provider = yaml.safe_load((ROOT / "compose/grafana/dashboards/verity.yaml").read_text())
    path = provider["providers"][0]["options"]["path"]
    assert any(volume.split(":")[1] == path for volume in RUN["grafana"]["volumes"])
    sources = yaml.safe_load((ROOT / "compose/grafana/datasources/prometheus.yaml").read_text())
    assert {one["type"] for one in sources["datasources"]} == {"prometheus", "jaeger"}


def test_docker_reads_it():
    docker = shutil.which("docker")
    if (
        not docker
        or subprocess.run(
            [docker, "compose", "version"], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("Docker's compose plugin is not installed here")
    subprocess.run([docker, "compose", "config", "--quiet"], cwd=ROOT, check=True)
