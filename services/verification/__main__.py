"""The verification service's process: reads settings, builds the verifier, serves."""

import math
from collections.abc import AsyncIterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, model_validator
from verity.v1 import verification_service_pb2_grpc

from services.chassis import cpu, settings, telemetry
from services.chassis.server import Service, run, serve
from services.verification.entailment import MIN_COVERAGE, Judge
from services.verification.evidence import Passage
from services.verification.judges.embedded import EmbeddedJudge, load
from services.verification.judging import Bench
from services.verification.scoring import Weights
from services.verification.servicer import VerificationServicer
from services.verification.support import Scorer
from services.verification.verifier import Verifier


class Settings(settings.Settings):
    """The verification service's settings."""

    # Share of a statement's content words that its cited words must carry; see entailment.py.
    min_coverage: float = Field(MIN_COVERAGE, gt=0, le=1)
    # Whether drafts are held to the words they cite, or may say it in their own; see closeness.py.
    drafts: Literal["close", "free"] = "close"
    # Who judges what passes every other check.
    entailment: Literal["none", "embedded", "cross-encoder", "llm"] = "none"
    # The probability below which it objects; 0: its own, which is 0.5 but for the embedded scorer.
    entailment_threshold: float = Field(0, ge=0, le=1)
    # Statements it judges at once, over all calls.
    judge_at_once: int = Field(8, ge=1)
    # cross-encoder: the model's directory.
    cross_encoder_dir: str = ""
    # llm: the model, and how it is asked. The OPENAI_* names are those every such tool reads.
    judge_model: str = Field("", max_length=200)
    openai_base_url: str = Field("", validation_alias="OPENAI_BASE_URL")
    openai_api_key: SecretStr = Field(SecretStr(""), validation_alias="OPENAI_API_KEY")
    judge_output: Literal["json_schema", "json_object"] = "json_schema"
    judge_prompt: str = Field("judge-1", pattern=r"^[a-z0-9-]+$")
    judge_seconds: float = Field(10.0, gt=0)
    # What each figure counts in the grounding confidence; together they make 1.
    weight_citation_accuracy: float = Field(0.6, ge=0, le=1)
    weight_source_authority: float = Field(0.3, ge=0, le=1)
    weight_coverage: float = Field(0.1, ge=0, le=1)

    @model_validator(mode="after")
    def _the_judge_is_named(self) -> "Settings":
        if self.entailment == "llm" and not self.judge_model:
            raise ValueError("entailment llm needs a model: set VERITY_JUDGE_MODEL")
        if self.entailment == "cross-encoder" and not self.cross_encoder_dir:
            raise ValueError("entailment cross-encoder needs VERITY_CROSS_ENCODER_DIR")
        return self

    @model_validator(mode="after")
    def _weights_make_one(self) -> "Settings":
        total = self.weight_citation_accuracy + self.weight_source_authority + self.weight_coverage
        if not math.isclose(total, 1, abs_tol=1e-9):
            raise ValueError("the three VERITY_WEIGHT_* settings must make 1 together")
        return self


EVEN = 0.5


@asynccontextmanager
async def open_judge(
    settings: Settings, executor: Executor, scorer: Scorer
) -> AsyncIterator[Judge | None]:
    """The judge that the settings name. What needs a library is imported where it is wanted."""
    threshold = settings.entailment_threshold
    match settings.entailment:
        case "none":
            yield None
        case "embedded":
            yield EmbeddedJudge(scorer, executor, threshold or scorer.threshold)
        case "cross-encoder":
            from services.verification.judges import cross_encoder  # noqa: PLC0415 - most have no judge

            directory = Path(settings.cross_encoder_dir)
            model = cross_encoder.load(directory)
            yield cross_encoder.CrossEncoderJudge(
                directory.name, model, executor, threshold or EVEN
            )
        case "llm":
            from services.verification.judges import llm, prompt  # noqa: PLC0415 - most have no judge

            endpoint = llm.Endpoint(
                settings.judge_model,
                settings.openai_base_url,
                settings.openai_api_key,
                settings.judge_output,
                settings.judge_seconds,
            )
            rules = prompt.load(settings.judge_prompt)
            async with llm.open_judge(endpoint, rules, threshold or EVEN) as judge:
                yield judge


async def main() -> None:
    settings = Settings()
    weights = Weights(
        settings.weight_citation_accuracy,
        settings.weight_source_authority,
        settings.weight_coverage,
    )
    with (
        telemetry.configured("verification", settings),
        ThreadPoolExecutor(cpu.threads(), "verification") as executor,
    ):
        scorer = load()
        async with open_judge(settings, executor, scorer) as judge:
            bench = Bench(judge, settings.judge_at_once) if judge else None
            verifier = Verifier(
                executor,
                settings.min_coverage,
                bench,
                scorer.probability,
                drafts_are_close=settings.drafts == "close",
            )
            await serve(
                Service(
                    "verity.v1.VerificationService",
                    verification_service_pb2_grpc.add_VerificationServiceServicer_to_server,
                    VerificationServicer(verifier, weights),
                    {"Verify": 30.0, "CheckGrounding": 60.0, "ScoreConfidence": 5.0},
                ),
                settings,
                # The sentence model is read on first use.
                warm_up=lambda: verifier.check("Ready.", [Passage("0", "Ready.")]),
            )


if __name__ == "__main__":
    run(main)
