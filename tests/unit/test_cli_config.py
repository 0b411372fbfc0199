"""What `verity config` shows: every setting, where it comes from, and never a secret."""

import json
import re
from pathlib import Path

import pytest
from pydantic import SecretStr

from cli import surroundings, system
from cli.config import known, view
from cli.redaction import HIDDEN, shown
from cli.surroundings import Origin
from cli.unknown_names import OF_THE_COMMAND, unknown
from tests.cli_command import verity

CANARY = "canary-3141"
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("variable", "value", "printed"),
    [
        ("VERITY_QDRANT_API_KEY", SecretStr(CANARY), HIDDEN),
        ("VERITY_QDRANT_API_KEY", SecretStr(""), ""),
        ("VERITY_REDIS_URL", f"redis://:{CANARY}@memory:6379/0", f"redis://{HIDDEN}@memory:6379/0"),
        ("VERITY_REDIS_URL", f"redis://memory/0?password={CANARY}", f"redis://memory/0?password={HIDDEN}"),
        ("OPENAI_BASE_URL", f"http://m/v1?api-version=1&api-key={CANARY}#x", f"http://m/v1?api-version=1&api-key={HIDDEN}#x"),
        ("VERITY_SOME_PASSWORD", CANARY, HIDDEN),
        ("VERITY_JWT_AUDIENCE", "verity", "verity"),
        ("VERITY_MAX_OUTPUT_TOKENS", 4096, 4096),
        ("VERITY_TLS_KEY", Path("/etc/tls/tls.key"), "/etc/tls/tls.key"),
    ],
)  # fmt: skip
def test_a_secret_is_hidden_and_all_else_is_shown(variable, value, printed):
    assert shown(variable, value) == printed


async def test_every_setting_of_every_service_is_told_with_its_origin(tmp_path):
    (tmp_path / "OPENAI_API_KEY").write_text(CANARY)
    done = await verity(
        "config", "--effective", "--json", cwd=tmp_path,
        VERITY_SECRETS_DIR=str(tmp_path),
        VERITY_REDIS_URL=f"redis://user:{CANARY}@memory/0",
        VERITY_QDRANT_URL="https://qdrant:6333",
        VERITY_QDRANT_API_KEY=CANARY,
        VERITY_REDIS_ULR=CANARY,
    )  # fmt: skip
    assert done.code == 0
    assert CANARY not in done.stdout + done.stderr
    services = done.json["services"]
    assert set(services) == set(surroundings.SERVICES)
    for name in services:
        told = surroundings.told(name, {})
        assert set(services[name]["settings"]) == set(surroundings.names_of(told.settings))
    memory = services["orchestrator"]["settings"]["VERITY_REDIS_URL"]
    assert memory == {"value": f"redis://{HIDDEN}@memory/0", "from": "environment"}
    key = services["generation"]["settings"]["OPENAI_API_KEY"]
    assert key == {"value": HIDDEN, "from": "file"}
    assert services["retrieval"]["settings"]["VERITY_MAX_INGESTS"] == {
        "value": 4,
        "from": "default",
    }
    assert done.json["unknown"] == [{"name": "VERITY_REDIS_ULR", "nearest": "VERITY_REDIS_URL"}]


async def test_readers_get_a_table_of_what_differs_and_no_secret(tmp_path):
    done = await verity(
        "config", cwd=tmp_path, VERITY_QDRANT_URL="https://q:6333", VERITY_QDRANT_API_KEY=CANARY,
        VERITY_QUADRANT_URL="x",
    )  # fmt: skip
    assert done.code == 0
    assert CANARY not in done.stdout + done.stderr
    assert "VERITY_QDRANT_URL" in done.stdout
    assert "VERITY_PARSE_SECONDS" not in done.stdout
    assert "VERITY_QUADRANT_URL is no setting" in done.stdout


async def test_a_setting_that_is_refused_is_named_without_its_value(tmp_path):
    done = await verity(
        "config", "--effective", "--json", "--service", "generation", cwd=tmp_path,
        VERITY_MODEL_TOKEN_SECONDS=CANARY, VERITY_EXTRACTIVE_LIMIT="3",
    )  # fmt: skip
    assert done.code == 1
    assert CANARY not in done.stdout + done.stderr
    (service,) = done.json["services"].values()
    assert [one["name"] for one in service["refused"]] == ["VERITY_MODEL_TOKEN_SECONDS"]
    assert service["settings"]["VERITY_EXTRACTIVE_LIMIT"] == {"value": 3, "from": "environment"}


def test_what_verity_up_told_a_service_is_said_to_come_from_it(tmp_path):
    with system.claim(tmp_path) as claimed:
        claimed.publish({}, {"retrieval": {"VERITY_BIND": "127.0.0.1:50052"}})
        told = surroundings.all_told(tmp_path)
    assert told["retrieval"].get("bind") == "127.0.0.1:50052"
    assert told["retrieval"].origins["VERITY_BIND"] is Origin.UP
    assert told["generation"].origins["VERITY_BIND"] is Origin.DEFAULT
    assert surroundings.all_told(tmp_path)["retrieval"].origins["VERITY_BIND"] is Origin.DEFAULT


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("VERITY_QDRANT_URI", [("VERITY_QDRANT_URI", "VERITY_QDRANT_URL")]),
        ("verity_redis_uri", [("verity_redis_uri", "VERITY_REDIS_URL")]),
        ("VERITY_ZZZ", [("VERITY_ZZZ", "")]),
        ("VERITY_QDRANT_URL", []),
        ("VERITY_ADDRESS", []),
        ("PATH", []),
        ("VERITY_RETRIEVAL_PORT_50051_TCP_ADDR", []),
        ("VERITY_RETRIEVAL_SERVICE_HOST", []),
    ],
)
def test_a_name_that_is_no_setting_is_pointed_out_with_the_nearest(name, found):
    assert unknown([name], {"VERITY_QDRANT_URL", "VERITY_REDIS_URL"}) == found


def test_the_commands_own_names_are_known():
    sources = "".join(path.read_text() for path in ROOT.glob("cli/*.py"))
    told = {name: surroundings.told(name, {}) for name in surroundings.SERVICES}
    of_the_command = set(re.findall(r'envvar="(\w+)"', sources))
    assert of_the_command - known(told) == OF_THE_COMMAND


def test_a_service_that_is_not_installed_is_told_as_such(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name="onnxruntime")

    monkeypatch.setattr(surroundings.importlib, "import_module", missing)
    told = surroundings.told("retrieval", {})
    assert told.missing == "onnxruntime"
    json.dumps(view({"retrieval": told}, []))
