"""Drafts with a model behind any OpenAI-compatible endpoint."""

import asyncio
import json
import logging
import math
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

import openai
import structlog
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable
from langchain_core.utils.json_schema import dereference_refs
from langchain_openai import ChatOpenAI
from langsmith import tracing_context
from opentelemetry.trace import Span
from pydantic import SecretStr

from services.chassis import telemetry
from services.chassis.errors import Overloaded, Unavailable
from services.generation import followup
from services.generation.drafter import (
    Draft,
    Failure,
    Resolution,
    Statement,
    Task,
    Turn,
    Usage,
)
from services.generation.prompt import Prompt
from services.generation.reply import NoDraft, read, schema

Mode = Literal["json_schema", "function_calling", "json_object"]

_OPENAI = "https://api.openai.com/v1"
_BACK_OFF_SECONDS = 1.0
_MAX_BACK_OFF_SECONDS = 60.0
# English text in the common tokenizers; for endpoints that do not report usage.
_CHARS_PER_TOKEN = 4
_HINTS = {
    400: "; it may not know the structured output mode, see VERITY_STRUCTURED_OUTPUT",
    401: "; check OPENAI_API_KEY",
    403: "; check OPENAI_API_KEY",
    404: "; check VERITY_MODEL and OPENAI_BASE_URL",
}

# Attribute names of OpenTelemetry's GenAI conventions, which are still in development.
_OPERATION = "gen_ai.operation.name"
_PROVIDER = "gen_ai.provider.name"
_MODEL = "gen_ai.request.model"
_FINISH = "gen_ai.response.finish_reasons"
_INPUT_TOKENS = "gen_ai.usage.input_tokens"
_OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
_TOKEN_TYPE = "gen_ai.token.type"  # noqa: S105 - no secret
_ESTIMATED = "verity.tokens.estimated"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model and how it is called.

    Attributes:
        model: The model's name at the endpoint.
        base_url: As with the OpenAI SDK; empty means OpenAI, and a bare host gets a /v1.
        api_key: Empty for endpoints that ask for none.
        mode: How the endpoint is held to the form of the reply.
        connect_seconds: To reach it.
        read_seconds: Without a byte from it.
        total_seconds: From the request to the whole reply.
        max_output_tokens: Where the model must stop.
    """

    model: str
    base_url: str
    api_key: SecretStr
    mode: Mode
    connect_seconds: float
    read_seconds: float
    total_seconds: float
    max_output_tokens: int


class OpenAIDrafter:
    """One request for each draft; whether to try again is the caller's to say.

    The caller's deadline needs no care here: when it passes, the call is cancelled, and a cancelled
    call closes its connection to the endpoint.
    """

    def __init__(self, endpoint: Endpoint, prompt: Prompt, model: Runnable[Any, Any]) -> None:
        self.generator = f"openai:{endpoint.model}/{prompt.version}"
        self._endpoint = endpoint
        self._prompt = prompt
        self._model = model
        self._log = structlog.get_logger()
        self._tokens = telemetry.meter().create_counter(
            "verity.generation.tokens", unit="{token}", description="Tokens spent on drafts."
        )

    async def draft(self, task: Task) -> Draft:
        """What the model answers, when that is a draft in every respect; else why it is none."""
        try:
            return await self._attempt(task)
        except NoDraft as none:
            return Draft(failure=none.failure, mode=self._endpoint.mode)

    async def stream(self, task: Task) -> AsyncGenerator[Statement | Draft]:
        draft = await self.draft(task)
        for statement in draft.statements:
            yield statement
        yield draft

    async def resolve(self, question: str, history: Sequence[Turn]) -> Resolution:
        return followup.resolve(question, history)

    async def _attempt(self, task: Task) -> Draft:
        request = self._prompt.request(task, boundary=secrets.token_hex(8))
        with telemetry.span(
            f"chat {self._endpoint.model}",
            **{_OPERATION: "chat", _PROVIDER: "openai", _MODEL: self._endpoint.model},
        ) as span:
            with self._failures_named(span):
                answered = await self._ask(request.system, request.user)
            usage = _usage(answered, len(request.system) + len(request.user))
            self._count(span, usage)
            span.set_attribute(_FINISH, (_finish(answered),))
            return read(_json_of(answered, self._endpoint.mode), request.passage_ids, usage)

    async def _ask(self, system: str, user: str) -> AIMessage:
        # No text may go to LangSmith, whatever the environment says.
        with tracing_context(enabled=False):
            async with asyncio.timeout(self._endpoint.total_seconds):
                reply = await self._model.ainvoke([SystemMessage(system), HumanMessage(user)])
        answered = reply["raw"]  # LangChain's own parsers accept what we do not.
        if not isinstance(answered, AIMessage):
            raise TypeError
        return answered

    @contextmanager
    def _failures_named(self, span: Span) -> Iterator[None]:
        """Gives each way in which a call can fail one of our own names, without the text it brings.

        LangChain and the SDK raise what they like when a reply is not what they expect, so all that
        is not foreseen here is a malformed reply.
        """
        try:
            yield
        except (TimeoutError, openai.APITimeoutError):
            raise Unavailable("The model did not answer in time; try again.") from None
        except openai.APIConnectionError:
            raise Unavailable(
                "The model's endpoint cannot be reached; check OPENAI_BASE_URL."
            ) from None
        except openai.RateLimitError as refused:
            raise Overloaded(
                "The model's endpoint takes no more requests for now.",
                retry_after=_retry_after(refused.response.headers.get("retry-after", "")),
            ) from None
        except openai.APIStatusError as refused:
            code = refused.status_code
            self._log.warning("model_endpoint_refused", http_status=code)
            raise Unavailable(
                f"The model's endpoint answered HTTP {code}{_HINTS.get(code, '')}."
            ) from None
        except openai.LengthFinishReasonError as truncated:
            if used := truncated.completion.usage:
                self._count(span, Usage(used.prompt_tokens, used.completion_tokens))
            raise NoDraft(Failure.TRUNCATED) from None
        except openai.ContentFilterFinishReasonError:
            raise NoDraft(Failure.REFUSED) from None
        except Exception as error:  # noqa: BLE001 - see above
            self._log.warning("model_reply_malformed", error=type(error).__name__)
            raise NoDraft(Failure.MALFORMED) from None

    def _count(self, span: Span, usage: Usage) -> None:
        spent = {_INPUT_TOKENS: usage.input_tokens, _OUTPUT_TOKENS: usage.output_tokens}
        span.set_attributes(spent)
        labels: dict[str, str | bool] = {_MODEL: self._endpoint.model, _ESTIMATED: usage.estimated}
        self._tokens.add(usage.input_tokens, {**labels, _TOKEN_TYPE: "input"})
        self._tokens.add(usage.output_tokens, {**labels, _TOKEN_TYPE: "output"})


@asynccontextmanager
async def open_model(endpoint: Endpoint) -> AsyncIterator[Runnable[Any, Any]]:
    """The endpoint's model, held to our form in the endpoint's mode. Retries nothing."""
    # At DEBUG it would log whole requests, texts and all.
    logging.getLogger("openai").setLevel(logging.WARNING)
    timeout = openai.Timeout(
        endpoint.read_seconds, connect=endpoint.connect_seconds, pool=endpoint.connect_seconds
    )
    async with openai.DefaultAsyncHttpxClient(timeout=timeout) as http:
        chat = ChatOpenAI(
            model=endpoint.model,
            base_url=normalized(endpoint.base_url),
            # The SDK insists on a key; endpoints without keys do not look at it.
            api_key=SecretStr(endpoint.api_key.get_secret_value() or "none"),
            http_async_client=http,
            timeout=timeout,
            max_retries=0,
            temperature=0,
            max_completion_tokens=endpoint.max_output_tokens,
            use_responses_api=False,  # Few compatible servers have it.
        )
        form = dereference_refs(schema())  # Not all endpoints follow references.
        del form["$defs"]
        if endpoint.mode == "json_object":
            yield chat.with_structured_output(form, method="json_mode", include_raw=True)
        else:
            yield chat.with_structured_output(
                form, method=endpoint.mode, strict=True, include_raw=True
            )


def normalized(base_url: str) -> str:
    """The address to call: OpenAI's when none is given, and with /v1 when it has no path."""
    if not base_url:
        return _OPENAI
    parts = urlsplit(base_url)
    return urlunsplit(parts._replace(path="/v1")) if parts.path in {"", "/"} else base_url


