"""Who may know whom: the tree of docs/architecture.md, enforced."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SERVICES = sorted(path.parent.name for path in ROOT.glob("services/*/__init__.py"))
MODULES = sorted(ROOT.glob("services/**/*.py"))

# What is not named here is pure: it computes and decides, touches nothing outside, and imports the
# standard library, other pure modules, `chassis.errors` and a few small libraries. Named are the
# modules beside every service's __main__, servicer and messages that do reach outside.
PURE_LIBRARIES = {"charset_normalizer", "nupunkt", "rapidfuzz", "selectolax", "snowballstemmer"}
OUTSIDE = {
    "gateway": {
        "app", "calls", "comments", "edge", "events", "grounded", "incoming", "known", "openapi",
        "page",
        "problem", "schemas", "server", "twins", "uploads", "upstream", "wire",
    },
    "generation": {
        "capabilities", "chat", "measured", "model", "openai", "refusals", "reply", "spending",
    },
    "orchestrator": {
        "agents", "asking", "attempt", "drafting", "graph", "measures", "redis_memory",
        "redis_store", "stages",
    },
    "retrieval": {
        "batching", "copying", "cross_encoder", "ingest", "isolated_reader", "leases", "minilm",
        "onnx", "optimizing", "originals", "pages", "parsers", "parsers.markdown", "parsers.ocr",
        "parsers.pdf", "parsers.pdf_forms", "parsers.pdf_headings", "parsers.pdf_layout",
        "parsers.pdf_levels", "parsers.pdf_marks", "parsers.pdf_page", "parsers.sniffing",
        "qdrant_call", "qdrant_edge", "qdrant_layout", "qdrant_server", "qdrant_shard", "reading",
        "reindex.__main__", "reindexing", "rendering", "reranking", "saturation", "search",
        "sentence_transformer", "tokens", "writing",
    },
    "verification": {
        "judges.cross_encoder", "judges.embedded", "judges.llm", "judging", "verifier",
    },
}  # fmt: skip
TRANSLATING = {"__main__", "servicer", "messages"}
# Its state is the contract's messages, which are data like any other.
STATE_IS_MESSAGES = "orchestrator"

# Words of what Verity is about, which what every service shares must not know.
DOMAIN = {
    "abstention", "answer", "attempt", "citation", "compliance", "confidence",
    "conversation", "document", "draft", "embedding", "evidence", "grounding", "ingest",
    "objection", "passage",
    "question", "quote", "retrieval", "statement", "verdict",
}  # fmt: skip


def name_of(path):
    return str(path.relative_to(ROOT))


modules = pytest.mark.parametrize("path", MODULES, ids=name_of)


def imports(path):
    """Every module that is imported anywhere in a file, with its full name."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)} imports relatively"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def module_of(path):
    """The service and the module's name within it."""
    service, *parts = path.relative_to(ROOT / "services").with_suffix("").parts
    return service, ".".join(part for part in parts if part != "__init__")


def is_pure(path):
    service, module = module_of(path)
    return service in OUTSIDE and module not in OUTSIDE[service] | TRANSLATING


def impure_imports(path):
    """What a file imports that a pure module may not."""
    service, _ = module_of(path)
    pure = {"services." + ".".join(module_of(p)).rstrip(".") for p in MODULES if is_pure(p)}
    for name in imports(path):
        parent = name.rpartition(".")[0]
        if not (
            name.partition(".")[0] in sys.stdlib_module_names | PURE_LIBRARIES
            or parent == "services.chassis.errors"
            # A module, or a name from one.
            or name in pure
            or (parent in pure and not is_module(name))
            or (service == STATE_IS_MESSAGES and re.fullmatch(r"verity\.v1\.\w+_pb2", name))
        ):
            yield name


def is_module(name):
    path = ROOT.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").exists()


@modules
def test_a_service_knows_no_other_service(path):
    own = path.relative_to(ROOT / "services").parts[0]
    others = {service for service in SERVICES if service not in (own, "chassis")}
    known = {name.split(".")[1] for name in imports(path) if name.startswith("services.")}
    assert not known & others


@modules
def test_services_know_nothing_of_the_command_or_the_tests(path):
    assert not {name.partition(".")[0] for name in imports(path)} & {"cli", "tests", "benchmarks"}


@pytest.mark.parametrize("path", sorted(ROOT.glob("services/chassis/*.py")), ids=name_of)
def test_the_chassis_knows_no_service_and_no_word_of_the_domain(path):
    known = {name for name in imports(path) if name.startswith(("services.", "verity."))}
    assert {name for name in known if not name.startswith("services.chassis")} <= {
        "verity.v1.rules_pb2"
    }
    identifiers = set()
    for node in ast.walk(ast.parse(path.read_text())):
        for attribute in ("id", "attr", "arg", "name"):
            value = getattr(node, attribute, None)
            if isinstance(value, str):
                identifiers.update(re.findall(r"[a-z]+", value.lower()))
    assert not identifiers & DOMAIN


@pytest.mark.parametrize("path", [path for path in MODULES if is_pure(path)], ids=name_of)
def test_a_pure_module_imports_only_what_is_pure(path):
    assert list(impure_imports(path)) == []


def test_every_service_and_every_module_named_as_reaching_outside_does():
    assert set(OUTSIDE) == set(SERVICES) - {"chassis"}
    reaching = {
        module_of(path) for path in MODULES if not is_pure(path) and list(impure_imports(path))
    }
    named = {(service, module) for service, names in OUTSIDE.items() for module in names}
    assert named - reaching == set()


@modules
def test_only_settings_and_mains_read_the_environment(path):
    if path.name in ("__main__.py", "settings.py"):
        return
    tree = ast.parse(path.read_text())
    read = [
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv", "environb")
    ]
    assert not read
    assert not {"os.environ", "os.getenv"} & set(imports(path))
    # Settings are made in mains, and handed on.
    made = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Settings"
    ]
    assert not made


@modules
def test_no_process_is_forked(path):
    assert not {name.partition(".")[0] for name in imports(path)} & {"gunicorn"}
    assert not re.search(r"os\.fork|get_context\(\"fork|set_start_method\(\"fork", path.read_text())


IMPORT_ALL = """
import importlib, json, sys, threading
import opentelemetry.trace

root, *names = sys.argv[1:]
done = []

def ours():
    # Whether our own code asked for it, not a library which that imports.
    frame = sys._getframe(2)
    while frame and not frame.f_code.co_filename.startswith(root):
        if "site-packages" in frame.f_code.co_filename:
            return False
        frame = frame.f_back
    return frame is not None

def watch(event, arguments):
    if event in ("socket.connect", "socket.bind", "subprocess.Popen", "os.fork") or (
        event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")
    ):
        if ours():
            done.append(event)

sys.addaudithook(watch)
for name in names:
    importlib.import_module(name)
from services.chassis import telemetry
print(json.dumps([
    done,
    [thread.name for thread in threading.enumerate()],
    type(opentelemetry.trace.get_tracer_provider()).__name__,
    type(telemetry.tracer()).__name__,
]))
"""


def test_nothing_happens_at_import():
    names = [f"services.{'.'.join(module_of(path))}".rstrip(".") for path in MODULES[1:]]
    done = subprocess.run(
        [sys.executable, "-B", "-c", IMPORT_ALL, str(ROOT / "services"), *names],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[], ["MainThread"], "ProxyTracerProvider", "NoOpTracer"]
