"""`verity config`: every setting of every service, its value, and where it comes from."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from cli import options, output, surroundings
from cli.errors import USAGE, CliError
from cli.redaction import shown
from cli.surroundings import Origin, Told
from cli.text import clean, plain
from cli.unknown_names import unknown


def config(
    *,
    service: Annotated[
        str, typer.Option("--service", help="One service alone, such as retrieval.")
    ] = "",
    effective: Annotated[
        bool,
        typer.Option("--effective", help="All settings, not only those that differ from defaults."),
    ] = False,
    data_dir: options.DataDir = options.DEFAULT_DATA_DIR,
    as_json: options.Json = False,
) -> None:
    """What every service is told, and by what; secrets are hidden. 1 if any is refused."""
    if service and service not in surroundings.SERVICES:
        raise CliError(
            f"There is no service {clean(service)}.",
            hint=f"There are {', '.join(surroundings.SERVICES)}.",
            code="INVALID_ARGUMENT",
            exit_code=USAGE,
        )
    all_told = surroundings.all_told(data_dir)
    strange = unknown(os.environ, known(all_told))
    wanted = {name: one for name, one in all_told.items() if service in ("", name)}
    found = view(wanted, strange, effective=effective)
    output.show(found, _rendered(found), as_json=as_json)
    if any(one["refused"] for one in found["services"].values()):
        raise typer.Exit(1)


def known(all_told: Mapping[str, Told]) -> set[str]:
    """Every setting's name; with a service that is not installed its own are missing."""
    return {
        name
        for one in all_told.values()
        if one.settings
        for name in surroundings.names_of(one.settings)
    }


def view(
    all_told: Mapping[str, Told], strange: list[tuple[str, str]], *, effective: bool = True
) -> dict[str, Any]:
    """What --json prints."""
    return {
        "services": {
            name: {
                "settings": _settings(one, effective=effective),
                "refused": [{"name": n, "reason": reason} for n, reason in one.faults],
                "not_installed": one.missing,
            }
            for name, one in all_told.items()
        },
        "unknown": [{"name": name, "nearest": near} for name, near in strange],
    }


def _settings(told: Told, *, effective: bool) -> dict[str, dict[str, Any]]:
    if told.settings is None:
        return {}
    refused = {name for name, _ in told.faults}
    origins = told.origins or {}
    return {
        variable: {
            "value": _plain(shown(variable, getattr(told.settings, field, None))),
            "from": origins[variable].value,
        }
        for variable, field in sorted(surroundings.names_of(told.settings).items())
        if variable not in refused and (effective or origins[variable] is not Origin.DEFAULT)
    }


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def _rendered(found: Mapping[str, Any]) -> RenderableType:
    parts: list[RenderableType] = []
    for name, one in found["services"].items():
        if one["not_installed"]:
            parts.append(Text(f"{name} is not installed here: {one['not_installed']} is missing."))
            continue
        table = Table(
            Column(name, no_wrap=True), Column("value", overflow="fold"), "from", box=None
        )
        for variable, setting in one["settings"].items():
            value = "" if setting["value"] is None else str(setting["value"])
            table.add_row(variable, plain(value), setting["from"])
        for refused in one["refused"]:
            table.add_row(refused["name"] or "together", plain(refused["reason"], "red"), "refused")
        parts += [table, Text()]
    for strange in found["unknown"]:
        meant = f"; {strange['nearest']} was meant?" if strange["nearest"] else ""
        parts.append(
            plain(f"{strange['name']} is no setting, and changes nothing{meant}", "yellow")
        )
    return Group(*parts)
