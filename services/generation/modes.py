"""How a model is held to a form: what each way adds to a request, and what to the words of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Mode(StrEnum):
    """The ways, from the one that binds most to the one that only asks."""

    JSON_SCHEMA = "json_schema"
    FUNCTION_CALLING = "function_calling"
    # JSON mode with the schema beside it: llama.cpp's server.
    JSON_OBJECT_SCHEMA = "json_object_schema"
    JSON_OBJECT = "json_object"
    PROMPT = "prompt"


@dataclass(frozen=True, slots=True)
class Form:
    """What a reply must look like: a JSON Schema without references, by a name."""

    name: str
    schema: Mapping[str, Any]


def parameters(mode: Mode, form: Form) -> dict[str, Any]:
    """What a request says so that its reply has the form."""
    match mode:
        case Mode.JSON_SCHEMA:
            schema = {"name": form.name, "schema": form.schema, "strict": True}
            return {"response_format": {"type": "json_schema", "json_schema": schema}}
        case Mode.FUNCTION_CALLING:
            function = {
                "name": form.name,
                "description": "Takes the reply.",
                "parameters": form.schema,
                "strict": True,
            }
            return {
                "tools": [{"type": "function", "function": function}],
                "tool_choice": {"type": "function", "function": {"name": form.name}},
            }
        case Mode.JSON_OBJECT_SCHEMA:
            return {"response_format": {"type": "json_object", "schema": form.schema}}
        case Mode.JSON_OBJECT:
            return {"response_format": {"type": "json_object"}}
        case Mode.PROMPT:
            return {}


def instruction(mode: Mode, form: Form) -> str:
    """What must be said in words because the request does not say it."""
    if mode in {Mode.JSON_OBJECT, Mode.PROMPT}:
        schema = json.dumps(form.schema, separators=(",", ":"))
        return f"\n\nThe reply must be valid against this JSON Schema:\n{schema}\n"
    return ""
