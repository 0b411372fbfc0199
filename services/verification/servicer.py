"""VerificationService over a verifier."""

from typing import Any

import grpc
from verity.v1 import verification_service_pb2 as pb
from verity.v1 import verification_service_pb2_grpc

from services.verification import messages, scoring
from services.verification.verifier import Verifier

Context = grpc.aio.ServicerContext[Any, Any]


class VerificationServicer(verification_service_pb2_grpc.VerificationServiceServicer):
    """Translates, checks, translates back."""

    def __init__(self, verifier: Verifier, weights: scoring.Weights) -> None:
        self._verifier = verifier
        self._weights = weights

    async def Verify(self, request: pb.VerifyRequest, _context: Context) -> pb.VerifyResponse:
        findings = await self._verifier.verify(
            [messages.to_statement(statement) for statement in request.statements],
            [messages.to_passage(passage) for passage in request.passages],
            request.as_of,
            min_coverage=request.min_coverage,
            without_judge=request.without_judge,
        )
        total = sum(len(statement.citations) for statement in request.statements)
        return messages.from_findings(findings, total, self._verifier.name)

    async def CheckGrounding(
        self, request: pb.CheckGroundingRequest, _context: Context
    ) -> pb.CheckGroundingResponse:
        facts = [messages.to_fact(index, fact) for index, fact in enumerate(request.facts)]
        claims = await self._verifier.check(request.answer, facts, request.as_of)
        return messages.from_claims(claims, self._verifier.name)

    async def ScoreConfidence(
        self, request: pb.ScoreConfidenceRequest, _context: Context
    ) -> pb.ScoreConfidenceResponse:
        confidence = scoring.score(
            [messages.to_scored(statement) for statement in request.statements],
            request.citations_total,
            request.citations_verified,
            self._weights,
        )
        return pb.ScoreConfidenceResponse(confidence=messages.from_confidence(confidence))
