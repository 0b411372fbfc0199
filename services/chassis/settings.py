"""What every process can be told from outside, read from the environment once, at start."""

import re
from typing import Any, Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

_PASSWORD = re.compile(r"://[^/@]*@")


class Settings(BaseSettings):
    """The settings that every service has; a service adds its own in a subclass.

    Each field is read from VERITY_<NAME>; a value that does not fit ends the process at start.
    Telemetry listens to the standard OTEL_* variables; those that switch something on are fields.
    """

    model_config = SettingsConfigDict(
        env_prefix="VERITY_",
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,  # A mistyped secret must not land in a traceback.
        populate_by_name=True,
    )

    bind: str = Field(default="127.0.0.1:0", pattern=r"^.+:\d+$")
    metrics_bind: str = Field(default="", pattern=r"^(.+:\d+)?$")
    profile: Literal["dev", "prod"] = "dev"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    max_in_flight: int = Field(default=64, ge=1)
    # Long enough for clients to hear that nothing more is to be sent, and for what is on its way to
    # arrive; behind a load balancer, longer than it takes to notice.
    drain_seconds: float = Field(default=0.5, ge=0)
    grace_seconds: float = Field(default=20.0, ge=0)
    max_connection_age_seconds: float = Field(default=300.0, ge=1)
    otlp_endpoint: str = Field(default="", validation_alias="OTEL_EXPORTER_OTLP_ENDPOINT")
    otlp_traces_endpoint: str = Field(
        default="", validation_alias="OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
    )
    otlp_metrics_endpoint: str = Field(
        default="", validation_alias="OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"
    )

    def printable(self) -> dict[str, Any]:
        """The effective settings, with every SecretStr and every password in a URL hidden."""
        return {
            name: _PASSWORD.sub("://**********@", value) if isinstance(value, str) else value
            for name, value in self.model_dump(mode="json").items()
        }
