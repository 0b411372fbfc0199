"""What a backup holds: versions, and each file's SHA-256; without it a directory is no backup."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from cli.errors import CliError

NAME = "manifest.json"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Manifest:
    """Written last, so that a backup that broke off is none.

    Attributes:
        made: When, in UTC.
        verity: The version that made it.
        schema: Of each store, the version of what it holds.
        engine: Of the vectors: "embedded" or "server".
        collection: The index's name; on a server the alias.
        aliases: Each alias with the collection that it named, which no snapshot holds.
        stores: What said of itself which version it is.
        files: By path, SHA-256 and size.
    """

    made: str
    verity: str
    schema: Mapping[str, int]
    engine: str
    collection: str
    aliases: Mapping[str, str] = field(default_factory=dict)
    stores: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    format: int = FORMAT


def write(directory: Path, manifest: Manifest) -> Manifest:
    """Adds every file that is there, and makes the directory a backup; all is on disk then."""
    files = {}
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            os.fsync(file.fileno())
        files[path.relative_to(directory).as_posix()] = {
            "sha256": digest,
            "bytes": path.stat().st_size,
        }
    whole = Manifest(**{**asdict(manifest), "files": files})
    new = directory / f"{NAME}.new"
    with new.open("w") as file:
        json.dump(asdict(whole), file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    new.replace(directory / NAME)
    return whole


def read(directory: Path) -> Manifest:
    """The manifest. Raises CliError when the directory is no backup that this version knows."""
    try:
        held = json.loads((directory / NAME).read_bytes())
        if held["format"] != FORMAT:
            raise CliError(
                f"The backup has format {int(held['format'])}; this command reads {FORMAT}.",
                hint="Use the version of `verity` that made it.",
            )
        return Manifest(**held)
    except OSError as error:
        raise CliError(
            f"{directory} is no backup: it has no {NAME} that can be read.",
            hint="Give the directory that `verity backup` wrote; one that broke off has none.",
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise CliError(f"{directory / NAME} is damaged.", hint="Take another backup.") from error


def check(directory: Path, manifest: Manifest, schema: Mapping[str, int]) -> None:
    """Raises CliError for another schema, and for a file that is not as it was written."""
    for store, version in schema.items():
        if manifest.schema.get(store) != version:
            raise CliError(
                f"The backup's {store} has schema {manifest.schema.get(store)}; this version of "
                f"Verity reads {version}.",
                hint=f"Restore it with Verity {manifest.verity}, then upgrade: docs/upgrade.md.",
            )
    for name, known in manifest.files.items():
        path = directory / name
        if not path.resolve().is_relative_to(directory.resolve()):
            raise CliError(f"The backup names a file outside of it: {name}.")
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise CliError(f"The backup's {name} is missing.", hint="Take another.") from error
        if digest != known["sha256"]:
            raise CliError(f"The backup's {name} is damaged.", hint="Take another backup.")
