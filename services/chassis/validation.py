"""Walks the rules of rules.proto over a request; the proto is the only place that states them."""

import datetime as dt
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message
from verity.v1 import rules_pb2

from services.chassis.errors import InvalidInput, Violation

# Says what is wrong with a value, or "".
_Check = Callable[[Any], str]


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
    rules = _compiled(message.DESCRIPTOR)
    for field in rules.fields:
        yield from field.broken(message, prefix)
    for oneof in rules.oneofs:
        if message.WhichOneof(oneof) is None:
            yield Violation(prefix + oneof, "must have one of its members set")


@dataclass(frozen=True, slots=True)
class _Field:
    """The rules of one field, ready to be applied."""

    name: str
    rules: rules_pb2.FieldRules
    checks: tuple[_Check, ...]
    repeated: bool
    presence: bool
    nested: Descriptor | None

    def broken(self, message: Message, prefix: str) -> Iterator[Violation]:
        value, path = getattr(message, self.name), prefix + self.name
        if self.repeated:
            yield from self._broken_list(value, path)
            return
        unset = self.presence and not message.HasField(self.name)
        if self.rules.required and (unset or self._blank(value)):
            yield Violation(path, "must be set and not blank")
        elif not unset:
            yield from self._broken_value(value, path)

    def _blank(self, value: Any) -> bool:
        if isinstance(value, str | bytes):
            return not value.strip()
        return not self.presence and not value

    def _broken_list(self, values: Any, path: str) -> Iterator[Violation]:
        most = self.rules.max_items
        if self.rules.required and not values:
            yield Violation(path, "must not be empty")
        if most and len(values) > most:
            yield Violation(path, f"has {len(values)} items; at most {most} are allowed")
            return
        if self.checks or (self.nested and _compiled(self.nested)):
            for index, value in enumerate(values):
                yield from self._broken_value(value, f"{path}[{index}]")

    def _broken_value(self, value: Any, path: str) -> Iterator[Violation]:
        for wrong_with in self.checks:
            if description := wrong_with(value):
                yield Violation(path, description)
        if self.nested:
            yield from _walk(value, path + ".")


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules of one message type."""

    fields: tuple[_Field, ...]
    oneofs: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.fields or self.oneofs)


@cache
def _compiled(descriptor: Descriptor) -> _Rules:
    fields = []
    for field in descriptor.fields:
        rules: rules_pb2.FieldRules = _options(field, rules_pb2.field)
        nested = field.message_type
        if nested and nested.GetOptions().map_entry:
            raise TypeError(f"{field.full_name}: maps have no rules, so requests have no maps")
        checks = tuple(_checks(field, rules))
        if checks or nested or rules.required or rules.max_items:
            fields.append(
                _Field(field.name, rules, checks, field.is_repeated, field.has_presence, nested)
            )
    return _Rules(
        tuple(fields),
        tuple(oneof.name for oneof in descriptor.oneofs if _options(oneof, rules_pb2.one).required),
    )


def _options(descriptor: Any, extension: Any) -> Any:
    # Any: the stubs that protoc writes call an extension what describes it, a FieldDescriptor.
    return descriptor.GetOptions().Extensions[extension]


def _checks(field: FieldDescriptor, rules: rules_pb2.FieldRules) -> Iterator[_Check]:
    if field.enum_type:
        yield _known(field.enum_type)
    if field.cpp_type in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
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
    return lambda value: "" if value in numbers else f"{value} is not a value of {enum.name}"


def _finite(value: float) -> str:
    return "" if math.isfinite(value) else "must be a finite number"


def _max_chars(most: int) -> _Check:
    return lambda value: (
        "" if len(value) <= most else f"has {len(value)} characters; at most {most} are allowed"
    )


def _max_bytes(most: int) -> _Check:
    def wrong(value: str | bytes) -> str:
        size = len(value.encode() if isinstance(value, str) else value)
        return "" if size <= most else f"has {size} bytes; at most {most} are allowed"

    return wrong


def _matches(pattern: str) -> _Check:
    whole = re.compile(pattern)
    return lambda value: "" if not value or whole.fullmatch(value) else f"must match {pattern}"


def _date(value: str) -> str:
    try:
        # fromisoformat alone also reads 20260131 and 2026-W05-6.
        right = not value or dt.date.fromisoformat(value).isoformat() == value
    except ValueError:
        right = False
    return "" if right else "must be a date, YYYY-MM-DD"


def _at_least(least: float) -> _Check:
    return lambda value: "" if value >= least else f"must be at least {least:g}"


def _at_most(most: float) -> _Check:
    return lambda value: "" if value <= most else f"must be at most {most:g}"
