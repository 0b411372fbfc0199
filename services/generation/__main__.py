"""The generation service's process: reads settings, builds the drafter, serves."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Literal

import nupunkt
from pydantic import Field, SecretStr, model_validator
from verity.v1 import generation_service_pb2_grpc

from services.chassis import cpu, settings, telemetry
from services.chassis.server import Service, run, serve
from services.generation import prompt
from services.generation.drafter import Drafter
from services.generation.extractive import ExtractiveDrafter, Extractor, Rules
from services.generation.measured import Measured
from services.generation.servicer import GenerationServicer

METHODS = ("Generate", "GenerateStream", "ResolveQuestion")


class Settings(settings.Settings):
    """The generation service's settings."""

    backend: Literal["extractive", "openai"] = "extractive"
    # Share of a question, by weight, that a sentence must cover to be an answer; see extractive.py.
    extractive_cut: float = Field(default=0.475, ge=0, le=1)
    extractive_limit: int = Field(default=4, ge=1, le=20)
    model: str = Field(default="", max_length=200)
    # Empty: OpenAI's own. The names are those every OpenAI-compatible tool reads.
    openai_base_url: str = Field(default="", validation_alias="OPENAI_BASE_URL")
    openai_api_key: SecretStr = Field(default=SecretStr(""), validation_alias="OPENAI_API_KEY")
    structured_output: Literal["json_schema", "function_calling", "json_object"] = "json_schema"
    prompt: str = Field(default="prompt-1", pattern=r"^[a-z0-9-]+$")
    model_connect_seconds: float = Field(default=5.0, gt=0)
    model_read_seconds: float = Field(default=60.0, gt=0)
    model_total_seconds: float = Field(default=90.0, gt=0)
    max_output_tokens: int = Field(default=4096, ge=1)

    @model_validator(mode="after")
    def _a_model_is_named(self) -> "Settings":
        if self.backend == "openai" and not self.model:
            raise ValueError("backend openai needs a model: set VERITY_MODEL")
        return self


@asynccontextmanager
async def open_drafter(settings: Settings) -> AsyncIterator[Drafter]:
    """The drafter of the backend that the settings name."""
    if settings.backend == "extractive":
        tokenizer = await asyncio.to_thread(nupunkt.load, "default")
        rules = Rules(cut=settings.extractive_cut, limit=settings.extractive_limit)
        with ThreadPoolExecutor(cpu.threads(), "extractive") as executor:
            yield ExtractiveDrafter(Extractor(tokenizer, rules), executor)
    else:
        # Here, so that a process without a model does not pay for LangChain: 1 s and 50 MB.
        from services.generation.openai import (  # noqa: PLC0415
            Endpoint,
            OpenAIDrafter,
            open_model,
        )

        endpoint = Endpoint(
            settings.model,
            settings.openai_base_url,
            settings.openai_api_key,
            settings.structured_output,
            settings.model_connect_seconds,
            settings.model_read_seconds,
            settings.model_total_seconds,
            settings.max_output_tokens,
        )
        async with open_model(endpoint) as model:
            yield OpenAIDrafter(endpoint, prompt.load(settings.prompt), model)


async def main() -> None:
    settings = Settings()
    with telemetry.configured("generation", settings):
        async with open_drafter(settings) as drafter:
            await serve(
                Service(
                    "verity.v1.GenerationService",
                    generation_service_pb2_grpc.add_GenerationServiceServicer_to_server,
                    GenerationServicer(Measured(drafter)),
                    dict.fromkeys(METHODS, settings.model_total_seconds + 5),
                ),
                settings,
            )


if __name__ == "__main__":
    run(main)
