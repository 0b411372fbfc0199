"""A pod is rolled when a value that it reads changes, and only then."""

import shutil

import pytest

from tests.manifests.rendered import K8S, SERVICES, Combination, render, template, workloads

PLAIN = Combination("production", ())
EVERY = {f"verity-{name}" for name in SERVICES}
# What changes: (file, from, to); the pods that are rolled for it.
EDITS = {
    "one service's value": (
        ("base/orchestrator/kustomization.yaml", "FALLBACK=none", "FALLBACK=extractive"),
        {"verity-orchestrator"},
    ),
    "every service's value": (
        ("base/kustomization.yaml", "LOG_LEVEL=info", "LOG_LEVEL=debug"),
        EVERY,
    ),
    "redis": (("base/redis/redis.conf", "384mb", "300mb"), {"verity-redis"}),
    "qdrant": (("base/qdrant/production.yaml", "INFO", "WARN"), {"verity-qdrant"}),
    "snapshots": (
        ("base/qdrant/snapshots/kustomization.yaml", "KEEP=7", "KEEP=8"),
        {"verity-snapshots"},
    ),
    "the keys of tokens": (("overlays/production/jwks.json", "[]", "[{}]"), EVERY),
    "a remark": (("base/kustomization.yaml", "# What every service is told.", "# So."), set()),
    "another resource": (("base/gateway/ingress.yaml", '"150"', '"160"'), set()),
}


def templates(k8s):
    return {one["metadata"]["name"]: template(one) for one in workloads(render(PLAIN, k8s))}


@pytest.fixture(scope="module")
def before():
    return templates(K8S)


def rolled(before, k8s):
    after = templates(k8s)
    assert after.keys() == before.keys()
    return {name for name in before if before[name] != after[name]}


@pytest.mark.parametrize(("edit", "expected"), EDITS.values(), ids=EDITS)
def test_a_changed_value_rolls_the_pods_that_read_it_and_no_others(
    before, tmp_path, edit, expected
):
    file, old, new = edit
    path = shutil.copytree(K8S, tmp_path / "k8s") / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert rolled(before, tmp_path / "k8s") == expected


def test_nothing_changed_rolls_nothing(before, tmp_path):
    assert rolled(before, shutil.copytree(K8S, tmp_path / "k8s")) == set()
