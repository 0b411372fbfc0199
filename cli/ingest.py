"""`verity ingest`: files in, one outcome each; a file that fails does not stop the others."""

import asyncio
import os
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer
from rich.console import Console, Group
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text
from verity.v1 import retrieval_service_pb2 as pb
from verity.v1 import retrieval_service_pb2_grpc as rpc_pb

from cli import json_view, options, output, rpc, system
from cli.errors import FAILED, CliError
from cli.text import clean

SERVICE = "verity.v1.RetrievalService"
CHUNK = 256 * 1024
# What is taken from a folder; a file that is named outright is sent whatever it is called.
SUFFIXES = {
    *(".pdf", ".docx", ".xlsx", ".html", ".htm", ".eml", ".md", ".markdown", ".txt"),
}

Address = Annotated[
    str,
    typer.Option(envvar="VERITY_RETRIEVAL_ADDRESS", help="The retrieval service's HOST:PORT."),
]


@dataclass(frozen=True, slots=True)
class File:
    """One file to ingest and what is said of it."""

    path: Path
    metadata: pb.IngestMetadata


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one file ended: with a result, or with what was wrong."""

    path: Path
    end: pb.IngestDocumentResponse.Result | CliError

    @property
    def failed(self) -> bool:
        return isinstance(self.end, CliError)

    def view(self) -> dict[str, Any]:
        if isinstance(self.end, CliError):
            return {"path": str(self.path), "error": self.end.view()}
        return {
            "path": str(self.path),
            "outcome": _word(self.end),
            "document": json_view.document(self.end.document),
        }

    def line(self) -> Text:
        if isinstance(self.end, CliError):
            return Text.assemble(("✗ ", "red"), f"{clean(str(self.path))}: ", self.end.line())
        document = self.end.document
        return Text.assemble(
            ("✓ ", "green"),
            clean(document.source_name),
            (f" {_word(self.end).lower()}, version {document.version}, ", "dim"),
            (f"{document.page_count} pages, {document.passage_count} passages", "dim"),
        )


def ingest(
    paths: Annotated[list[str], typer.Argument(help="Files, folders or patterns.")],
    *,
    document_type: Annotated[
        str, typer.Option("--type", help="What they are, such as policy, kyc, filing.")
    ] = "",
    authority: Annotated[options.Authority, typer.Option()] = options.Authority.STANDARD,
    published: Annotated[str, typer.Option(metavar="YYYY-MM-DD")] = "",
    effective_from: Annotated[str, typer.Option(metavar="YYYY-MM-DD")] = "",
    effective_to: Annotated[str, typer.Option(metavar="YYYY-MM-DD")] = "",
    tag: Annotated[list[str] | None, typer.Option(help="May be given several times.")] = None,
    supersedes: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A document they replace. May be given several times."),
    ] = None,
    content_type: Annotated[
        str, typer.Option(help="Media type they must have; refused when the bytes deny it.")
    ] = "",
    address: Address = "",
    data_dir: options.DataDir = options.DEFAULT_DATA_DIR,
    timeout: options.Timeout = 600.0,
    as_json: options.Json = False,
) -> None:
    """Ingest files. Exit code 1 when any failed; the others are in nevertheless."""
    target = system.address("retrieval", address, data_dir)
    common = pb.IngestMetadata(
        document_type=document_type,
        authority=f"AUTHORITY_{authority.name}",
        published=published,
        effective_from=effective_from,
        effective_to=effective_to,
        tags=tag or [],
        supersedes=supersedes or [],
        content_type=content_type,
    )
    files = [File(path, common) for path in expand(paths)]
    if not files:
        raise CliError(f"No file there ends in {', '.join(sorted(SUFFIXES))}.", code="NOT_FOUND")
    console = output.progress(as_json=as_json)
    outcomes = rpc.run("ingest", lambda: ingest_all(target, files, timeout, console))
    failed = sum(outcome.failed for outcome in outcomes)
    view = {"files": [outcome.view() for outcome in outcomes], "failed": failed}
    output.show(view, Group(*(outcome.line() for outcome in outcomes)), as_json=as_json)
    if failed:
        raise typer.Exit(FAILED)


def expand(paths: Sequence[str]) -> list[Path]:
    """The files meant, each once, in order; one that is not there is kept, to fail by its name."""
    return list(dict.fromkeys(file for path in paths for file in _files(Path(path))))


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        found = (p for p in sorted(path.rglob("*")) if p.suffix.lower() in SUFFIXES)
        yield from (p for p in found if p.is_file())
    elif path.exists() or not any(c in str(path) for c in "*?["):
        yield path
    else:
        # Quoted, or in a shell that leaves patterns alone.
        root = Path(path.anchor)
        yield from sorted(p for p in root.glob(str(path.relative_to(root))) if p.is_file())


async def ingest_all(
    target: str, files: Sequence[File], seconds: float, console: Console
) -> list[Outcome]:
    """One file after the other, with a bar for each."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[stage]}", markup=False),
        TimeElapsedColumn(),
    )
    outcomes: list[Outcome] = []
    taken: set[str] = set()
    async with rpc.reach(SERVICE, target) as channel:
        stub = rpc_pb.RetrievalServiceStub(channel)
        with Progress(*columns, console=console, transient=True) as progress:
            for file in files:
                task = progress.add_task(clean(file.path.name), total=None, stage="")
                end: pb.IngestDocumentResponse.Result | CliError
                try:
                    with rpc.explained(SERVICE, target):
                        _claim_name(file, taken)
                        end = await _ingest(stub, file, seconds, _bar(progress, task))
                except CliError as error:
                    end = error
                outcomes.append(Outcome(file.path, end))
                progress.remove_task(task)
    return outcomes


