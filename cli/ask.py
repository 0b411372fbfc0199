"""`verity ask`: one question, its stages as they happen, and the answer with what proves it."""

import sys
from collections.abc import AsyncIterable, Callable
from typing import Annotated

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text
from verity.v1 import grounding_service_pb2 as pb
from verity.v1 import grounding_service_pb2_grpc as rpc_pb
from verity.v1 import retrieval_service_pb2 as retrieval

from cli import json_view, options, output, render, rpc, system
from cli.errors import CliError
from cli.text import clean

SERVICE = rpc.Service(
    "verity.v1.GroundingService",
    rpc_pb.GroundingServiceStub,
    idempotent=("GetAnswer", "ListAnswers", "GetGroundingQuality"),
)
TAG = "tag:"


def ask(
    question: Annotated[str, typer.Argument(help="The question; - reads it from standard input.")],
    *,
    conversation: Annotated[
        str, typer.Option("--conversation", metavar="ID", help="Continue, or start, this one.")
    ] = "",
    max_attempts: Annotated[
        int, typer.Option(min=0, max=10, help="Drafts before it gives up; 0: as the server likes.")
    ] = 0,
    as_of: Annotated[
        str, typer.Option("--as-of", metavar="DATE", help="The day it is asked for; today.")
    ] = "",
    facts: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TYPE",
            help="Of compliance: document type, or tag as tag:NAME, of the facts. With --rules.",
        ),
    ] = None,
    rules: Annotated[
        list[str] | None,
        typer.Option(metavar="TYPE", help="The same, of the rules. With --facts."),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show each attempt and each rejected statement.")
    ] = False,
    address: options.OrchestratorAddress = "",
    data_dir: options.DataDir = options.DEFAULT_DATA_DIR,
    timeout: options.Timeout = 120.0,
    as_json: options.Json = False,
) -> None:
    """Ask a question of the ingested documents."""
    target = system.address("orchestrator", address, data_dir)
    request = pb.AskRequest(
        question=sys.stdin.read() if question == "-" else question,
        conversation_id=conversation,
        max_attempts=max_attempts,
        as_of=as_of,
        facts=corpus(facts),
        rules=corpus(rules),
    )
    console = output.progress(as_json=as_json)
    answer = rpc.run("ask", lambda: watched(target, request, timeout, console))
    output.show(json_view.answer(answer), render.answer(answer, verbose=verbose), as_json=as_json)


def corpus(words: list[str] | None) -> retrieval.DocumentFilter | None:
    """The documents of these types and with these tags; None where there are no words."""
    if not words:
        return None
    tags = [word.removeprefix(TAG) for word in words if word.startswith(TAG)]
    types = [word for word in words if not word.startswith(TAG)]
    return retrieval.DocumentFilter(document_types=types, tags=tags)


async def watched(
    target: str, request: pb.AskRequest, seconds: float, console: Console
) -> pb.Answer:
    """Asks while the console shows what happens; that view goes when the answer is there."""
    stages = Stages()
    with Live(get_renderable=stages.view, console=console, transient=True):
        return await stream(target, request, seconds, stages.add)


async def stream(
    target: str,
    request: pb.AskRequest,
    seconds: float,
    on_event: Callable[[pb.AskStreamResponse], None],
) -> pb.Answer:
    """Asks, hands each event on, and returns the answer that ends the stream."""
    async with rpc.reach(SERVICE, target) as stub:
        replies = stub.AskStream(pb.AskStreamRequest(ask=request), timeout=seconds)
        return await _last(replies, on_event)


async def _last(
    replies: AsyncIterable[pb.AskStreamResponse], on_event: Callable[[pb.AskStreamResponse], None]
) -> pb.Answer:
    async for reply in replies:
        if reply.WhichOneof("event") == "answer":
            return reply.answer
        on_event(reply)
    raise CliError("The stream ended without an answer.", code="INTERNAL", hint=rpc.SEE_LOG)


class Stages:
    """What has happened so far, as lines."""

    def __init__(self) -> None:
        self._lines: list[Text] = []
        self._running = ""

    def add(self, event: pb.AskStreamResponse) -> None:
        kind = event.WhichOneof("event")
        if kind == "stage_started":
            self._running = event.stage_started.stage
        elif kind == "stage_finished":
            self._running = ""
            milliseconds = 1000 * json_view.seconds(event.stage_finished.duration)
            self._line("✓", "green", f"{event.stage_finished.stage} {milliseconds:.1f} ms")
        elif kind == "passages_found":
            names = {passage.source_name for passage in event.passages_found.passages}
            count = len(event.passages_found.passages)
            self._line(" ", "", f"{count} passages from {len(names)} documents")
        elif kind == "attempt_started" and event.attempt_started.attempt > 1:
            self._line("↻", "yellow", f"attempt {event.attempt_started.attempt}")
        elif kind == "objection":
            self._lines.append(render.objected(event.objection))
        elif kind == "statement_verified":
            self._line("✓", "green", event.statement_verified.statement.text)

    def view(self) -> RenderableType:
        running = [Spinner("dots", Text(clean(self._running)))] if self._running else []
        return Group(*self._lines, *running)

    def _line(self, mark: str, style: str, text: str) -> None:
        self._lines.append(Text.assemble((f"{mark} ", style), clean(text)))
