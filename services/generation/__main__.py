"""The generation service's process: reads settings, builds the drafter, serves."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Literal

import nupunkt
from pydantic import Field, SecretStr, model_validator
from verity.v1 import generation_service_pb2_grpc

from services.chassis import cpu, settings, telemetry
from services.chassis.dependencies import Dependency, unreachable
from services.chassis.server import Service, run, serve
from services.generation import prompt
from services.generation.drafter import Drafter
from services.generation.endpoint import Endpoint
from services.generation.extractive import ExtractiveDrafter, Extractor, Rules
from services.generation.measured import Measured
from services.generation.modes import Mode
from services.generation.servicer import GenerationServicer
from services.generation.spending import Prices, Spending

METHODS = ("Generate", "GenerateStream", "ResolveQuestion")


class Settings(settings.Settings):
    """The generation service's settings."""

    # auto: a model where one is named.
    backend: Literal["auto", "extractive", "openai"] = "auto"
    # Share of a question, by weight, that a sentence must cover to be an answer; see extractive.py.
    extractive_cut: float = Field(default=0.46, ge=0, le=1)
    extractive_limit: int = Field(default=4, ge=1, le=20)
    model: str = Field(default="", max_length=200)
    # Empty: OpenAI's own. The names are those every OpenAI-compatible tool reads.
    openai_base_url: str = Field(default="", validation_alias="OPENAI_BASE_URL")
    openai_api_key: SecretStr = Field(default=SecretStr(""), validation_alias="OPENAI_API_KEY")
    structured_output: Literal["auto"] | Mode = "auto"
    prompt: str = Field(default="prompt-2", pattern=r"^[a-z0-9-]+$")
    model_context_tokens: int = Field(default=0, ge=0)
    model_connect_seconds: float = Field(default=5.0, gt=0)
    model_first_token_seconds: float = Field(default=60.0, gt=0)
    model_token_seconds: float = Field(default=20.0, gt=0)
    model_total_seconds: float = Field(default=90.0, gt=0)
    max_output_tokens: int = Field(default=4096, ge=1)
    model_input_price: float = Field(default=0.0, ge=0)
    model_output_price: float = Field(default=0.0, ge=0)
    model_tokens_per_hour: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _a_model_is_named(self) -> "Settings":
        if self.backend == "openai" and not self.model:
            raise ValueError("backend openai needs a model: set VERITY_MODEL")
        return self

    @property
    def asks_a_model(self) -> bool:
        return self.backend == "openai" or (self.backend == "auto" and bool(self.model))


@asynccontextmanager
async def open_extractive(settings: Settings) -> AsyncIterator[Drafter]:
    """The drafter that needs no model, and so stands in for one that is down."""
    tokenizer = await asyncio.to_thread(nupunkt.load, "default")
    rules = Rules(cut=settings.extractive_cut, limit=settings.extractive_limit)
    with ThreadPoolExecutor(cpu.threads(), "extractive") as executor:
        yield ExtractiveDrafter(Extractor(tokenizer, rules), executor)


@asynccontextmanager
async def open_drafter(settings: Settings) -> AsyncIterator[Drafter]:
    """The drafter of the backend that the settings name."""
    if not settings.asks_a_model:
        async with open_extractive(settings) as drafter:
            yield drafter
    else:
        # Here, so that a process without a model does not pay for LangChain: 1 s and 50 MB.
        from services.generation.capabilities import known  # noqa: PLC0415
        from services.generation.model import open_model  # noqa: PLC0415
        from services.generation.openai import OpenAIDrafter  # noqa: PLC0415

        endpoint = Endpoint(
            settings.model,
            settings.openai_base_url,
            settings.openai_api_key.get_secret_value(),
            settings.model_connect_seconds,
            settings.model_first_token_seconds,
            settings.model_token_seconds,
            settings.model_total_seconds,
            settings.max_output_tokens,
        )
        wanted = settings.structured_output
        pinned = None if wanted == "auto" else Mode(wanted)
        prices = Prices(
            settings.model_input_price, settings.model_output_price, settings.model_tokens_per_hour
        )
        async with (
            open_model(endpoint) as model,
            known(model, pinned, settings.model_context_tokens) as capabilities,
        ):
            yield OpenAIDrafter(
                model,
                capabilities,
                prompt.load(settings.prompt),
                prompt.load("resolve-1"),
                Spending(endpoint.model, prices),
            )


def needs(settings: Settings) -> list[Dependency]:
    """What the service needs, and what to do about it."""
    if not settings.asks_a_model:
        return []
    url = Endpoint(settings.model, settings.openai_base_url).url
    return [
        Dependency("model", partial(unreachable, url), "start the endpoint, see OPENAI_BASE_URL")
    ]


async def main() -> None:
    settings = Settings()
    with telemetry.configured("generation", settings):
        async with open_drafter(settings) as drafter, open_extractive(settings) as extractive:
            await serve(
                Service(
                    "verity.v1.GenerationService",
                    generation_service_pb2_grpc.add_GenerationServiceServicer_to_server,
                    GenerationServicer(Measured(drafter), Measured(extractive)),
                    dict.fromkeys(METHODS, settings.model_total_seconds + 5),
                    needs(settings),
                ),
                settings,
            )


if __name__ == "__main__":
    run(main)
