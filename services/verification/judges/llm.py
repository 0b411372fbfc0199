"""Judges with a model behind any OpenAI-compatible endpoint."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

import httpx
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from services.chassis import telemetry
from services.verification.entailment import Failure, NoJudgement
from services.verification.judges.prompt import Prompt
from services.verification.source import Cited

Form = Literal["json_schema", "json_object"]

_OPENAI = "https://api.openai.com/v1"
# The judgement is two words long; a reply that needs more is none.
_MAX_OUTPUT_TOKENS = 200
_MAX_REPLY_BYTES = 100_000
_MAX_PROMPT_CHARS = 60_000
_EVEN = 0.5


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model and how it is called.

    Attributes:
        model: The model's name at the endpoint.
        base_url: As with the OpenAI SDK; empty means OpenAI, and a bare host gets a /v1.
        api_key: Empty for endpoints that ask for none.
        form: How the endpoint is held to the form of the reply.
        seconds: That one judgement may take.
    """

    model: str
    base_url: str
    api_key: SecretStr
    form: Form
    seconds: float


class _Reply(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)

    follows: bool
    probability: float = Field(ge=0, le=1, allow_inf_nan=False)


class LlmJudge:
    """One request for each statement, never repeated. Whatever is no judgement is a failure."""

    def __init__(
        self, endpoint: Endpoint, prompt: Prompt, client: httpx.AsyncClient, threshold: float
    ) -> None:
        self.name = f"llm:{endpoint.model}/{prompt.version}"
        self.threshold = threshold
        self._endpoint = endpoint
        self._prompt = prompt
        self._client = client

    async def probability(self, statement: str, cited: Sequence[Cited]) -> float:
        boundary = secrets.token_hex(8)
        asked = self._prompt.user(statement, cited, boundary)
        if len(asked) > _MAX_PROMPT_CHARS:
            raise NoJudgement(Failure.TOO_LONG)
        with telemetry.span(f"chat {self._endpoint.model}"):
            return _judgement(await self._ask(self._prompt.system(boundary), asked))

    async def _ask(self, system: str, user: str) -> bytes:
        body = {
            "model": self._endpoint.model,
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": user},
            ],
            "temperature": 0,
            "max_completion_tokens": _MAX_OUTPUT_TOKENS,
            "response_format": _form(self._endpoint.form),
        }
        try:
            async with asyncio.timeout(self._endpoint.seconds):
                return await self._post(body)
        except (TimeoutError, httpx.TimeoutException):
            raise NoJudgement(Failure.TIMED_OUT) from None
        except httpx.RequestError:  # Nobody there, a broken reply, more redirects than it takes.
            raise NoJudgement(Failure.UNREACHABLE) from None

    async def _post(self, body: dict[str, Any]) -> bytes:
        async with self._client.stream("POST", "chat/completions", json=body) as reply:
            if reply.status_code == httpx.codes.TOO_MANY_REQUESTS:
                raise NoJudgement(Failure.OVERLOADED)
            if reply.status_code != httpx.codes.OK:
                raise NoJudgement(Failure.REFUSED_BY_ENDPOINT)
            read = bytearray()
            async for chunk in reply.aiter_bytes():
                read += chunk
                if len(read) > _MAX_REPLY_BYTES:
                    raise NoJudgement(Failure.MALFORMED)
            return bytes(read)


@asynccontextmanager
async def open_judge(
    endpoint: Endpoint, prompt: Prompt, threshold: float
) -> AsyncIterator[LlmJudge]:
    """A judge with connections of its own to the endpoint."""
    key = endpoint.api_key.get_secret_value()
    async with httpx.AsyncClient(
        base_url=normalized(endpoint.base_url),
        headers={"authorization": f"Bearer {key}"} if key else {},
        timeout=endpoint.seconds,
    ) as client:
        yield LlmJudge(endpoint, prompt, client, threshold)


def normalized(base_url: str) -> str:
    """The address to call: OpenAI's when none is given, and with /v1 when it has no path."""
    if not base_url:
        return _OPENAI
    url = httpx.URL(base_url)
    return str(url.copy_with(path="/v1")) if url.path in {"", "/"} else base_url


def _form(form: Form) -> dict[str, Any]:
    if form == "json_object":
        return {"type": "json_object"}
    schema = {
        "type": "object",
        "properties": {"follows": {"type": "boolean"}, "probability": {"type": "number"}},
        "required": ["follows", "probability"],
        "additionalProperties": False,
    }
    return {
        "type": "json_schema",
        "json_schema": {"name": "judgement", "strict": True, "schema": schema},
    }


def _judgement(reply: bytes) -> float:
    """What a chat completion says, when that is a judgement in every respect."""
    try:
        (choice,) = json.loads(reply)["choices"]
        message, finish = choice["message"], choice.get("finish_reason")
        refused, content = message.get("refusal"), message.get("content")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise NoJudgement(Failure.MALFORMED) from None
    if finish == "length":
        raise NoJudgement(Failure.TRUNCATED)
    if finish == "content_filter" or refused:
        raise NoJudgement(Failure.REFUSED)
    if not isinstance(content, str):
        raise NoJudgement(Failure.MALFORMED)
    try:
        said = _Reply.model_validate_json(content)
    except ValidationError:
        raise NoJudgement(Failure.MALFORMED) from None  # Its text quotes the reply.
    if said.follows != (said.probability >= _EVEN):
        raise NoJudgement(Failure.MALFORMED)
    return said.probability
