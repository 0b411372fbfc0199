"""Between JSON and messages: protobuf's own mapping, with the names of the protos."""

import json
import re
from collections.abc import Iterable
from typing import Any

from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from services.gateway.problem import Problem, invalid

_TIMEOUT = re.compile(r"(\d{1,8})([HMSmun])")
# The types of JSON that a field may have, where protobuf itself would take more.
_TYPES: dict[int, tuple[type, ...]] = {
    FieldDescriptor.CPPTYPE_INT32: (int, float),
    FieldDescriptor.CPPTYPE_UINT32: (int, float),
    FieldDescriptor.CPPTYPE_INT64: (int, str),
    FieldDescriptor.CPPTYPE_UINT64: (int, str),
    FieldDescriptor.CPPTYPE_DOUBLE: (int, float),
    FieldDescriptor.CPPTYPE_FLOAT: (int, float),
    FieldDescriptor.CPPTYPE_ENUM: (int, str),
}
_UNITS = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}


def to_json(message: Message) -> dict[str, Any]:
    """Every field that is not absent; 64-bit integers are strings, bytes are base64."""
    view: dict[str, Any] = json_format.MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    return view


def dumps(view: Any) -> str:
    return json.dumps(view, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def loads(body: bytes) -> dict[str, Any]:
    """A JSON object; a problem when the body is none."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise invalid(f"The body is not UTF-8: byte {error.start} cannot be read.") from None
    try:
        view = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise invalid(f"The body is not JSON: {error.msg} at character {error.pos}.") from None
    except RecursionError:
        raise invalid("The body is nested too deeply.") from None
    except ValueError as error:
        raise invalid(f"The body is not JSON: {error}.") from None
    if not isinstance(view, dict):
        raise invalid("The body is not a JSON object.")
    return view


def from_json_object(view: dict[str, Any], message: Message) -> None:
    """Reads an object into a message; a problem when it does not fit, or has an unknown field.

    Stricter than protobuf, which also takes false for a number and "7" for 7: a value has the type
    with which it would be sent. 64-bit integers may be numbers too.
    """
    _check_types(view, message.DESCRIPTOR, "")
    _parse(view, message)


def _parse(view: dict[str, Any], message: Message) -> None:
    try:
        json_format.ParseDict(view, message)
    except (json_format.ParseError, RecursionError, UnicodeError, OverflowError) as error:
        raise invalid(f"The request does not fit: {str(error)[:500]}") from None


def from_query(pairs: Iterable[tuple[str, str]], path: dict[str, str], message: Message) -> None:
    """Reads a query and the fields of a path; `filter.tags=a&filter.tags=b` is a nested list."""
    view: dict[str, Any] = {}
    for name, value in pairs:
        if name in path:
            raise invalid("A field of the path is in the query too.", (name, "is in the path"))
        _put(view, message.DESCRIPTOR, name, value)
    _parse({**view, **path}, message)


def timeout(header: str | None, most: float) -> float:
    """Seconds a call may take: as its `grpc-timeout` says, and never more than `most`."""
    if header is None:
        return most
    found = _TIMEOUT.fullmatch(header.strip())
    if not found:
        raise invalid("grpc-timeout is not digits and a unit, such as 5S or 500m.")
    return min(most, int(found[1]) * _UNITS[found[2]])


def _check_types(view: dict[str, Any], descriptor: Any, prefix: str) -> None:
    for name, value in view.items():
        field = descriptor.fields_by_name.get(name) or descriptor.fields_by_camelcase_name.get(name)
        if field is None or value is None:
            continue  # Protobuf says what is wrong with it, if anything is.
        items = value if isinstance(value, list) and field.is_repeated else [value]
        for item in items:
            if isinstance(item, dict) and field.message_type is not None:
                _check_types(item, field.message_type, f"{prefix}{name}.")
            elif type(item) not in _TYPES.get(field.cpp_type, (type(item),)):
                raise invalid(
                    "The request does not fit.", (f"{prefix}{name}", "is of another type")
                )
            elif isinstance(item, str):
                _check_name(field, item, f"{prefix}{name}")


def _put(view: dict[str, Any], descriptor: Any, name: str, value: str) -> None:
    *parents, last = name.split(".")
    for parent in parents:
        field = descriptor.fields_by_name.get(parent)
        if field is None or field.message_type is None or field.is_repeated:
            raise _unknown(name)
        descriptor, view = field.message_type, view.setdefault(parent, {})
    field = descriptor.fields_by_name.get(last)
    if field is None or field.message_type is not None:
        raise _unknown(name)
    scalar: Any = value
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        scalar = {"true": True, "false": False}.get(value, value)
    _check_name(field, value, name)
    if field.is_repeated:
        view.setdefault(last, []).append(scalar)
    elif last in view:
        raise invalid("A field is there twice.", (name, "must be given once"))
    else:
        view[last] = scalar


def _check_name(field: Any, value: str, path: str) -> None:
    """Protobuf also takes an enum's number in quotes."""
    if field.enum_type is not None and value not in field.enum_type.values_by_name:
        raise invalid("The request does not fit.", (path, f"is no {field.enum_type.name}"))


def _unknown(name: str) -> Problem:
    return invalid("The query has an unknown field.", (name[:100], "is not a field of the request"))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _no_constant(_name: str) -> float:
    raise ValueError("NaN and Infinity are no JSON")
