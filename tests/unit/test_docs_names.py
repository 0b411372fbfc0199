"""Whatever a document names is there: files, settings, commands, targets, metrics, RPCs, routes."""

import ast
import importlib.util
import re
from pathlib import Path

import pytest
import typer.main
from verity.v1.generation_service_pb2 import GenerateResponse

from benchmarks.__main__ import NAMES
from cli.__main__ import app
from cli.scripted_model.replies import BEHAVIOURS
from services.chassis.status import STATUS
from services.gateway.openapi import document as openapi
from services.gateway.problem import HTTP
from services.gateway.twins import RESOURCES, all_twins
from services.generation.modes import Mode

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "samples/README.md"])
TEXTS = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in DOCUMENTS}
SOURCES = "".join(path.read_text("utf-8") for path in sorted((ROOT / "services").rglob("*.py")))
# Written in a document as code, but made by a reader or by what runs.
MADE = re.compile(r"gen/|web/dist|var/|index/|originals/|uploads/|.*(NAME|FILE|DIR|<|\{|…)")


def code(text):
    """Each line of a block, and each span within a line, that is set as code."""
    for at, part in enumerate(re.split(r"^```.*$", text, flags=re.MULTILINE)):
        yield from part.splitlines() if at % 2 else re.findall(r"`([^`\n]+)`", part)


