"""`verity check`: any text against any sources, without an index and without a question."""

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from verity.v1 import core_pb2 as core
from verity.v1 import verification_service_pb2 as pb
from verity.v1 import verification_service_pb2_grpc as rpc_pb

from cli import json_view, options, output, plan, render, rpc, system
from cli.errors import CliError
from cli.processes import Processes

SERVICE = rpc.Service(
    plan.SERVICES["verification"],
    rpc_pb.VerificationServiceStub,
    idempotent=("CheckGrounding",),
)
NOT_SUPPORTED = 3


def check(
    *,
    answer: Annotated[
        Path, typer.Option(metavar="FILE", help="The text to check; - reads standard input.")
    ],
    source: Annotated[
        list[Path], typer.Option(metavar="FILE", help="A text it may rest on; several are allowed.")
    ],
    address: Annotated[
        str,
        typer.Option(envvar="VERITY_VERIFICATION_ADDRESS", help="The verifier's HOST:PORT."),
    ] = "",
    data_dir: options.DataDir = options.DEFAULT_DATA_DIR,
    timeout: options.Timeout = 60.0,
    as_json: options.Json = False,
) -> None:
    """Check each sentence of a text against its sources.

    Exit code 3 when any is not supported. Where no system is running, a verification process is
    started for this one call.
    """
    request = pb.CheckGroundingRequest(
        answer=sys.stdin.read() if str(answer) == "-" else _read(answer),
        facts=[pb.Fact(text=_read(path), source_name=path.name) for path in source],
    )
    target = address or system.addresses(data_dir).get("verification", "")

    async def work() -> pb.CheckGroundingResponse:
        if target:
            return await _check(target, request, timeout)
        return await _check_alone(request, timeout)

    reply = rpc.run("check", work)
    output.show(json_view.grounding_check(reply), render.grounding_check(reply), as_json=as_json)
    verdicts = {claim.statement.verdict for claim in reply.claims if claim.needs_check}
    if verdicts - {core.VERDICT_SUPPORTED}:
        raise typer.Exit(NOT_SUPPORTED)


async def _check(
    target: str, request: pb.CheckGroundingRequest, seconds: float
) -> pb.CheckGroundingResponse:
    async with rpc.reach(SERVICE, target) as stub:
        reply: pb.CheckGroundingResponse = await stub.CheckGrounding(request, timeout=seconds)
        return reply


async def _check_alone(
    request: pb.CheckGroundingRequest, seconds: float
) -> pb.CheckGroundingResponse:
    target = plan.free_address()
    spec = plan.service("verification", target, {"VERITY_BIND": target, "VERITY_METRICS_BIND": ""})
    with tempfile.TemporaryDirectory() as logs:
        async with Processes(Path(logs), lambda _: None) as started:
            await started.start(spec, seconds)
            return await _check(target, request, seconds)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise CliError(
            f"{path} is not text in UTF-8.",
            code="INVALID_ARGUMENT",
            hint="Ingest other files and ask of them.",
        ) from error
    except OSError as error:
        raise CliError(f"{path} cannot be read: {error.strerror}.", code="UNREADABLE") from error