def _claim_name(file: File, taken: set[str]) -> None:
    """A document is known by its name without folders: two alike would be one document."""
    if file.path.name in taken:
        raise CliError(
            "Another file of this name was given, which this one would replace; rename one.",
            code="ALREADY_EXISTS",
        )
    taken.add(file.path.name)


async def _ingest(
    stub: rpc_pb.RetrievalServiceStub,
    file: File,
    seconds: float,
    on_progress: Callable[[pb.IngestDocumentResponse.Progress], None],
) -> pb.IngestDocumentResponse.Result:
    broken: list[OSError] = []
    accepted = asyncio.Event()

    def heard(progress: pb.IngestDocumentResponse.Progress) -> None:
        accepted.set()
        on_progress(progress)

    try:
        with file.path.open("rb") as content:
            requests = _requests(file, content, accepted, broken)
            return await _result(stub.IngestDocument(requests, timeout=seconds), heard)
    except OSError as error:
        raise _unreadable(error) from error
    except asyncio.CancelledError:
        if broken:
            raise _unreadable(broken[0]) from broken[0]
        raise


async def _requests(
    file: File, content: BinaryIO, accepted: asyncio.Event, broken: list[OSError]
) -> AsyncIterator[pb.IngestDocumentRequest]:
    """The metadata and, once they are accepted, the bytes in pieces, read off the event loop."""
    metadata = pb.IngestMetadata(source_name=file.path.name)
    metadata.MergeFrom(file.metadata)
    metadata.size_bytes = os.fstat(content.fileno()).st_size
    yield pb.IngestDocumentRequest(metadata=metadata)
    await accepted.wait()
    try:
        while chunk := await asyncio.to_thread(content.read, CHUNK):
            yield pb.IngestDocumentRequest(chunk=chunk)
    except OSError as error:
        # gRPC keeps what is raised here to itself and cancels the call: nothing is ingested.
        broken.append(error)
        raise


async def _result(
    replies: AsyncIterable[pb.IngestDocumentResponse],
    on_progress: Callable[[pb.IngestDocumentResponse.Progress], None],
) -> pb.IngestDocumentResponse.Result:
    async for reply in replies:
        if reply.WhichOneof("event") == "result":
            return reply.result
        on_progress(reply.progress)
    raise CliError("The stream ended without a result.", code="INTERNAL")


def _unreadable(error: OSError) -> CliError:
    return CliError(f"It cannot be read: {error.strerror}.", code="UNREADABLE")


def _bar(progress: Progress, task: TaskID) -> Callable[[pb.IngestDocumentResponse.Progress], None]:
    def update(step: pb.IngestDocumentResponse.Progress) -> None:
        stage = pb.IngestDocumentResponse.Progress.Stage.Name(step.stage)
        done, total = step.bytes_received, 0
        if step.passages_total:
            done, total = step.passages_embedded, step.passages_total
        elif step.pages_total:
            done, total = step.pages_parsed, step.pages_total
        stage = stage.removeprefix("STAGE_").lower()
        progress.update(task, completed=done, total=total or None, stage=stage)

    return update


def _word(result: pb.IngestDocumentResponse.Result) -> str:
    """CREATED, REPLACED or UNCHANGED."""
    descriptor = pb.IngestDocumentResponse.Result.Outcome.DESCRIPTOR
    return json_view.word(descriptor, "OUTCOME_", result.outcome)
