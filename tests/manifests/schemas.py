"""What custom resources may have, as far as ours go: the operators' own schemas are not here."""

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string", "minLength": 1}
LABELS: Schema = {"type": "object", "additionalProperties": TEXT}
SELECTOR: Schema = {
    "type": "object",
    "additionalProperties": False,
    "required": ["matchLabels"],
    "properties": {"matchLabels": LABELS},
}


def exactly(required: Schema, **optional: Schema) -> Schema:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": {**required, **optional},
    }


def some(item: Schema) -> Schema:
    return {"type": "array", "minItems": 1, "items": item}


def resource(spec: Schema) -> Schema:
    metadata = exactly({"name": TEXT, "namespace": TEXT}, labels=LABELS)
    return exactly({"apiVersion": TEXT, "kind": TEXT, "metadata": metadata, "spec": spec})


DURATION: Schema = {"type": "string", "pattern": r"^\d+(ms|s|m|h)$"}
ENDPOINT = exactly({"port": TEXT}, path=TEXT, interval=DURATION)
RULE = exactly(
    {"alert": TEXT, "expr": TEXT},
    **{"for": DURATION, "labels": LABELS, "annotations": LABELS},
)
ISSUER = exactly({"name": TEXT, "kind": {"enum": ["Issuer", "ClusterIssuer"]}})
USAGE: Schema = {"enum": ["digital signature", "server auth", "client auth"]}
KEY = exactly(
    {"algorithm": {"enum": ["ECDSA", "RSA", "Ed25519"]}},
    size={"type": "integer"},
    rotationPolicy={"enum": ["Always", "Never"]},
)

BY_KIND: dict[tuple[str, str], Schema] = {
    ("monitoring.coreos.com/v1", "PodMonitor"): resource(
        exactly(
            {"selector": SELECTOR, "podMetricsEndpoints": some(ENDPOINT)},
            podTargetLabels=some(TEXT),
        )
    ),
    ("monitoring.coreos.com/v1", "ServiceMonitor"): resource(
        exactly({"selector": SELECTOR, "endpoints": some(ENDPOINT)})
    ),
    ("monitoring.coreos.com/v1", "PrometheusRule"): resource(
        exactly({"groups": some(exactly({"name": TEXT, "rules": some(RULE)}))})
    ),
    ("cert-manager.io/v1", "Issuer"): resource(
        {
            "oneOf": [
                exactly({"selfSigned": exactly({})}),
                exactly({"ca": exactly({"secretName": TEXT})}),
            ]
        }
    ),
    ("cert-manager.io/v1", "Certificate"): resource(
        exactly(
            {
                "secretName": TEXT,
                "issuerRef": ISSUER,
                "privateKey": KEY,
                "duration": DURATION,
                "renewBefore": DURATION,
            },
            isCA={"const": True},
            commonName=TEXT,
            dnsNames=some(TEXT),
            usages=some(USAGE),
        )
    ),
    ("gateway.networking.k8s.io/v1", "GRPCRoute"): resource(
        exactly(
            {
                "parentRefs": some(exactly({"name": TEXT}, namespace=TEXT, sectionName=TEXT)),
                "rules": some(
                    exactly(
                        {"backendRefs": some(exactly({"name": TEXT, "port": {"type": "integer"}}))},
                        matches=some(exactly({"method": exactly({"service": TEXT}, method=TEXT)})),
                    )
                ),
            },
            hostnames=some(TEXT),
        )
    ),
    ("keda.sh/v1alpha1", "ScaledObject"): resource(
        exactly(
            {
                "scaleTargetRef": exactly({"name": TEXT}),
                "triggers": some(
                    exactly(
                        {"type": TEXT, "metadata": LABELS}, metricType={"enum": ["Utilization"]}
                    )
                ),
            },
            minReplicaCount={"type": "integer", "minimum": 1},
            maxReplicaCount={"type": "integer"},
            cooldownPeriod={"type": "integer"},
        )
    ),
}
