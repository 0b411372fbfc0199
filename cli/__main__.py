"""The `verity` command."""

import json
import sys
from collections.abc import Sequence

import typer
from rich.console import Console

from cli import answers, documents
from cli.ask import ask
from cli.backup import backup, restore
from cli.check import check
from cli.config import config
from cli.doctor import doctor
from cli.errors import USAGE, CliError
from cli.ingest import ingest
from cli.up import up

INTERRUPTED = 130

app = typer.Typer(
    name="verity",
    no_args_is_help=True,
    help="Answers from your own documents, every statement verified against the words it cites.",
    pretty_exceptions_enable=False,  # They show local variables: what users asked.
    add_completion=False,
)
app.command()(up)
app.command()(ingest)
app.command()(ask)
app.command()(check)
app.command()(config)
app.command()(doctor)
app.command()(backup)
app.command()(restore)
app.add_typer(documents.app, name="documents")
app.add_typer(answers.app, name="answers")


def main() -> None:
    """Where the `verity` script enters."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Runs one command; the exit code."""
    try:
        return app(arguments, prog_name="verity", standalone_mode=False) or 0
    except CliError as failure:
        error = failure
    except typer.TyperException as usage:
        if not usage.format_message():  # No command was given; the help has been shown.
            return USAGE
        error = CliError(usage.format_message(), code="USAGE", exit_code=USAGE)
    except typer.Abort:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has read enough; what is still buffered must not fail again at exit.
        sys.stdout = None
        return 1
    if "--json" in arguments:
        sys.stdout.write(json.dumps({"error": error.view()}) + "\n")
    else:
        error.print(Console(stderr=True))
    return error.exit_code


if __name__ == "__main__":
    main()