def _json_of(answered: AIMessage, mode: Mode) -> str:
    """The text that should be JSON, from where the mode puts it."""
    finish = _finish(answered)
    if finish == "length":
        raise NoDraft(Failure.TRUNCATED)
    if finish == "content_filter" or answered.additional_kwargs.get("refusal"):
        raise NoDraft(Failure.REFUSED)
    if mode != "function_calling":
        return answered.text
    match answered.tool_calls, answered.invalid_tool_calls:
        case [call], []:
            return json.dumps(call["args"])
        case [], [] if not answered.text.strip():
            raise NoDraft(Failure.EMPTY)
        case [], _:  # Prose, or arguments that are no JSON.
            raise NoDraft(Failure.NOT_JSON)
        case _:
            raise NoDraft(Failure.WRONG_SHAPE)


def _finish(answered: AIMessage) -> str:
    return str(answered.response_metadata.get("finish_reason") or "")


def _usage(answered: AIMessage, asked_chars: int) -> Usage:
    said = answered.usage_metadata
    if said and said["total_tokens"]:
        return Usage(said["input_tokens"], said["output_tokens"])
    answered_chars = len(answered.text) + len(json.dumps(answered.tool_calls))
    return Usage(
        asked_chars // _CHARS_PER_TOKEN, answered_chars // _CHARS_PER_TOKEN, estimated=True
    )


def _retry_after(header: str) -> float:
    try:
        asked = float(header)
    except ValueError:  # A date, or nothing.
        return _BACK_OFF_SECONDS
    return (
        min(max(asked, 0.0), _MAX_BACK_OFF_SECONDS) if math.isfinite(asked) else _BACK_OFF_SECONDS
    )
