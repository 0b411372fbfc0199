"""Walks the rules of rules.proto over a request; the proto is the only place that states them."""

import datetime
import math
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

from services.chassis.errors import InvalidInput, Violation
from verity.v1 import rules_pb2

# Says what is wrong with one value, or nothing.
_Check = Callable[[Any], Iterator[str]]
# Finds the violations of one field, given its message and the path to it.
_Field = Callable[[Message, str], Iterator[Violation]]

_FLOATS = (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE)


def check(request: Message) -> None:
    """Raises InvalidInput with every field at fault when the request breaks a rule."""
    found = violations(request)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise InvalidInput(f"{found[0].field} {found[0].description}{more}", violations=found)


def violations(request: Message) -> tuple[Violation, ...]:
    """Every broken rule, in the order of the fields; paths are like "passages[3].text"."""
    return tuple(_walk(request, ""))


def _walk(message: Message, prefix: str) -> Iterator[Violation]:
    for field in _fields(message.DESCRIPTOR):
        yield from field(message, prefix)


@cache
def _fields(descriptor: Descriptor) -> tuple[_Field, ...]:
    """Compiled once for each message type; fields without anything to check are left out."""
    compiled = [_field(field) for field in descriptor.fields]
    oneofs = [
        _oneof(oneof.name)
        for oneof in descriptor.oneofs
        if oneof.GetOptions().Extensions[rules_pb2.one].required
    ]
    return (*(field for field in compiled if field), *oneofs)


def _oneof(name: str) -> _Field:
    def broken(message: Message, prefix: str) -> Iterator[Violation]:
        if message.WhichOneof(name) is None:
            yield Violation(prefix + name, "must have one of its members set")

    return broken


def _field(field: FieldDescriptor) -> _Field | None:
    rules = field.GetOptions().Extensions[rules_pb2.field]
    nested = field.message_type
    if nested is not None and nested.GetOptions().map_entry:
        raise TypeError(f"{field.full_name}: maps have no rules")
    checks = tuple(_checks(field, rules))
    if not (checks or rules.required or rules.max_items or nested):
        return None
    name, repeated, presence = field.name, field.is_repeated, field.has_presence

    def value_violations(value: Any, path: str) -> Iterator[Violation]:
        for check in checks:
            for description in check(value):
                yield Violation(path, description)
        if nested is not None:
            yield from _walk(value, path + ".")

    def broken(message: Message, prefix: str) -> Iterator[Violation]:
        path = prefix + name
        value = getattr(message, name)
        if repeated:
            if rules.required and not value:
                yield Violation(path, "must not be empty")
            if rules.max_items and len(value) > rules.max_items:
                yield Violation(
                    path, f"has {len(value)} items; at most {rules.max_items} are allowed"
                )
            elif checks or _fields(nested):
                for index, item in enumerate(value):
                    yield from value_violations(item, f"{path}[{index}]")
        elif presence and not message.HasField(name):
            if rules.required:
                yield Violation(path, "must be set")
        elif rules.required and _unset(value):
            yield Violation(path, "must not be empty")
        else:
            yield from value_violations(value, path)

    return broken


def _unset(value: Any) -> bool:
    if isinstance(value, Message):
        return False
    return not (value.strip() if isinstance(value, (str, bytes)) else value)


def _checks(field: FieldDescriptor, rules: rules_pb2.FieldRules) -> Iterator[_Check]:
    if field.enum_type is not None:
        yield _known(field.enum_type)
    if field.cpp_type in _FLOATS:
        yield _finite
    if rules.max_chars:
        yield _max_chars(rules.max_chars)
    if rules.max_bytes:
        yield _max_bytes(rules.max_bytes)
    if rules.pattern:
        yield _matches(rules.pattern)
    if rules.date:
        yield _date
    if rules.HasField("min"):
        yield _at_least(rules.min)
    if rules.HasField("max"):
        yield _at_most(rules.max)


def _known(enum: EnumDescriptor) -> _Check:
    numbers = frozenset(enum.values_by_number)

    def broken(value: int) -> Iterator[str]:
        if value not in numbers:
            yield f"{value} is not a value of {enum.name}"

    return broken


def _finite(value: float) -> Iterator[str]:
    if not math.isfinite(value):
        yield "must be a finite number"


def _max_chars(most: int) -> _Check:
    def broken(value: str) -> Iterator[str]:
        if len(value) > most:
            yield f"has {len(value)} characters; at most {most} are allowed"

    return broken


def _max_bytes(most: int) -> _Check:
    def broken(value: str | bytes) -> Iterator[str]:
        size = len(value) if isinstance(value, bytes) else len(value.encode())
        if size > most:
            yield f"has {size} bytes; at most {most} are allowed"

    return broken


def _matches(pattern: str) -> _Check:
    compiled = re.compile(pattern)

    def broken(value: str) -> Iterator[str]:
        if value and not compiled.fullmatch(value):
            yield f"must match {pattern}"

    return broken


def _date(value: str) -> Iterator[str]:
    if not value:
        return
    try:
        # fromisoformat also reads 20260131 and 2026-W05-6.
        right = datetime.date.fromisoformat(value).isoformat() == value
    except ValueError:
        right = False
    if not right:
        yield "must be a date, YYYY-MM-DD"


def _at_least(least: float) -> _Check:
    def broken(value: float) -> Iterator[str]:
        if value < least:
            yield f"must be at least {least:g}"

    return broken


def _at_most(most: float) -> _Check:
    def broken(value: float) -> Iterator[str]:
        if value > most:
            yield f"must be at most {most:g}"

    return broken
