"""settings.env tells of every setting there is, and of none that is gone."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from services.chassis import settings as chassis

ROOT = Path(__file__).parents[2]


def setting_classes():
    mains = sorted(ROOT.glob("services/*/__main__.py"))
    return [import_module(f"services.{main.parent.name}.__main__").Settings for main in mains]


def variable(name, field):
    return field.validation_alias or f"VERITY_{name.upper()}"


def documented():
    """Variable: (default, comment)."""
    found = {}
    comment = ""
    for line in (ROOT / "settings.env").read_text().splitlines():
        if line.startswith("# "):
            comment += line
        elif line:
            name, _, default = line.partition("=")
            assert name not in found, f"{name} is documented twice"
            found[name] = (default, comment)
            comment = ""
        else:
            comment = ""
    return found


def of_services():
    return {
        variable(name, field)
        for settings in setting_classes()
        for name, field in settings.model_fields.items()
    }


def of_the_command():
    sources = "".join(path.read_text() for path in ROOT.glob("cli/*.py"))
    return set(re.findall(r'envvar="(\w+)"', sources))


def test_every_setting_is_documented_and_every_documented_setting_exists():
    assert set(documented()) == of_services() | of_the_command()


def test_each_documented_setting_says_what_it_is():
    assert [name for name, (_, comment) in documented().items() if not comment] == []


def test_the_documented_defaults_are_the_defaults(monkeypatch):
    monkeypatch.delenv("VERITY_DRAIN_SECONDS")
    defaults = {settings: settings() for settings in setting_classes()}
    for name, (default, _) in documented().items():
        monkeypatch.setenv(name, default)
    for settings, built_in in defaults.items():
        assert settings() == built_in


def test_a_value_that_does_not_fit_is_refused_without_repeating_it(monkeypatch):
    monkeypatch.setenv("VERITY_GRACE_SECONDS", "hunter2")
    with pytest.raises(ValidationError) as caught:
        chassis.Settings()
    assert "grace_seconds" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("bind", ["50051", "localhost", "localhost:", "localhost:grpc"])
def test_an_address_has_a_host_and_a_port(bind):
    with pytest.raises(ValidationError):
        chassis.Settings(bind=bind)


def test_a_setting_that_does_not_exist_is_refused():
    with pytest.raises(ValidationError):
        chassis.Settings(grace_secs=1)


def test_the_otlp_endpoint_is_read_from_the_standard_variable(monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317")
    assert chassis.Settings().otlp_endpoint == "http://collector:4317"


def test_printed_settings_hide_every_secret():
    class Settings(chassis.Settings):
        api_key: SecretStr = SecretStr("hunter2")
        redis_url: str = "redis://user:hunter2@memory:6379/0"
        limit: int = 3

    printed = Settings().printable()
    assert "hunter2" not in str(printed)
    assert printed["redis_url"] == "redis://**********@memory:6379/0"
    assert printed["limit"] == 3
