"""A value that does not fit, in whatever service, is refused by the name it was given under."""

import asyncio
import json
import os
from importlib import import_module
from typing import get_args

import pytest
from pydantic import SecretStr, ValidationError

from services.chassis import server
from services.chassis.settings import Unreadable, faults, variable

SERVICES = ("gateway", "generation", "orchestrator", "retrieval", "verification")
NONSENSE = " \x00nonsense"
FREE = {"str", "SecretStr", "Path"}


def settings_of(service):
    return import_module(f"services.{service}.__main__").Settings


def bounded(field):
    """Whether there are values that do not fit."""
    names = {
        getattr(kind, "__name__", "") for kind in (field.annotation, *get_args(field.annotation))
    }
    return not names & FREE or any(hasattr(rule, "pattern") for rule in field.metadata)


TABLE = [
    (service, variable(name, field.validation_alias))
    for service in SERVICES
    for name, field in settings_of(service).model_fields.items()
    if bounded(field)
]


def refused(service):
    with pytest.raises((ValidationError, Unreadable)) as caught:
        settings_of(service)()
    return faults(caught.value)


@pytest.mark.parametrize(("service", "name"), TABLE)
def test_nonsense_is_refused_by_name_and_not_repeated(service, name, monkeypatch):
    monkeypatch.setattr(os, "environ", {**os.environ, name: NONSENSE})
    found = refused(service)
    assert name in [setting for setting, _ in found]
    assert "nonsense" not in str(found)


def test_each_service_has_settings_that_can_be_refused():
    assert {service for service, _ in TABLE} == set(SERVICES)
    assert len(TABLE) > 80


@pytest.mark.parametrize(
    ("service", "environment", "names"),
    [
        ("generation", {"VERITY_BACKEND": "openai"}, ["VERITY_MODEL"]),
        ("verification", {"VERITY_ENTAILMENT": "llm"}, ["VERITY_JUDGE_MODEL"]),
        ("verification", {"VERITY_ENTAILMENT": "cross-encoder"}, ["VERITY_CROSS_ENCODER_DIR"]),
        ("verification", {"VERITY_WEIGHT_COVERAGE": "0.9"}, ["VERITY_WEIGHT_"]),
        (
            "retrieval",
            {"VERITY_QDRANT_URL": "http://qdrant:6333", "VERITY_QDRANT_API_KEY": "hunter2"},
            ["VERITY_QDRANT_URL", "VERITY_QDRANT_API_KEY"],
        ),
        (
            "gateway",
            {"VERITY_CORS_ORIGINS": "*", "VERITY_CORS_CREDENTIALS": "true"},
            ["VERITY_CORS_ORIGINS", "VERITY_CORS_CREDENTIALS"],
        ),
        ("gateway", {"VERITY_CORS_ORIGINS": "desk.example"}, ["VERITY_CORS_ORIGINS"]),
    ],
)
def test_what_does_not_fit_together_is_refused_by_name(service, environment, names, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    said = str(refused(service))
    assert all(name in said for name in names)
    assert "hunter2" not in said


def test_a_setting_is_read_from_its_file_where_the_environment_does_not_name_it(
    tmp_path, monkeypatch
):
    (tmp_path / "VERITY_QDRANT_API_KEY").write_text("hunter2\n")
    (tmp_path / "VERITY_MAX_INGESTS").write_text("7\n")
    (tmp_path / "VERITY_GRACE_SECONDS").write_text("1\n")
    (tmp_path / "..data").mkdir()
    monkeypatch.setenv("VERITY_SECRETS_DIR", str(tmp_path))
    monkeypatch.setenv("VERITY_GRACE_SECONDS", "9")
    monkeypatch.setenv("VERITY_QDRANT_URL", "https://qdrant:6333")
    settings = settings_of("retrieval")()
    assert settings.qdrant_api_key == SecretStr("hunter2")
    assert (settings.max_ingests, settings.grace_seconds) == (7, 9)


@pytest.mark.parametrize("make", ["a_directory", "not_utf8"])
def test_a_secret_that_cannot_be_read_is_refused_by_name(make, tmp_path, monkeypatch):
    path = tmp_path / "OPENAI_API_KEY"
    if make == "a_directory":
        path.mkdir()
    else:
        path.write_bytes(b"\xff\xfe")
    monkeypatch.setenv("VERITY_SECRETS_DIR", str(tmp_path))
    ((setting, reason),) = refused("generation")
    assert setting == "OPENAI_API_KEY"
    assert "its file" in reason


def test_a_directory_of_secrets_that_is_none_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("VERITY_SECRETS_DIR", str(tmp_path / "gone"))
    assert refused("gateway") == [("VERITY_SECRETS_DIR", "this is no directory")]


def test_a_process_that_is_refused_says_so_in_one_line_for_each_and_ends(monkeypatch, capfd):
    monkeypatch.setenv("VERITY_MAX_INGESTS", "none")
    monkeypatch.setenv("VERITY_PARSE_SECONDS", "-1")

    async def main():
        await asyncio.sleep(0)
        settings_of("retrieval")()

    with pytest.raises(SystemExit) as ended:
        server.run(main)
    assert ended.value.code == 1
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert {line["setting"] for line in lines} == {"VERITY_MAX_INGESTS", "VERITY_PARSE_SECONDS"}
    assert {line["event"] for line in lines} == {"setting_refused"}
