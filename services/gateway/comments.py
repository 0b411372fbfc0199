"""The comments of the protos, which are the contract, as the API's document repeats them."""

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from google.protobuf import descriptor_pb2

# Written beside the stubs by `make setup`.
FILE = "descriptors.binpb"
# The numbers of the fields that hold them, by the kind of what holds them; see descriptor.proto.
_WITHIN = {
    "file": {4: ("message_type", "message"), 5: ("enum_type", "enum"), 6: ("service", "service")},
    "message": {2: ("field", ""), 3: ("nested_type", "message"), 4: ("enum_type", "enum")},
    "enum": {2: ("value", "")},
    "service": {2: ("method", "")},
}


def read() -> dict[str, str]:
    """The comment above each thing, by its full name; a blank line separates paragraphs."""
    descriptors = descriptor_pb2.FileDescriptorSet()
    descriptors.ParseFromString(files("verity.v1").joinpath(FILE).read_bytes())
    return {name: text for file in descriptors.file for name, text in _of(file)}


def _of(file: descriptor_pb2.FileDescriptorProto) -> Iterator[tuple[str, str]]:
    for location in file.source_code_info.location:
        name = _name(file, list(location.path))
        if name and location.leading_comments:
            lines = [line.strip() for line in location.leading_comments.splitlines()]
            paragraphs = "\n".join(lines).strip().split("\n\n")
            yield name, "\n\n".join(text.replace("\n", " ") for text in paragraphs)


def _name(file: descriptor_pb2.FileDescriptorProto, path: list[int]) -> str:
    """The full name of what a path leads to; empty when that has no name."""
    at: Any = file
    kind, names = "file", [file.package]
    while path:
        if len(path) < 2 or path[0] not in _WITHIN.get(kind, {}):  # noqa: PLR2004 - number and index
            return ""
        attribute, kind = _WITHIN[kind][path[0]]
        at = getattr(at, attribute)[path[1]]
        names.append(at.name)
        path = path[2:]
    return ".".join(names) if at is not file else ""
