"""Dashboards, alerts and autoscalers ask for metrics that the code takes, by labels they have."""

import ast
import json
import re

import pytest
import yaml

from services.chassis import telemetry
from services.chassis.prometheus import _UNITS
from tests.manifests.rendered import K8S, ROOT, Combination, of_kind, render

DASHBOARDS = sorted((K8S / "components/monitoring/dashboards").glob("*.json"))
RULES = yaml.safe_load((K8S / "components/monitoring/rules.yaml").read_text())
SCALERS = list(yaml.safe_load_all((K8S / "components/keda/scaledobjects.yaml").read_text()))
# PromQL's own words, and what Prometheus knows of a target.
FUNCTIONS = {"sum", "rate", "increase", "histogram_quantile", "max", "by", "le"}
TARGET = {"pod", "namespace", "le"}


def taken():
    """Each instrument in the code, as Prometheus is told its series."""
    for path in sorted((ROOT / "services").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                kind = node.func.attr.removeprefix("create_")
                if node.func.attr.startswith("create_") and node.args:
                    first = node.args[0]
                    if isinstance(first, ast.Constant) and "." in str(first.value):
                        unit = {
                            k.arg: k.value.value
                            for k in node.keywords
                            if isinstance(k.value, ast.Constant)
                        }.get("unit", "")
                        yield from series(first.value, kind, _UNITS.get(unit, ""))


def series(name, kind, unit):
    family = "_".join(filter(None, [name.replace(".", "_"), unit]))
    match kind:
        case "histogram":
            return [f"{family}_{end}" for end in ("bucket", "count", "sum")]
        case "counter":
            return [f"{family}_total"]
        case _:
            return [family]


SERIES = set(taken())


def labels():
    """The labels that the code gives, as Prometheus is told them."""
    constants = {value for value in vars(telemetry).values() if isinstance(value, str)}
    sources = "".join(path.read_text() for path in (ROOT / "services").rglob("*.py"))
    written = set(re.findall(r'"([a-z_.]+)":', sources))
    return {name.replace(".", "_") for name in constants | written} | TARGET


def expressions():
    for path in DASHBOARDS:
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel["targets"]:
                yield f"{path.stem}: {panel['title']}", target["expr"]
    for group in RULES["spec"]["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"]
    for one in SCALERS:
        for trigger in one["spec"]["triggers"]:
            if trigger["type"] == "prometheus":
                yield one["metadata"]["name"], trigger["metadata"]["query"]


@pytest.mark.parametrize(("where", "expression"), list(expressions()))
def test_what_is_asked_for_is_measured(where, expression):
    bare = re.sub(r'"[^"]*"', '""', expression.replace("$__rate_interval", "5m"))
    by = set(re.findall(r"\w+", " ".join(re.findall(r"by \(([^)]*)\)", bare))))
    matched = set(re.findall(r"(\w+)(?:=~|!=|!~|=)\"", bare))
    left = re.sub(r"by \([^)]*\)|\{[^}]*\}|\[[^]]*\]", " ", bare)
    asked = set(re.findall(r"[a-z][a-z_]{3,}", left)) - FUNCTIONS
    assert asked, where
    assert asked <= SERIES, where
    assert by | matched <= labels(), where


@pytest.fixture(scope="module")
def monitored():
    return render(Combination("production", ("monitoring",)))


def test_a_rate_is_of_what_only_grows_and_a_gauge_is_taken_as_it_is(monitored):
    for where, expression in expressions():
        for name in re.findall(r"(?:rate|increase)\((\w+)", expression):
            assert name.endswith(("_total", "_bucket", "_count")), where
    for one in of_kind(monitored, "HorizontalPodAutoscaler"):
        for metric in one["spec"]["metrics"]:
            if metric["type"] == "Pods":
                name = metric["pods"]["metric"]["name"]
                assert name in SERIES
                assert not name.endswith("_total")


def test_every_dashboard_is_loaded_and_known_by_one_id(monitored):
    (config,) = [
        one
        for one in of_kind(monitored, "ConfigMap")
        if one["metadata"]["name"] == "verity-dashboards"
    ]
    assert config["metadata"]["labels"]["grafana_dashboard"] == "1"
    loaded = {name: json.loads(text) for name, text in config["data"].items()}
    assert set(loaded) == {path.name for path in DASHBOARDS}
    assert len({one["uid"] for one in loaded.values()}) == len(loaded)


def test_monitors_scrape_ports_that_exist(monitored):
    (monitor,) = of_kind(monitored, "PodMonitor")
    selected = monitor["spec"]["selector"]["matchLabels"]
    scraped = {endpoint["port"] for endpoint in monitor["spec"]["podMetricsEndpoints"]}
    pods = [
        one
        for one in of_kind(monitored, "Deployment")
        if selected.items() <= one["spec"]["template"]["metadata"]["labels"].items()
    ]
    assert len(pods) == 5
    for pod in pods:
        (one,) = pod["spec"]["template"]["spec"]["containers"]
        assert scraped <= {port["name"] for port in one["ports"]}


def test_the_collector_is_told_to_keep_what_failed_and_what_was_slow():
    tracing = render(Combination("local", ("tracing",)))
    configs = {
        one["metadata"]["name"].rsplit("-", 1)[0]: one["data"]["config.yaml"]
        for one in of_kind(tracing, "ConfigMap")
        if "config.yaml" in one["data"]
    }
    first, second = (
        yaml.safe_load(configs[name]) for name in ("verity-collector", "verity-sampler")
    )
    assert first["exporters"]["loadbalancing"]["routing_key"] == "traceID"
    kinds = {one["type"] for one in second["processors"]["tail_sampling"]["policies"]}
    assert {"status_code", "latency", "probabilistic"} <= kinds
    for config in (first, second):
        for pipeline in config["service"]["pipelines"].values():
            for part in ("receivers", "processors", "exporters"):
                assert set(pipeline[part]) <= set(config[part])


def test_every_alert_leads_to_a_section_of_the_runbooks_and_every_section_is_there():
    text = (ROOT / "docs/runbooks/README.md").read_text()
    sections = {title.lower() for title in re.findall(r"^## (Verity\w+)$", text, re.MULTILINE)}
    rules = [rule for group in RULES["spec"]["groups"] for rule in group["rules"]]
    for rule in rules:
        where, _, section = rule["annotations"]["runbook"].partition("#")
        assert where == "docs/runbooks/README.md"
        assert section == rule["alert"].lower()
        assert section in sections
    assert sections == {rule["alert"].lower() for rule in rules}
