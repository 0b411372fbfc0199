"""Endpoints as they are: which modes each takes, how it turns down the others, what it asks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

JSON_SCHEMA, FUNCTION_CALLING = "json_schema", "function_calling"
JSON_OBJECT_SCHEMA, JSON_OBJECT, PROMPT = "json_object_schema", "json_object", "prompt"
_BAD = 400


@dataclass(frozen=True, slots=True)
class Refusal:
    """An HTTP status and the message that comes with it."""

    status: int
    message: str
    param: str | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """One kind of endpoint.

    Attributes:
        refuses: The modes that it does not take, and what it says then.
        ignores: The modes that it takes and does not hold the model to.
        is_azure: Whether it is addressed as a deployment, with a version and a key of its own.
        context_field: Under which name its list of models tells the context's size.
    """

    refuses: Mapping[str, Refusal]
    ignores: frozenset[str] = frozenset()
    is_azure: bool = False
    context_field: str = ""


_UNKNOWN_SCHEMA = Refusal(
    _BAD, "Unknown parameter: 'response_format.schema'.", "response_format.schema"
)
PROFILES = {
    "openai": Profile({JSON_OBJECT_SCHEMA: _UNKNOWN_SCHEMA}),
    "azure": Profile({JSON_OBJECT_SCHEMA: _UNKNOWN_SCHEMA}, is_azure=True),
    "vllm": Profile({}, frozenset((JSON_OBJECT_SCHEMA,)), context_field="max_model_len"),
    "ollama": Profile({}, frozenset((FUNCTION_CALLING, JSON_OBJECT_SCHEMA))),
    "llama.cpp": Profile(
        {
            JSON_SCHEMA: Refusal(
                _BAD,
                'response_format type must be one of "text" or "json_object", but got: json_schema',
            ),
            FUNCTION_CALLING: Refusal(500, "tools param requires --jinja flag"),
        },
        context_field="n_ctx",
    ),
    "litellm": Profile(
        {
            JSON_SCHEMA: Refusal(
                _BAD,
                "litellm.UnsupportedParamsError: custom does not support parameters:"
                " ['response_format'], for model=scripted.",
            ),
            JSON_OBJECT_SCHEMA: Refusal(_BAD, "litellm.UnsupportedParamsError: response_format"),
            JSON_OBJECT: Refusal(_BAD, "litellm.UnsupportedParamsError: response_format"),
        }
    ),
    # Takes whatever is sent and looks at the words alone.
    "prose": Profile(
        {}, frozenset((JSON_SCHEMA, FUNCTION_CALLING, JSON_OBJECT_SCHEMA, JSON_OBJECT))
    ),
}


def mode_of(body: Mapping[str, Any]) -> str:
    """The mode in which a request asks for its reply."""
    if body.get("tools"):
        return FUNCTION_CALLING
    wanted = body.get("response_format")
    if not isinstance(wanted, dict):
        return PROMPT
    if wanted.get("type") == "json_schema":
        return JSON_SCHEMA
    return JSON_OBJECT_SCHEMA if "schema" in wanted else JSON_OBJECT


def refusal(
    profile: Profile, body: Mapping[str, Any], headers: Mapping[str, str], path: str
) -> Refusal | None:
    """Why the endpoint does not take a request; None where it does."""
    if profile.is_azure:
        if "/openai/deployments/" not in path or "api-version=" not in path:
            return Refusal(404, "Resource not found")
        if "api-key" not in headers or "authorization" in headers:
            return Refusal(401, "Access denied due to missing api-key.")
    mode = mode_of(body)
    if mode == JSON_OBJECT and "json" not in str(body.get("messages")).casefold():
        return Refusal(_BAD, "'messages' must contain the word 'json'", "messages")
    return profile.refuses.get(mode)
