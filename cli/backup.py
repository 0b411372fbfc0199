"""`verity backup` and `verity restore`: vectors, originals and memory, all of them or none."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cli import options, output
from cli.backups import manifest
from cli.backups.manifest import Manifest
from cli.errors import CliError
from cli.text import clean

Directory = Annotated[Path, typer.Argument(metavar="DIR")]
Seconds = Annotated[
    float, typer.Option("--timeout", min=0.1, metavar="SECONDS", help="The most one step may take.")
]


def backup(
    directory: Directory,
    *,
    data_dir: options.DataDir = options.DEFAULT_DATA_DIR,
    timeout: Seconds = 600.0,
    as_json: options.Json = False,
) -> None:
    """Write everything that the system knows to a new directory, while it goes on."""
    from cli.backups import whole  # noqa: PLC0415 - no other command pays for the stores' clients

    try:
        directory.mkdir(parents=True, mode=0o700)
    except FileExistsError as error:
        if not directory.is_dir() or any(directory.iterdir()):
            raise CliError(
                f"{directory} is there already.", hint="Give a new directory."
            ) from error
    with whole.private(), whole.opened(data_dir) as place:
        made = whole.back_up(place, directory, timeout)
    _show(directory, made, "Backed up", as_json=as_json)


def restore(
    directory: Directory,
    *,
    data_dir: options.DataDir = options.DEFAULT_DATA_DIR,
    replace: Annotated[
        bool, typer.Option("--replace", help="Put it in the place of what is there.")
    ] = False,
    timeout: Seconds = 600.0,
    as_json: options.Json = False,
) -> None:
    """Put a backup back; the system is stopped. What fails changes nothing."""
    from cli.backups import whole  # noqa: PLC0415 - as above

    held = manifest.read(directory)
    manifest.check(directory, held, whole.SCHEMA)
    with whole.private(), whole.opened(data_dir, to_restore=True) as place:
        whole.check_fits(held, place)
        if place.qdrant_url:
            whole.put_back(place, directory, held, replace=replace, seconds=timeout)
        else:
            whole.put_back_locally(place, directory, replace=replace)
    _show(directory, held, "Restored", as_json=as_json)


def _show(directory: Path, made: Manifest, verb: str, *, as_json: bool) -> None:
    size = sum(int(known["bytes"]) for known in made.files.values())
    view = {
        "directory": str(directory.resolve()),
        "made": made.made,
        "verity": made.verity,
        "engine": made.engine,
        "collection": made.collection,
        "files": len(made.files),
        "bytes": size,
    }
    held = f"{len(made.files)} files, {size / 2**20:.1f} MiB, of {made.made}"
    says = f"{verb} {held}: {clean(str(directory))}"
    output.show(view, Text(says), as_json=as_json)
