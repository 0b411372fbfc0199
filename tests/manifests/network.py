"""Who may talk to whom, as the NetworkPolicies of a rendered set have it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.manifests.rendered import Document, container, of_kind, template, workloads

# Source workload, target workload, port.
Edge = tuple[str, str, int]


@dataclass(frozen=True)
class Outside:
    """A side of an edge that is not in the namespace.

    Attributes:
        direction: "from" or "to".
        workload: The side that is.
        peer: The labels of the other's namespace, or its addresses.
        ports: The ports, each with its protocol.
    """

    direction: str
    workload: str
    peer: str
    ports: frozenset[tuple[int, str]]


class Network:
    """Reads the policies once.

    Args:
        documents: A rendered set.
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self._pods = {
            w["metadata"]["name"]: template(w)["metadata"]["labels"] for w in workloads(documents)
        }
        self._ports = {
            w["metadata"]["name"]: [p["containerPort"] for p in container(w).get("ports", [])]
            for w in workloads(documents)
        }
        self._policies = [one["spec"] for one in of_kind(documents, "NetworkPolicy")]

    def edges(self) -> set[Edge]:
        """What both ends allow."""
        return {edge for edge, leaves, arrives in self._possible() if leaves and arrives}

    def half_open(self) -> set[Edge]:
        """What one end allows and the other does not: an edge that was forgotten, or never was."""
        return {edge for edge, leaves, arrives in self._possible() if leaves != arrives}

    def _possible(self) -> Iterator[tuple[Edge, bool, bool]]:
        """Every edge that there could be, and whether either end allows it."""
        for source in self._pods:
            for target in self._pods:
                for port in self._ports[target]:
                    leaves = self._allows("egress", "to", source, target, port)
                    arrives = self._allows("ingress", "from", target, source, port)
                    yield (source, target, port), leaves, arrives

    def outside(self) -> set[Outside]:
        found = set()
        for name, labels in self._pods.items():
            for way, word in (("ingress", "from"), ("egress", "to")):
                for rule in self._rules(way, labels):
                    ports = frozenset((p["port"], p["protocol"]) for p in rule["ports"])
                    for peer in rule[word]:
                        if "ipBlock" in peer:
                            found.add(Outside(word, name, peer["ipBlock"]["cidr"], ports))
                        elif "namespaceSelector" in peer:
                            match = peer["namespaceSelector"]["matchLabels"]
                            found.add(
                                Outside(word, name, "".join(map("=".join, match.items())), ports)
                            )
        return found

    def isolated(self, name: str) -> bool:
        """Whether a policy denies what no other allows, both ways."""
        ways = {
            way
            for policy in self._policies
            if selects(policy["podSelector"], self._pods[name])
            for way in policy["policyTypes"]
        }
        return ways == {"Ingress", "Egress"}

    def _rules(self, way: str, labels: Document) -> list[Document]:
        return [
            rule
            for policy in self._policies
            if selects(policy["podSelector"], labels) and way.title() in policy["policyTypes"]
            for rule in policy.get(way, [])
        ]

    def _allows(self, way: str, word: str, own: str, other: str, port: int) -> bool:
        return any(
            (port, "TCP") in {(p["port"], p["protocol"]) for p in rule["ports"]}
            and any(
                "podSelector" in peer
                and "namespaceSelector" not in peer
                and selects(peer["podSelector"], self._pods[other])
                for peer in rule[word]
            )
            for rule in self._rules(way, self._pods[own])
        )


def selects(selector: Document, labels: Document) -> bool:
    assert set(selector) <= {"matchLabels", "matchExpressions"}
    for one in selector.get("matchExpressions", []):
        assert one["operator"] == "In"
        if labels.get(one["key"]) not in one["values"]:
            return False
    return bool(selector.get("matchLabels", {}).items() <= labels.items())
