"""The verification service's process: reads settings, builds the verifier, serves."""

import math
from concurrent.futures import ThreadPoolExecutor

from pydantic import Field, model_validator
from verity.v1 import verification_service_pb2_grpc

from services.chassis import cpu, settings, telemetry
from services.chassis.server import Service, run, serve
from services.verification.entailment import MIN_COVERAGE
from services.verification.evidence import Passage
from services.verification.scoring import Weights
from services.verification.servicer import VerificationServicer
from services.verification.verifier import Verifier


class Settings(settings.Settings):
    """The verification service's settings."""

    # Share of a statement's content words that its cited words must carry; see entailment.py.
    min_coverage: float = Field(MIN_COVERAGE, gt=0, le=1)
    # What each figure counts in the grounding confidence; together they make 1.
    weight_citation_accuracy: float = Field(0.6, ge=0, le=1)
    weight_source_authority: float = Field(0.3, ge=0, le=1)
    weight_coverage: float = Field(0.1, ge=0, le=1)

    @model_validator(mode="after")
    def _weights_make_one(self) -> "Settings":
        total = self.weight_citation_accuracy + self.weight_source_authority + self.weight_coverage
        if not math.isclose(total, 1, abs_tol=1e-9):
            raise ValueError("the three VERITY_WEIGHT_* settings must make 1 together")
        return self


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
        verifier = Verifier(executor, settings.min_coverage)
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
