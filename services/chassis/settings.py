"""What every process can be told from outside, read from the environment once, at start."""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from services.chassis.trust import Trust

_PASSWORD = re.compile(r"://[^/@]*@")

SECRETS_DIR = "VERITY_SECRETS_DIR"


class Unreadable(ValueError):
    """A setting's file is there and cannot be read.

    Args:
        variable: The setting.
        reason: Why, without a word of what the file holds.
    """

    def __init__(self, variable: str, reason: str) -> None:
        super().__init__(f"{variable}: {reason}")
        self.variable, self.reason = variable, reason


class Settings(Trust):
    """The settings that every service has; a service adds its own in a subclass.

    Each field is read from VERITY_<NAME>, and else from a file of that name in the directory that
    VERITY_SECRETS_DIR names; a value that does not fit ends the process at start. Telemetry listens
    to the standard OTEL_* variables; those that switch something on are fields.
    """

    model_config = SettingsConfigDict(
        env_prefix="VERITY_",
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,  # A mistyped secret must not land in a traceback.
        populate_by_name=True,
    )

    # Where files hold settings, each named as its variable; empty: nowhere.
    secrets_dir: str = ""
    bind: str = Field(default="127.0.0.1:0", pattern=r"^.+:\d+$")
    metrics_bind: str = Field(default="", pattern=r"^(.+:\d+)?$")
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    max_in_flight: int = Field(default=64, ge=1)
    # Long enough for clients to hear that nothing more is to be sent, and for what is on its way to
    # arrive; behind a load balancer, longer than it takes to notice.
    drain_seconds: float = Field(default=0.5, ge=0)
    grace_seconds: float = Field(default=20.0, ge=0)
    max_connection_age_seconds: float = Field(default=300.0, ge=1)
    # Where health alone is answered, in the clear; empty: only where calls are.
    health_bind: str = Field(default="", pattern=r"^(.+:\d+)?$")

    otlp_endpoint: str = Field(default="", validation_alias="OTEL_EXPORTER_OTLP_ENDPOINT")
    otlp_traces_endpoint: str = Field(
        default="", validation_alias="OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
    )
    otlp_metrics_endpoint: str = Field(
        default="", validation_alias="OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic passes all by name
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What is said in code, then the environment, then files."""
        files = EnvSettingsSource(settings_cls)
        variables = [
            variable(name, field.validation_alias) for name, field in cls.model_fields.items()
        ]
        files.env_vars = {
            name.lower(): value
            for name, value in in_files(os.environ.get(SECRETS_DIR, ""), variables).items()
        }
        return init_settings, env_settings, files

    def printable(self) -> dict[str, Any]:
        """The effective settings, with every SecretStr and every password in a URL hidden."""
        return {
            name: _PASSWORD.sub("://**********@", value) if isinstance(value, str) else value
            for name, value in self.model_dump(mode="json").items()
        }


def variable(name: str, alias: object = None) -> str:
    """What a field is called outside."""
    return alias if isinstance(alias, str) else f"VERITY_{name.upper()}"


def in_files(directory: str, variables: Iterable[str]) -> dict[str, str]:
    """Those settings that are files in the directory; the line break at a file's end is none of it.

    Raises Unreadable.
    """
    if not directory:
        return {}
    if not Path(directory).is_dir():
        raise Unreadable(SECRETS_DIR, "this is no directory")
    found = {}
    for name in variables:
        try:
            found[name] = Path(directory, name).read_text("utf-8").rstrip("\r\n")
        except FileNotFoundError:
            continue
        except OSError as error:
            raise Unreadable(name, f"its file cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise Unreadable(name, "its file is not UTF-8") from None
    return found


def faults(error: ValidationError | Unreadable) -> list[tuple[str, str]]:
    """Which settings do not fit, and why; a rule of several names them itself, and has no name."""
    if isinstance(error, Unreadable):
        return [(error.variable, error.reason)]
    found = []
    for fault in error.errors():
        name = str(fault["loc"][0]) if fault["loc"] else ""
        known = name if name.isupper() or not name else variable(name)
        found.append((known, fault["msg"].removeprefix("Value error, ")))
    return found
