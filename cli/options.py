"""The options that several commands share, written once."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Timeout = Annotated[
    float, typer.Option("--timeout", min=0.1, metavar="SECONDS", help="The most one call may take.")
]
DataDir = Annotated[
    Path,
    typer.Option(
        "--data-dir",
        envvar="VERITY_DATA_DIR",
        metavar="DIR",
        help="Where the system keeps what it knows, and says where it runs.",
    ),
]
OrchestratorAddress = Annotated[
    str,
    typer.Option("--address", envvar="VERITY_ADDRESS", help="The orchestrator's HOST:PORT."),
]
RetrievalAddress = Annotated[
    str,
    typer.Option(
        "--address",
        envvar="VERITY_RETRIEVAL_ADDRESS",
        help="The retrieval service's HOST:PORT.",
    ),
]
DEFAULT_DATA_DIR = Path("var")


class Authority(StrEnum):
    """How much weight a source carries."""

    HIGH = "high"
    MEDIUM = "medium"
    STANDARD = "standard"
