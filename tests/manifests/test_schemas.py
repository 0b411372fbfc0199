"""Whatever is rendered is what Kubernetes would take: each field is known, and of its type."""

import json

import jsonschema
import kubernetes_validate
import pytest

from tests.manifests.rendered import ALL, render
from tests.manifests.schemas import BY_KIND

NEWEST = kubernetes_validate.latest_version()
_seen: set[str] = set()


def test_every_document_fits_the_schema_of_the_newest_kubernetes(documents):
    for document in documents:
        written = json.dumps(document, sort_keys=True)
        if written in _seen:
            continue
        key = (document["apiVersion"], document["kind"])
        if key in BY_KIND:
            jsonschema.validate(document, BY_KIND[key])
        else:
            kubernetes_validate.validate(document, NEWEST, strict=True)
        _seen.add(written)


def test_a_field_that_kubernetes_does_not_know_is_found():
    (document,) = [
        d
        for d in render(ALL[0])
        if d["metadata"]["name"] == "verity-redis" and d["kind"] == "StatefulSet"
    ]
    bad = json.loads(json.dumps(document))
    bad["spec"]["template"]["spec"]["containers"][0]["livenessProb"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(bad, NEWEST, strict=True)


def test_nothing_is_there_twice(documents):
    names = [(d["kind"], d["metadata"].get("namespace"), d["metadata"]["name"]) for d in documents]
    assert len(names) == len(set(names))
