"""The model that a local system asks: one at an endpoint, or a script that is played here."""

import asyncio
import contextlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from cli import plan
from cli.processes import Spec
from cli.scripted_model import script
from cli.scripted_model.profiles import PROFILES

SCRIPTED = "scripted:"


@dataclass(frozen=True, slots=True)
class Model:
    """What the services are told of the model, and its process where it is played here."""

    environment: Mapping[str, str] = field(default_factory=dict)
    part: plan.Part | None = None


def chosen(name: str) -> Model:
    """The model of that name at the endpoint of OPENAI_BASE_URL, or that of "scripted:FILE"."""
    if not name.startswith(SCRIPTED):
        return Model({"VERITY_MODEL": name} if name else {})
    path = Path(name.removeprefix(SCRIPTED))
    played = script.load(path)
    address = plan.free_address()
    port = address.rpartition(":")[2]
    spec = Spec(
        name="model",
        log="model.jsonl",
        command=(
            sys.executable, "-m", "cli.scripted_model", str(path.resolve()), "--port", port
        ),
        ready=partial(_listening, address),
        stop_order=3,
    )  # fmt: skip
    azure = f"/openai/deployments/{played.model}?api-version=2024-10-21"
    told = {
        "OPENAI_BASE_URL": f"http://{address}" + (
            azure if PROFILES[played.profile].is_azure else "/v1"
        ),
        "OPENAI_API_KEY": "scripted",
        "VERITY_MODEL": played.model,
    }  # fmt: skip
    return Model(told, plan.Part(spec, address))


async def _listening(address: str) -> None:
    """Returns when the endpoint lists its models."""
    host, _, port = address.rpartition(":")
    while True:
        with contextlib.suppress(OSError):  # Not yet.
            reader, writer = await asyncio.open_connection(host, int(port))
            try:
                writer.write(b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n")
                if b" 200 " in await reader.readline():
                    return
            finally:
                writer.close()
        await asyncio.sleep(0.05)
