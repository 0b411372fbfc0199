"""`verity up`: the whole system on this machine, as processes of its own that are kept alive."""

import asyncio
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import psutil
import typer
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text
from verity.v1 import grounding_service_pb2 as pb

from cli import ask, ingest, json_view, options, output, plan, render, rpc, samples, system
from cli import model as local_model
from cli.errors import FAILED, USAGE, CliError
from cli.processes import Processes
from cli.text import clean, plain
from services.chassis import telemetry

ASK_SECONDS, INGEST_SECONDS = 120.0, 600.0


class Backend(StrEnum):
    """What drafts the answers."""

    AUTO = "auto"
    EXTRACTIVE = "extractive"
    OPENAI = "openai"


def up(
    *,
    data_dir: options.DataDir = options.DEFAULT_DATA_DIR,
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, help="The orchestrator's; the agents take the next three."),
    ] = 50051,
    redis_port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="56379, or any when --port is 0.")
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="The first of five; 9464, or any when --port is 0."),
    ] = None,
    gateway_bind: Annotated[
        str,
        typer.Option(
            envvar="VERITY_GATEWAY_BIND",
            metavar="HOST:PORT",
            help="The page and the HTTP API; 127.0.0.1:8000, or any port when --port is 0. "
            "A taken port is replaced by a free one.",
        ),
    ] = "",
    model: Annotated[
        str,
        typer.Option(
            envvar="VERITY_MODEL",
            metavar="NAME",
            help="The model at OPENAI_BASE_URL, or scripted:FILE for one that plays a script.",
        ),
    ] = "",
    backend: Annotated[
        Backend, typer.Option(help="What drafts the answers; auto: the model, where one is named.")
    ] = Backend.AUTO,
    otlp_endpoint: Annotated[
        str,
        typer.Option(
            envvar="OTEL_EXPORTER_OTLP_ENDPOINT", help="Where to send traces and metrics."
        ),
    ] = "",
    with_samples: Annotated[
        bool, typer.Option("--samples", help="Ingest the sample corpus and ask three questions.")
    ] = False,
    demo: Annotated[
        bool,
        typer.Option("--demo", help="As --samples, then stop; exit code 1 if any of it fails."),
    ] = False,
    start_timeout: Annotated[
        float,
        typer.Option(min=0.1, metavar="SECONDS", help="The most a process may take to start."),
    ] = 60.0,
    as_json: options.Json = False,
) -> None:
    """Start everything, keep it running, drain it on Ctrl-C or SIGTERM. Port 0: any free one."""
    if otlp_endpoint:  # For this process's own spans and, inherited, for those of all others.
        os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = otlp_endpoint
    wanted = _gateway_address(gateway_bind or f"{plan.HOST}:{8000 * bool(port)}")
    chosen = plan.ports(
        port,
        redis_port if redis_port is not None else 56379 * bool(port),
        metrics_port if metrics_port is not None else 9464 * bool(port),
        wanted,
    )
    with system.claim(data_dir) as claimed, rpc.traced():
        local = LocalSystem(
            parts=_parts(chosen, data_dir, backend, model),
            data_dir=data_dir,
            claimed=claimed,
            start_seconds=start_timeout,
            console=Console(stderr=as_json),
            as_json=as_json,
        )
        if chosen.gateway != wanted and not wanted.endswith(":0"):
            local.say(f"{wanted} is taken; the page is on http://{chosen.gateway} instead.")
        well = asyncio.run(local.run(with_samples=with_samples or demo, stay=not demo))
    raise typer.Exit(0 if well else FAILED)


def _parts(chosen: plan.Ports, data_dir: Path, backend: str, model: str) -> list[plan.Part]:
    """Redis last, and the model, where it is played here, before it."""
    asked = local_model.chosen(model)
    *services, redis = plan.parts(chosen, data_dir, backend, asked.environment)
    return [*services, *([asked.part] if asked.part else []), redis]


