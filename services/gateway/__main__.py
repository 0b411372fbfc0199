"""Starts the gateway: reads its settings, opens its channels, serves HTTP."""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from services.chassis import authentication, garbage, settings, telemetry
from services.chassis.server import run
from services.gateway.app import Draining, Edge, build
from services.gateway.server import Serving, serving, until_asked_to_stop
from services.gateway.upstream import Deadlines, connected


class Settings(settings.Settings):
    """The gateway's settings."""

    gateway_bind: str = Field(default="127.0.0.1:8000", pattern=r"^.+:\d+$")
    orchestrator_target: str = "127.0.0.1:50051"
    retrieval_target: str = "127.0.0.1:50052"
    generation_target: str = "127.0.0.1:50053"
    verification_target: str = "127.0.0.1:50054"
    # The built page.
    page_dir: Path = Path("web/dist")

    # Joined by commas, each: origins that may call, names it is asked under, proxies it believes.
    cors_origins: str = ""
    cors_credentials: bool = False
    allowed_hosts: str = ""
    trusted_proxies: str = ""

    rate_per_second: float = Field(default=50.0, ge=0)
    rate_burst: int = Field(default=200, ge=1)
    # As much as a message may have.
    max_body_bytes: int = Field(default=16 * 1024 * 1024, ge=1024)
    heartbeat_seconds: float = Field(default=15.0, gt=0)

    # The most a call may take, whatever its client allows.
    call_seconds: float = Field(default=30.0, gt=0)
    ask_seconds: float = Field(default=120.0, gt=0)
    ingest_seconds: float = Field(default=1800.0, gt=0)

    @field_validator("cors_origins")
    @classmethod
    def _origins(cls, value: str) -> str:
        for origin in listed(value):
            parts = urlsplit(origin)
            whole = f"{parts.scheme}://{parts.netloc}"
            if origin != "*" and (parts.scheme not in {"http", "https"} or origin != whole):
                raise ValueError(
                    "an origin is http:// or https:// and a host, and nothing after it"
                )
        return value

    @model_validator(mode="after")
    def _callers_have_tokens(self) -> Self:
        if self.auth == "mtls":
            raise ValueError("callers over HTTP have no certificates here: VERITY_AUTH=jwt or none")
        return self

    @model_validator(mode="after")
    def _no_wildcard_with_credentials(self) -> "Settings":
        if self.cors_credentials and "*" in listed(self.cors_origins):
            raise ValueError(
                "VERITY_CORS_CREDENTIALS needs VERITY_CORS_ORIGINS that are named, not *"
            )
        return self


def listed(value: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in value.split(",") if item.strip())


async def main() -> None:
    settings = Settings()
    draining = Draining()
    async with AsyncExitStack() as stack:
        stack.enter_context(telemetry.configured("gateway", settings))
        upstream = await stack.enter_async_context(
            connected(
                {
                    "verity.v1.GroundingService": settings.orchestrator_target,
                    "verity.v1.RetrievalService": settings.retrieval_target,
                    "verity.v1.GenerationService": settings.generation_target,
                    "verity.v1.VerificationService": settings.verification_target,
                },
                Deadlines(settings.call_seconds, settings.ask_seconds, settings.ingest_seconds),
                settings.tls,
            )
        )
        edge = Edge(
            origins=listed(settings.cors_origins),
            credentials=settings.cors_credentials,
            hosts=frozenset(name.lower() for name in listed(settings.allowed_hosts)),
            rate_per_second=settings.rate_per_second,
            rate_burst=settings.rate_burst,
            max_in_flight=settings.max_in_flight,
            max_body_bytes=settings.max_body_bytes,
            heartbeat_seconds=settings.heartbeat_seconds,
        )
        how = Serving(
            settings.gateway_bind,
            settings.drain_seconds,
            settings.grace_seconds,
            settings.trusted_proxies,
        )
        authenticator = await stack.enter_async_context(authentication.opened(settings))
        app = build(upstream, edge, settings.page_dir, draining, authenticator)
        async with serving(app, how, draining):
            garbage.leave_what_stays()
            await until_asked_to_stop()


if __name__ == "__main__":
    run(main)
