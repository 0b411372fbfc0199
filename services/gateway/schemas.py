"""JSON Schemas of messages, from their descriptors and the rules of their fields."""

from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from verity.v1 import rules_pb2

Schema = dict[str, Any]
Kind = FieldDescriptor

WELL_KNOWN: dict[str, Schema] = {
    "google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    "google.protobuf.Duration": {
        "type": "string",
        "pattern": r"^-?\d+(\.\d{3}|\.\d{6}|\.\d{9})?s$",
    },
}
_UINT32, _INT32 = (0, 2**32 - 1), (-(2**31), 2**31 - 1)
_SCALARS: dict[int, Schema] = {
    Kind.CPPTYPE_UINT32: {"type": "integer", "minimum": _UINT32[0], "maximum": _UINT32[1]},
    Kind.CPPTYPE_INT32: {"type": "integer", "minimum": _INT32[0], "maximum": _INT32[1]},
    # JSON's numbers are doubles, which do not hold 64 bits.
    Kind.CPPTYPE_UINT64: {"type": "string", "pattern": r"^\d{1,19}$"},
    Kind.CPPTYPE_INT64: {"type": "string", "pattern": r"^-?\d{1,18}$"},
    Kind.CPPTYPE_DOUBLE: {"type": "number"},
    Kind.CPPTYPE_FLOAT: {"type": "number"},
    Kind.CPPTYPE_BOOL: {"type": "boolean"},
}


_NUMBERS_64: dict[int, Schema] = {
    Kind.CPPTYPE_UINT64: {"type": "integer", "minimum": 0, "maximum": 2**64 - 1},
    Kind.CPPTYPE_INT64: {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1},
}
_NULL: Schema = {"type": "null"}


class Schemas:
    """A schema for each message, once; requests and replies differ in what they allow.

    Args:
        comments: What is said of messages, fields and enums, by full name.
    """

    def __init__(self, comments: Mapping[str, str]) -> None:
        self.all: dict[str, Schema] = {}
        self._comments = comments

    def said(self, full_name: str) -> Schema:
        """The description of what has this name, if there is one."""
        text = self._comments.get(full_name, "")
        return {"description": text} if text else {}

    def reply(self, message: Descriptor) -> Schema:
        """What is sent: every field that is not absent is there."""
        return self._message(message, sent=True)

    def request(self, message: Descriptor) -> Schema:
        """What is read: a field may be missing or null, unless its rule says otherwise."""
        return self._message(message, sent=False)

    def sent(self, field: FieldDescriptor) -> Schema:
        """A field of a reply."""
        one = self._one(field, sent=True)
        return {"type": "array", "items": one} if field.is_repeated else one

    def parameter(self, field: FieldDescriptor) -> Schema:
        """A field of a request as a path or a query has it."""
        one = {**self._one(field, sent=False), **_bounds(field)}
        return _listed(field, one) if field.is_repeated else one

    def _read(self, field: FieldDescriptor) -> Schema:
        """A field of a request as a JSON body has it."""
        one = {**self._one(field, sent=False), **_bounds(field)}
        forms = [one]
        if field.enum_type is not None:
            numbers = [value.number for value in field.enum_type.values]
            least = _rules(field).min
            forms.append({"type": "integer", "enum": [n for n in numbers if n >= least]})
        elif field.cpp_type in _NUMBERS_64:
            forms.append(_NUMBERS_64[field.cpp_type])
        if field.is_repeated:
            forms = [_listed(field, _any_of(forms))]
        return _any_of(forms if _needed(field) else [*forms, _NULL])

    def _message(self, message: Descriptor, *, sent: bool) -> Schema:
        if message.full_name in WELL_KNOWN:
            return WELL_KNOWN[message.full_name]
        name = message.full_name.removeprefix("verity.v1.") + ("" if sent else "Input")
        if name not in self.all:
            schema: Schema = {
                "type": "object",
                **self.said(message.full_name),
                "additionalProperties": False,
            }
            self.all[name] = schema
            schema["properties"] = {
                f.name: {**(self.sent(f) if sent else self._read(f)), **self.said(f.full_name)}
                for f in message.fields
            }
            required = [f.name for f in message.fields if (_always(f) if sent else _needed(f))]
            if required:
                schema["required"] = required
        return {"$ref": f"#/components/schemas/{name}"}

    def _one(self, field: FieldDescriptor, *, sent: bool) -> Schema:
        if field.message_type is not None:
            return self._message(field.message_type, sent=sent)
        if field.enum_type is not None:
            return self._enum(field.enum_type)
        if field.type == Kind.TYPE_BYTES:
            return {"type": "string", "contentEncoding": "base64"}
        return dict(_SCALARS.get(field.cpp_type, {"type": "string"}))

    def _enum(self, enum: EnumDescriptor) -> Schema:
        name = enum.full_name.removeprefix("verity.v1.")
        values = {value.name: self.said(f"{enum.full_name}.{value.name}") for value in enum.values}
        meanings = [f"{name}: {said['description']}" for name, said in values.items() if said]
        text = "\n\n".join([*self.said(enum.full_name).values(), *meanings])
        self.all.setdefault(
            name,
            {"type": "string", "enum": list(values), **({"description": text} if text else {})},
        )
        return {"$ref": f"#/components/schemas/{name}"}


def _always(field: FieldDescriptor) -> bool:
    return field.is_repeated or not field.has_presence


def _needed(field: FieldDescriptor) -> bool:
    """Whether it has to be given: by its rule, or because what it is when missing is too little."""
    rules = _rules(field)
    return rules.required or (rules.min > 0 and not field.has_presence and not field.is_repeated)


def _any_of(forms: list[Schema]) -> Schema:
    return forms[0] if len(forms) == 1 else {"anyOf": forms}


def _listed(field: FieldDescriptor, one: Schema) -> Schema:
    most = _rules(field).max_items
    return {"type": "array", "items": one, **({"maxItems": most} if most else {})}


def _bounds(field: FieldDescriptor) -> Schema:
    """The rules of a field that JSON Schema has words for; its service knows all of them."""
    rules, bounds = _rules(field), Schema()
    if rules.required and field.cpp_type == Kind.CPPTYPE_STRING and not field.is_repeated:
        bounds |= {"minLength": 1, "pattern": r"\S"}
    if rules.max_chars:
        bounds["maxLength"] = rules.max_chars
    if rules.pattern:
        bounds["pattern"] = f"^({rules.pattern})$" if rules.required else f"^({rules.pattern})?$"
    if rules.date:
        bounds["anyOf"] = [{"const": ""}, {"format": "date"}]
    if rules.HasField("min") and field.enum_type is not None:
        names = [value.name for value in field.enum_type.values if value.number < rules.min]
        bounds["not"] = {"enum": names}
    elif rules.HasField("min"):
        bounds["minimum"] = rules.min
    if rules.HasField("max"):
        bounds["maximum"] = rules.max
    return bounds


def _rules(field: FieldDescriptor) -> rules_pb2.FieldRules:
    # Any: the stubs that protoc writes call an extension what describes it, a FieldDescriptor.
    options: Any = field.GetOptions()
    found: rules_pb2.FieldRules = options.Extensions[rules_pb2.field]
    return found