@dataclass(frozen=True, slots=True)
class LocalSystem:
    """The parts of one system, and how to tell the user about them."""

    parts: Sequence[plan.Part]
    data_dir: Path
    claimed: system.Claim
    start_seconds: float
    console: Console
    as_json: bool

    async def run(self, *, with_samples: bool, stay: bool) -> bool:
        """Until it is asked to stop, or without `stay` until all is shown; False if any failed."""
        async with Processes(self.data_dir / "logs", self.say) as processes:
            _on_signals(processes)
            try:
                well = await self._show(processes, with_samples=with_samples)
                if stay:
                    await asyncio.Event().wait()
            except asyncio.CancelledError:
                well = stay  # To be asked is how it ends well; what only shows was cut short.
                self.say("Stopping; calls in flight are finished first.")
        return well and processes.drained

    async def _show(self, processes: Processes, *, with_samples: bool) -> bool:
        with self.console.status("Starting the system"):
            await self._start(processes)
        # Since the command was typed, not since Python had loaded it.
        view = self._view(processes, time.time() - psutil.Process().create_time())
        if not self.as_json:
            self.console.print(_table(view))
        failures = 0
        if with_samples:
            shown = await self._samples()
            failures = shown["failed"]
            view = {**view, "samples": shown}
        if self.as_json:
            output.show(view, Text(), as_json=True)
        return failures == 0

    async def _start(self, processes: Processes) -> None:
        """Redis first, which the orchestrator wants at once; then the services together."""
        redis, services = self.parts[-1], self.parts[:-1]
        await processes.start(redis.spec, self.start_seconds)
        try:
            async with asyncio.TaskGroup() as tasks:
                for part in services:
                    tasks.create_task(processes.start(part.spec, self.start_seconds))
        except* CliError as failed:
            first = failed.exceptions[0]
        else:
            self.claimed.publish(
                {part.spec.name: part.address for part in self.parts},
                {part.spec.name: part.spec.environment for part in self.parts},
            )
            return
        raise first

    def _view(self, processes: Processes, seconds: float) -> dict[str, Any]:
        return {
            "services": {
                part.spec.name: {
                    "pid": processes.all[part.spec.name].process.pid,
                    "address": part.address,
                    "metrics": part.metrics,
                    "rss_bytes": _resident(processes.all[part.spec.name].process.pid),
                    "start_seconds": round(processes.all[part.spec.name].ready_seconds, 3),
                }
                for part in self.parts
            },
            "seconds_to_serving": round(seconds, 3),
            "data_dir": str(self.data_dir.resolve()),
        }

    async def _samples(self) -> dict[str, Any]:
        """Ingests the corpus and asks; what fails is told and counted."""
        address = {part.spec.name: part.address for part in self.parts}
        progress = output.progress(as_json=self.as_json)
        with telemetry.span("verity ingest"):
            outcomes = await ingest.ingest_all(
                address["retrieval"], samples.files(), INGEST_SECONDS, progress
            )
        self._print(Group(*(outcome.line() for outcome in outcomes)))
        failed = sum(outcome.failed for outcome in outcomes)
        answers: list[dict[str, Any]] = []
        for question in samples.QUESTIONS:
            self._print(Text.assemble("\n", (question, "bold")))
            request = pb.AskRequest(question=question)
            try:
                with telemetry.span("verity ask"):
                    answer = await ask.watched(
                        address["orchestrator"], request, ASK_SECONDS, progress
                    )
            except CliError as error:
                failed += 1
                self._print(error.line())
                answers.append({"question": question, "error": error.view()})
            else:
                self._print(render.answer(answer))
                answers.append(json_view.answer(answer))
        return {
            "files": [outcome.view() for outcome in outcomes],
            "answers": answers,
            "failed": failed,
        }

    def say(self, text: str) -> None:
        self.console.print(plain(text, "dim"))

    def _print(self, rendered: RenderableType) -> None:
        if not self.as_json:
            self.console.print(rendered)


def _gateway_address(bind: str) -> str:
    host, _, port = bind.rpartition(":")
    if not host or not port.isdecimal() or int(port) > plan.LAST_PORT:
        raise CliError(
            f"{bind} is not HOST:PORT.",
            hint="Give it as 127.0.0.1:8000.",
            exit_code=USAGE,
            code="INVALID_ARGUMENT",
        )
    return bind


def _on_signals(processes: Processes) -> None:
    """The first Ctrl-C, SIGTERM or hang-up drains; the second does not wait."""
    loop, running = asyncio.get_running_loop(), asyncio.current_task()
    assert running  # noqa: S101  # Called from a coroutine.

    def stop() -> None:
        if processes.draining or running.cancelling():
            processes.kill()
        else:
            running.cancel()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop)


def _resident(pid: int) -> int:
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.NoSuchProcess:  # It died this moment, and is being started again.
        return 0


def _table(view: dict[str, Any]) -> Group:
    table = Table("process", "address", "metrics", "pid", "memory", "start", box=None)
    for name, one in view["services"].items():
        memory, start = f"{one['rss_bytes'] / 2**20:.0f} MiB", f"{one['start_seconds']:.1f} s"
        table.add_row(name, one["address"], one["metrics"], str(one["pid"]), memory, start)
    ready = f"Serving after {view['seconds_to_serving']:.1f} s on {clean(view['data_dir'])}. "
    page = "Ask with "
    if gateway := view["services"].get(plan.GATEWAY):
        built = (plan.page_dir() / "index.html").is_file()
        page = f"Open http://{gateway['address']}, or ask with " if built else page
    return Group(table, Text(ready + page + '`verity ask "…"`; Ctrl-C stops it.', "green"))
