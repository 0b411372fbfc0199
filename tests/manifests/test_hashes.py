"""A pod is rolled when a value that it reads changes, and only then."""

import shutil

import pytest

from tests.manifests.rendered import K8S, Combination, render, template, workloads

PLAIN = Combination("production", ())


def templates(k8s):
    return {w["metadata"]["name"]: template(w) for w in workloads(render(PLAIN, k8s))}


@pytest.fixture(scope="module")
def before():
    return templates(K8S)


def changed(before, k8s):
    after = templates(k8s)
    assert after.keys() == before.keys()
    return {name for name in before if before[name] != after[name]}


def edited(tmp_path, file, old, new):
    copy = shutil.copytree(K8S, tmp_path / "k8s")
    path = copy / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return copy


EVERY = {
    f"verity-{n}" for n in ("gateway", "orchestrator", "retrieval", "generation", "verification")
}


@pytest.mark.parametrize(
    ("file", "old", "new", "rolled"),
    [
        ("base/orchestrator/kustomization.yaml", "VERITY_FALLBACK=none",
         "VERITY_FALLBACK=extractive", {"verity-orchestrator"}),
        ("base/kustomization.yaml", "VERITY_LOG_LEVEL=info", "VERITY_LOG_LEVEL=debug", EVERY),
        ("base/redis/redis.conf", "maxmemory 384mb", "maxmemory 300mb", {"verity-redis"}),
        ("base/qdrant/production.yaml", "log_level: INFO", "log_level: WARN", {"verity-qdrant"}),
        ("base/qdrant/snapshots/kustomization.yaml", "KEEP=7", "KEEP=8", {"verity-snapshots"}),
        ("overlays/production/jwks.json", '{"keys": []}', '{"keys": [{}]}', EVERY),
        ("base/kustomization.yaml", "# What every service is told.", "# Said otherwise.", set()),
        ("base/gateway/ingress.yaml", '"150"', '"160"', set()),
    ],
    ids=lambda value: value if isinstance(value, str) and "/" in value else "",
)  # fmt: skip
def test_a_changed_value_rolls_the_pods_that_read_it_and_no_others(
    before, tmp_path, file, old, new, rolled
):
    assert changed(before, edited(tmp_path, file, old, new)) == rolled


def test_nothing_changed_rolls_nothing(before, tmp_path):
    assert changed(before, shutil.copytree(K8S, tmp_path / "k8s")) == set()
