"""Every overlay with every set of components, as kubectl renders it, and what reads the result."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
K8S = ROOT / "k8s"
OVERLAYS = ("local", "production")
# Each with each; what replaces or adds to something of these comes by itself and with all.
COMPONENTS = ("tracing", "monitoring", "mtls", "qdrant-cluster")
EXAMPLES = ("operations", "keda", "grpc-route", "grpc-ingress")
SERVICES = ("gateway", "orchestrator", "retrieval", "generation", "verification")

Document = dict[str, Any]


@dataclass(frozen=True)
class Combination:
    """One overlay with some components."""

    overlay: str
    components: tuple[str, ...]

    def __str__(self) -> str:
        return "+".join([self.overlay, *self.components])


def combinations_of_all() -> Iterator[Combination]:
    for overlay in OVERLAYS:
        for count in range(len(COMPONENTS) + 1):
            for chosen in combinations(COMPONENTS, count):
                yield Combination(overlay, chosen)
        for example in EXAMPLES:
            yield Combination(overlay, (example,))
            # KEDA takes away what monitoring adds to: it comes last.
            yield Combination(overlay, (*COMPONENTS, example))


ALL = tuple(combinations_of_all())


@cache
def render(combination: Combination, k8s: Path = K8S) -> tuple[Document, ...]:
    """What `kubectl apply -k` would send."""
    with tempfile.TemporaryDirectory() as made:
        # kustomize takes no absolute paths.
        shutil.copytree(k8s, Path(made, "k8s"))
        folder = Path(made, "chosen")
        folder.mkdir()
        chosen = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": [f"../k8s/overlays/{combination.overlay}"],
            "components": [f"../k8s/components/{name}" for name in combination.components],
        }
        (folder / "kustomization.yaml").write_text(yaml.safe_dump(chosen))
        done = subprocess.run(
            ["kubectl", "kustomize", folder], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, (str(combination), done.stderr)
    assert "Warning" not in done.stderr, (str(combination), done.stderr)
    return tuple(yaml.load_all(done.stdout, Loader=yaml.CSafeLoader))


def of_kind(documents: Sequence[Document], *kinds: str) -> list[Document]:
    return [one for one in documents if one["kind"] in kinds]


def named(documents: Sequence[Document], kind: str, name: str) -> Document:
    (found,) = [one for one in of_kind(documents, kind) if one["metadata"]["name"] == name]
    return found


def services(documents: Sequence[Document]) -> dict[str, Document]:
    """The Deployments of our own, by service."""
    return {name: named(documents, "Deployment", f"verity-{name}") for name in SERVICES}


def workloads(documents: Sequence[Document]) -> list[Document]:
    return of_kind(documents, "Deployment", "StatefulSet", "CronJob")


def template(workload: Document) -> Document:
    """The pods of a workload, as their template has them."""
    spec = workload["spec"]
    if workload["kind"] == "CronJob":
        spec = spec["jobTemplate"]["spec"]
    found: Document = spec["template"]
    return found


def container(workload: Document) -> Document:
    (found,) = template(workload)["spec"]["containers"]
    return dict(found)


def settings(documents: Sequence[Document], workload: Document) -> dict[str, str]:
    """The variables that ConfigMaps give to a service; the later one wins."""
    found: dict[str, str] = {}
    for source in container(workload)["envFrom"]:
        found |= named(documents, "ConfigMap", source["configMapRef"]["name"])["data"]
    return found
