"""`verity documents`: what has been ingested."""

from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Group
from rich.table import Column, Table
from rich.text import Text
from verity.v1 import core_pb2 as core
from verity.v1 import retrieval_service_pb2 as pb

from cli import json_view, options, output, rpc, system
from cli.text import clean, plain
from cli.upload import SERVICE

PAGE_SIZE = 1000


class Standing(StrEnum):
    """What a document is on a day."""

    IN_FORCE = "in-force"
    SUPERSEDED = "superseded"
    NOT_YET_EFFECTIVE = "not-yet-effective"
    NO_LONGER_EFFECTIVE = "no-longer-effective"


app = typer.Typer(help="See and remove what has been ingested.")
Id = Annotated[str, typer.Argument(metavar="ID")]


@app.callback(invoke_without_command=True)
def documents(
    context: typer.Context,
    address: options.RetrievalAddress = "",
    data_dir: options.DataDir = options.DEFAULT_DATA_DIR,
    timeout: options.Timeout = 10.0,
    as_json: options.Json = False,
) -> None:
    """See and remove what has been ingested; alone, the list."""
    if context.invoked_subcommand is None:
        list_documents(address=address, data_dir=data_dir, timeout=timeout, as_json=as_json)


@app.command("list")
def list_documents(
    *,
    document_type: Annotated[
        list[str] | None, typer.Option("--type", help="May be given several times.")
    ] = None,
    authority: Annotated[options.Authority | None, typer.Option(help="At least this one.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="May be given several times.")] = None,
    name: Annotated[str, typer.Option(help="Part of the name, in whatever case.")] = "",
    standing: Annotated[
        Standing | None, typer.Option(help="What they are today, or on the day --as-of.")
    ] = None,
    as_of: Annotated[str, typer.Option(metavar="YYYY-MM-DD")] = "",
    address: options.RetrievalAddress = "",
    data_dir: options.DataDir = options.DEFAULT_DATA_DIR,
    timeout: options.Timeout = 10.0,
    as_json: options.Json = False,
) -> None:
    """The current version of every document, by name; options narrow the list."""
    target = system.address("retrieval", address, data_dir)
    request = pb.ListDocumentsRequest(
        page_size=PAGE_SIZE,
        filter=pb.DocumentFilter(
            document_types=document_type or [],
            min_authority=f"AUTHORITY_{authority.name}" if authority else None,
            tags=tag or [],
        ),
        name_contains=name,
        standing=f"STANDING_{standing.name}" if standing else None,
        as_of=as_of,
    )
    pages: list[pb.ListDocumentsResponse] = rpc.ask(
        "documents list",
        SERVICE,
        target,
        lambda stub: rpc.pages(stub.ListDocuments, request, timeout),
    )
    found = [document for page in pages for document in page.documents]
    view = {"documents": [json_view.document(d) for d in found]}
    output.show(view, Group(*(_line(document) for document in found)), as_json=as_json)


@app.command()
def show(
    document_id: Id,
    *,
    address: options.RetrievalAddress = "",
    data_dir: options.DataDir = options.DEFAULT_DATA_DIR,
    timeout: options.Timeout = 10.0,
    as_json: options.Json = False,
) -> None:
    """All that is known of one document."""
    target = system.address("retrieval", address, data_dir)
    request = pb.GetDocumentRequest(document_id=document_id)
    reply: pb.GetDocumentResponse = rpc.ask(
        "documents show", SERVICE, target, lambda stub: stub.GetDocument(request, timeout=timeout)
    )
    view = json_view.document(reply.document)
    table = Table.grid("name", Column(overflow="fold"), padding=(0, 2))
    for name, value in view.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")
        table.add_row(name.replace("_", " "), plain(shown))
    output.show(view, table, as_json=as_json)


@app.command()
def delete(
    document_id: Id,
    *,
    address: options.RetrievalAddress = "",
    data_dir: options.DataDir = options.DEFAULT_DATA_DIR,
    timeout: options.Timeout = 60.0,
    as_json: options.Json = False,
) -> None:
    """Remove a document: its passages, its text and its original bytes, all versions."""
    target = system.address("retrieval", address, data_dir)
    request = pb.DeleteDocumentRequest(document_id=document_id)
    reply: pb.DeleteDocumentResponse = rpc.ask(
        "documents delete",
        SERVICE,
        target,
        lambda stub: stub.DeleteDocument(request, timeout=timeout),
    )
    view = {"document_id": document_id, "passages_deleted": reply.passages_deleted}
    rendered = plain(f"Removed {document_id} with its {reply.passages_deleted} passages.")
    output.show(view, rendered, as_json=as_json)


def without_text(document: core.Document) -> str:
    """What is said behind a document's pages when some of them could not be read, or are blank."""
    pages = len(document.pages_without_text)
    return f", {pages} {'page' if pages == 1 else 'pages'} without text" if pages else ""


def _line(document: core.Document) -> Text:
    facts = (
        clean(document.document_type),
        f"{json_view.authority(document.authority).lower()} authority",
        f"version {document.version}",
        f"{document.page_count} pages",
        f"{document.passage_count} passages",
        clean(document.id),
    )
    return Text.assemble(
        (clean(document.source_name), "bold"),
        ("\n  " + ", ".join(facts), "dim"),
        (without_text(document), "yellow"),
    )