def table(name, first):
    """The first cell of each row of the table whose head begins like this."""
    rows = TEXTS[name].partition(f"| {first} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [row.split("|")[1] for row in rows]


@pytest.fixture(params=TEXTS, ids=str)
def name(request):
    return request.param


@pytest.fixture
def text(name):
    return TEXTS[name]


def anchors(text):
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        yield re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def test_every_link_leads_to_a_file_and_to_a_heading_in_it(name, text):
    for link in re.findall(r"\]\(([^)]+)\)", text):
        path, _, anchor = link.partition("#")
        if not path.startswith("http"):
            target = (ROOT / name).parent / path if path else ROOT / name
            assert target.exists(), link
            assert not anchor or anchor in anchors(target.read_text("utf-8")), link


def test_every_file_that_is_named_is_there(name, text):
    top = {path.name for path in ROOT.iterdir()}
    known = {path.name for path in (*ROOT.glob("*"), *(ROOT / "services").rglob("*.py"))}
    for said in code(text):
        for path in re.findall(r"(?<![\w./:@-])[\w.{},*-]+(?:/[\w.{},*-]+)+(?![\w{])", said):
            if path.split("/")[0] in top and not MADE.match(path):
                assert list(ROOT.glob(path.rstrip("/."))), path
        if re.fullmatch(r"[a-z_]+\.py", said):
            assert said in known, said


def test_every_setting_that_is_named_is_in_settings_env(text):
    known = set(re.findall(r"^([A-Z_]+)=", (ROOT / "settings.env").read_text(), re.MULTILINE))
    said = set(re.findall(r"\bVERITY_[A-Z_]*[A-Z]\b(?!_?\*|…)", text))
    assert {one for one in said if not any(k.startswith(f"{one}_") for k in known)} <= known


def test_every_target_of_make_is_in_the_makefile(text):
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for said in code(text):
        for line in re.findall(r"^make ([^#|]+)", said):
            named = [one for one in line.split() if "=" not in one and one.isascii()]
            assert set(named) <= targets, said


def test_every_command_and_option_is_one_of_veritys(text):
    for said in code(text):
        for line in re.findall(r"(?<![\w/-])(?<!-n )verity ([a-z].*)", said):
            command = typer.main.get_command(app)
            words = re.split(r" [|&#]|<br>", line)[0].split()
            while words and words[0] in getattr(command, "commands", {}):
                command = command.commands[words.pop(0)]
            assert command.name != "verity", said
            known = {option for one in command.params for option in one.opts}
            given = re.findall(r"(?<![\w-])--[a-z-]+", " ".join(words))
            assert set(given) <= known, said


def test_every_module_that_is_run_is_there(text):
    for said in code(text):
        for module, first in re.findall(r"python -m ([\w.]+)(?: ([\w-]+))?", said):
            assert importlib.util.find_spec(module), said
            assert module != "benchmarks" or first in {*NAMES, "NAME"}, said


def instruments():
    """The names of what the code counts and measures."""
    for source in sorted((ROOT / "services").rglob("*.py")):
        for node in ast.walk(ast.parse(source.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                first = node.args[0] if node.args else None
                if node.func.attr.startswith("create_") and isinstance(first, ast.Constant):
                    yield str(first.value)


INSTRUMENTS = sorted({one for one in instruments() if "." in one})


def test_the_table_of_metrics_names_every_one_once_and_no_other():
    cells = table("docs/operations.md", "metric")
    assert sorted(name for cell in cells for name in re.findall(r"`([^`]+)`", cell)) == INSTRUMENTS


def test_every_metric_that_is_named_is_one_or_an_attribute_of_one(text):
    attributes = re.findall(r'"((?:verity|rpc)\.[a-z_.]+)"', SOURCES)
    for said in re.findall(r"`((?:verity|rpc|http)[._][a-z_.]+)`", text):
        known = [*INSTRUMENTS, *attributes, "verity.v1", "rpc.response.status_code"]
        # To Prometheus a unit and a kind follow.
        assert any(said.replace("_", ".").startswith(one.replace("_", ".")) for one in known), said


def test_every_rpc_that_is_named_with_its_service_is_one(text):
    known = {(twin.service.rpartition(".")[2], twin.rpc.name) for twin in all_twins()}
    assert set(re.findall(r"`(\w+Service)\.(\w+)`", text)) <= known


def test_the_table_of_routes_names_every_one_that_is_not_its_rpcs_name():
    cells = " ".join(table("docs/api.md", "request"))
    said = set(re.findall(r"`(?:(?:GET|POST|DELETE) )?([/…][^`]*)`", cells)) - {"…"}
    routes = set(openapi(all_twins())["paths"])
    assert all(any(route.endswith(one.lstrip("…")) for route in routes) for one in said), said
    named = {path for _, path in RESOURCES.values()} | {one for one in routes if "-" not in one}
    lacking = {one for one in named if not any(one.endswith(path.lstrip("…")) for path in said)}
    assert lacking - {"/v1/verify", "/v1/retrieve", "/v1/generate"} == set()


def test_what_a_scripted_model_may_do_is_described_and_nothing_else():
    said = re.findall(
        r"`([a-z_]+)`", re.sub(r"\([^)]*\)", "", " ".join(table("docs/models.md", "`do`")))
    )
    assert sorted(said) == sorted(BEHAVIOURS)


def test_the_failures_and_the_modes_of_a_model_are_those_of_the_contract():
    text = TEXTS["docs/models.md"]
    failures = set(GenerateResponse.Failure.keys()) - {"FAILURE_UNSPECIFIED"}
    assert set(re.findall(r"FAILURE_[A-Z_]+", text)) == failures
    assert [cell.strip(" `") for cell in table("docs/models.md", "mode")] == [*Mode]


def test_every_status_is_described_and_has_the_http_status_that_is_said():
    text = TEXTS["docs/api.md"]
    ours = {code.name for code in STATUS.values()} | {"UNIMPLEMENTED", "INTERNAL"}
    assert {cell.strip() for cell in table("docs/api.md", "status")} == ours
    rows = re.findall(r"\| ([A-Z_, ]+) \| (\d{3}) (?=\|)", text)
    said = {name: int(http) for names, http in rows for name in names.split(", ")}
    assert said == {code.name: http for code, http in HTTP.items() if code.name != "OK"}


def test_every_component_of_the_manifests_is_in_the_table_of_them():
    there = {f"`{path.name}`" for path in (ROOT / "k8s/components").iterdir()}
    named = " ".join(table("docs/deploy.md", "in `k8s/`")).replace("components/", "")
    assert {one for one in there if one not in named} == set()
