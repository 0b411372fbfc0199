"""Runs the `verity` command as a user does: a process of its own, its output and its exit code.

Each is forked from a process that has imported the command and done nothing else: importing takes
half a second, and there are many.
"""

import asyncio
import json
import multiprocessing
import os
import signal
import sys
import tempfile
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from verity.v1 import (
    grounding_service_pb2_grpc,
    retrieval_service_pb2_grpc,
    verification_service_pb2_grpc,
)

from cli.__main__ import run
from services.chassis.server import Service, serving
from services.chassis.settings import Settings

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([__name__])

ADD = {
    "GroundingService": grounding_service_pb2_grpc.add_GroundingServiceServicer_to_server,
    "RetrievalService": retrieval_service_pb2_grpc.add_RetrievalServiceServicer_to_server,
    "VerificationService": verification_service_pb2_grpc.add_VerificationServiceServicer_to_server,
}
METHODS = {
    "GroundingService": (
        "Ask",
        "AskStream",
        "GetAnswer",
        "ListAnswers",
        "ListConversations",
        "GetGroundingQuality",
    ),
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
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder, name) for name in ("stdin", "stdout", "stderr")]
        streams[0].write_text(stdin)
        shell = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", **environment}
        process = PROCESSES.Process(target=_command, args=(arguments, cwd, shell, streams))
        process.start()
        try:
            await asyncio.to_thread(process.join, 30)
            assert process.exitcode is not None, "the command did not end"
            return Finished(process.exitcode, streams[1].read_text(), streams[2].read_text())
        finally:
            process.kill()
            process.join()
            process.close()


def _command(arguments, cwd, environment, streams) -> None:
    """What happens in the process of the command."""
    # A suite that runs in the background of a shell has Ctrl-C ignored, and so would this.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for number, stream in enumerate(streams):
        os.dup2(os.open(stream, os.O_RDWR | os.O_CREAT), number)
    sys.stdin = os.fdopen(0)
    sys.exit(run(arguments))


@asynccontextmanager
async def served(name: str, servicer):
    """A fake service on a real channel; its address."""
    service = Service(f"verity.v1.{name}", ADD[name], servicer, dict.fromkeys(METHODS[name], 10.0))
    async with serving(service, Settings()) as running:
        yield running.address
