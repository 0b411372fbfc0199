"""`verity doctor`: looks at all that the system needs, and says how what is wrong is mended."""

import asyncio
from collections.abc import Iterable
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Column, Table

from cli import options, output, surroundings, system
from cli.checks.finding import Finding, Level, exit_code
from cli.text import plain

_STYLES = {Level.OK: "green", Level.SKIPPED: "dim", Level.WARNING: "yellow", Level.FAILURE: "red"}


def doctor(
    *,
    data_dir: options.DataDir = options.DEFAULT_DATA_DIR,
    gateway: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="The gateway, where none runs here.")
    ] = "",
    timeout: Annotated[
        float,
        typer.Option("--timeout", min=0.1, metavar="SECONDS", help="The most a look may take."),
    ] = 5.0,
    as_json: options.Json = False,
) -> None:
    """Look at every service, store, file and clock. 0: all well, 1: warnings, 2: failures."""
    # Here, so that no other command pays for all that is looked at.
    from cli.examination import Doctor  # noqa: PLC0415

    findings = asyncio.run(
        Doctor(surroundings.all_told(data_dir), system.addresses(data_dir), gateway, timeout).look()
    )
    code = exit_code(findings)
    view = {"findings": [finding.view() for finding in findings], "exit_code": code}
    output.show(view, _rendered(findings), as_json=as_json)
    if code:
        raise typer.Exit(code)


def _rendered(findings: Iterable[Finding]) -> RenderableType:
    table = Table(Column("check", no_wrap=True), "", Column("says", overflow="fold"), box=None)
    for finding in findings:
        level = plain(finding.level.value, _STYLES[finding.level])
        table.add_row(plain(finding.check), level, plain(finding.says))
        if finding.mend:
            table.add_row("", "", plain(f"→ {finding.mend}", "bold"))
    return Group(table)
