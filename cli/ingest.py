"""`verity ingest`: files in, one outcome each; a file that fails does not stop the others."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, Group
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text
from verity.v1 import retrieval_service_pb2 as pb

from cli import json_view, manifest, options, output, rpc, system
from cli.documents import without_text
from cli.errors import FAILED, CliError
from cli.files import SUFFIXES, described, expand, is_pattern, left_out
from cli.text import clean
from cli.upload import SERVICE, File, OnProgress, send

INTERRUPTED = 130


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
            (f" {_word(self.end).lower().replace('_', ' ')}, version {document.version}, ", "dim"),
            (f"{document.page_count} pages, {document.passage_count} passages", "dim"),
            (without_text(document), "yellow"),
        )


def ingest(
    paths: Annotated[
        list[str],
        typer.Argument(
            help="Files, folders or patterns. A folder's corpus.yaml says what its documents are."
        ),
    ],
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
    reader: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GROUP",
            help="Who may read them; everybody of the tenant, if not given. May be given several "
            "times.",
        ),
    ] = None,
    content_type: Annotated[
        str,
        typer.Option(
            help="Media type they must have; refused when the bytes deny it. For text that is in "
            "another encoding than it seems: 'text/plain; charset=utf-16-le'."
        ),
    ] = "",
    workers: Annotated[
        int, typer.Option(min=1, max=32, help="Files that are on their way at once.")
    ] = 2,
    address: options.RetrievalAddress = "",
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
        readers=reader or [],
        content_type=content_type,
    )
    sent = described(expand(paths), common)
    if not sent:
        raise CliError(f"No file there ends in {', '.join(sorted(SUFFIXES))}.", code="NOT_FOUND")
    others = left_out(paths, sent)
    console = output.progress(as_json=as_json)
    ended: dict[int, Outcome] = {}
    interrupted = False
    try:
        rpc.run(
            "ingest",
            lambda: ingest_all(target, sent, timeout, console, workers=workers, ended=ended),
        )
    except KeyboardInterrupt:
        interrupted = True
    outcomes = [ended.get(n, _unfinished(file)) for n, file in enumerate(sent)]
    failed = sum(outcome.failed for outcome in outcomes)
    view = {
        "files": [outcome.view() for outcome in outcomes],
        "failed": failed,
        "left_out": [str(path) for path in others],
        "interrupted": interrupted,
    }
    lines = [*(outcome.line() for outcome in outcomes), *_left_out(others)]
    output.show(view, Group(*lines), as_json=as_json)
    if failed:
        raise typer.Exit(INTERRUPTED if interrupted else FAILED)


async def ingest_all(
    target: str,
    files: Sequence[File],
    seconds: float,
    console: Console,
    *,
    workers: int = 1,
    ended: dict[int, Outcome] | None = None,
) -> list[Outcome]:
    """Some files at a time, with a bar for each of these and one for all.

    Args:
        target: The retrieval service's address.
        files: What to ingest.
        seconds: The most one file may take.
        console: Where the bars are.
        workers: Files that are on their way at once.
        ended: Gets the outcome of each file as it ends, for a caller that may be interrupted.
    """
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[stage]}", markup=False),
        TimeElapsedColumn(),
    )
    outcomes = {} if ended is None else ended
    repeated = _repeated(files)
    waiting = iter(enumerate(files))
    async with rpc.reach(SERVICE, target) as stub:
        with Progress(*columns, console=console, transient=True) as progress:
            overall = progress.add_task("all files", total=len(files), stage=f"0 of {len(files)}")

            async def work() -> None:
                for number, file in waiting:
                    try:
                        with rpc.explained(SERVICE, target):
                            if number in repeated:
                                raise _name_taken(files[repeated[number]])
                            if is_pattern(file.path):
                                raise _nothing_matches()
                            with _bar(progress, file) as update:
                                result = await send(stub, file, seconds, update)
                        outcomes[number] = Outcome(file.path, result)
                    except CliError as error:
                        outcomes[number] = Outcome(file.path, error)
                    done = f"{len(outcomes)} of {len(files)}"
                    progress.update(overall, completed=len(outcomes), stage=done)

            async with asyncio.TaskGroup() as group:
                for _ in range(min(workers, len(files))):
                    group.create_task(work())
    return [outcomes[number] for number in range(len(files))]


def _repeated(files: Sequence[File]) -> dict[int, int]:
    """Those that would replace one before them, and which; documents are known by their names."""
    first: dict[str, int] = {}
    places = {number: first.setdefault(file.name, number) for number, file in enumerate(files)}
    return {number: place for number, place in places.items() if number != place}


def _name_taken(other: File) -> CliError:
    return CliError(
        f"{other.path} has this name too, and would be replaced.",
        code="ALREADY_EXISTS",
        hint=f"Rename one, or give it a source_name in its folder's {manifest.NAME}.",
    )


def _nothing_matches() -> CliError:
    return CliError("No file matches this.", code="NOT_FOUND")


def _left_out(paths: Sequence[Path]) -> Iterator[Text]:
    if paths:
        endings = Counter(path.suffix.lower() or "without an ending" for path in paths)
        kinds = ", ".join(f"{count} {clean(ending)}" for ending, count in endings.most_common())
        yield Text(f"- left out, of kinds that are not read in folders: {kinds}", "yellow")


def _unfinished(file: File) -> Outcome:
    error = CliError(
        "Interrupted before it was in.",
        code="CANCELLED",
        hint="The same command goes on where it was.",
    )
    return Outcome(file.path, error)


@contextmanager
def _bar(progress: Progress, file: File) -> Iterator[OnProgress]:
    """Shows how far one file is, as long as it is on its way."""
    task = progress.add_task(clean(file.path.name), total=None, stage="")

    def update(step: pb.IngestDocumentResponse.Progress) -> None:
        stage = pb.IngestDocumentResponse.Progress.Stage.Name(step.stage)
        done, total = step.bytes_received, step.bytes_total
        if step.passages_total:
            done, total = step.passages_embedded, step.passages_total
        elif step.pages_total:
            done, total = step.pages_parsed, step.pages_total
        stage = stage.removeprefix("STAGE_").lower()
        progress.update(task, completed=done, total=total or None, stage=stage)

    try:
        yield update
    finally:
        progress.remove_task(task)


def _word(result: pb.IngestDocumentResponse.Result) -> str:
    """CREATED, REPLACED, UNCHANGED or METADATA_UPDATED."""
    descriptor = pb.IngestDocumentResponse.Result.Outcome.DESCRIPTOR
    return json_view.word(descriptor, "OUTCOME_", result.outcome)
