"""What a folder's `corpus.yaml` says of the documents in it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from verity.v1 import retrieval_service_pb2 as pb

from cli.errors import CliError
from cli.upload import File

NAME = "corpus.yaml"
_AUTHORITIES = ("HIGH", "MEDIUM", "STANDARD")
_DATES = ("published", "effective_from", "effective_to")
_LISTS = ("tags", "supersedes", "readers")
# `name` is for readers: a document is known by its `source_name`; not given, that is its file's.
_KEYS = {"file", "name", "source_name", "type", "authority", *_DATES, *_LISTS}


def read(path: Path, defaults: pb.IngestMetadata | None = None) -> list[File]:
    """The documents it lists, in order; what it does not say of one is as in `defaults`."""
    try:
        described = yaml.safe_load(path.read_text("utf-8"))
    except OSError as error:
        raise CliError(f"{path} cannot be read: {error.strerror}.", code="UNREADABLE") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise _wrong(path, "is no YAML") from error
    if not isinstance(described, dict) or not isinstance(described.get("documents"), list):
        raise _wrong(path, "has no list of documents")
    return list(_files(path, described["documents"], defaults or pb.IngestMetadata()))


def _files(path: Path, entries: list[Any], defaults: pb.IngestMetadata) -> Iterator[File]:
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
            raise _wrong(path, f"names no file in entry {number}")
        if unknown := sorted(map(str, set(entry) - _KEYS)):
            raise _wrong(path, f"says of {entry['file']} what is not known here: {unknown[0]}")
        file = path.parent / entry["file"]
        if not file.resolve().is_relative_to(path.parent.resolve()):
            raise _wrong(path, f"names a file outside its folder: {entry['file']}")
        yield File(file, _metadata(path, entry, defaults))


def _metadata(
    path: Path, entry: Mapping[str, Any], defaults: pb.IngestMetadata
) -> pb.IngestMetadata:
    metadata = pb.IngestMetadata()
    metadata.CopyFrom(defaults)
    metadata.source_name = str(entry.get("source_name") or "")
    if entry.get("type"):
        metadata.document_type = str(entry["type"])
    if "authority" in entry:
        authority = str(entry["authority"]).upper()
        if authority not in _AUTHORITIES:
            raise _wrong(path, f"gives {entry['file']} an authority that is none: {authority}")
        metadata.authority = pb.IngestMetadata(authority=f"AUTHORITY_{authority}").authority
    for name in _DATES:
        if name in entry:
            setattr(metadata, name, str(entry[name] or ""))
    for name in _LISTS:
        if name in entry:
            values = entry[name] or []
            if not isinstance(values, list):
                raise _wrong(path, f"gives {entry['file']} {name} that are no list")
            metadata.ClearField(name)
            getattr(metadata, name).extend(map(str, values))
    return metadata


def _wrong(path: Path, what: str) -> CliError:
    return CliError(f"{path} {what}.", code="INVALID_ARGUMENT")
