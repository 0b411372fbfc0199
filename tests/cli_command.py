"""Runs the `verity` command as a user does: a process of its own, its output and its exit code."""

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass

from verity.v1 import (
    grounding_service_pb2_grpc,
    retrieval_service_pb2_grpc,
    verification_service_pb2_grpc,
)

from services.chassis.server import Service, serving
from services.chassis.settings import Settings

ADD = {
    "GroundingService": grounding_service_pb2_grpc.add_GroundingServiceServicer_to_server,
    "RetrievalService": retrieval_service_pb2_grpc.add_RetrievalServiceServicer_to_server,
    "VerificationService": verification_service_pb2_grpc.add_VerificationServiceServicer_to_server,
}
METHODS = {
    "GroundingService": ("Ask", "AskStream", "GetAnswer", "ListAnswers", "GetGroundingQuality"),
    "RetrievalService": (
        "IngestDocument",
        "Retrieve",
        "GetDocument",
        "ListDocuments",
        "DeleteDocument",
        "GetPassage",
        "RenderPage",
    ),
    "VerificationService": ("Verify", "CheckGrounding", "ScoreConfidence"),
}


@dataclass(frozen=True)
class Finished:
    code: int
    stdout: str
    stderr: str

    @property
    def json(self):
        """The one object on standard output; fails when there is anything else."""
        return json.loads(self.stdout)


async def verity(*arguments: str, cwd, stdin: str = "", **environment: str) -> Finished:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "cli",
        *arguments,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1", **environment},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(30):
        out, err = await process.communicate(stdin.encode())
    return Finished(process.returncode, out.decode(), err.decode())


@asynccontextmanager
async def served(name: str, servicer):
    """A fake service on a real channel; its address."""
    service = Service(f"verity.v1.{name}", ADD[name], servicer, dict.fromkeys(METHODS[name], 10.0))
    async with serving(service, Settings()) as running:
        yield running.address
