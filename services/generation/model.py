"""One request to a model's endpoint, whole or as a stream, with every way it can fail named."""

import asyncio
import logging
import math
import re
import warnings
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import httpx2
import openai
import structlog
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI
from langsmith import tracing_context
from pydantic import SecretStr

from services.chassis.errors import Overloaded, Unavailable
from services.generation.drafter import Failure, NoDraft, Usage
from services.generation.endpoint import Endpoint
from services.generation.modes import Form, Mode, parameters
from services.generation.strict_json import MAX_CHARS

_BACK_OFF_SECONDS = 1.0
_MAX_BACK_OFF_SECONDS = 60.0
_BAD_REQUEST = frozenset((400, 404, 422, 501))
_HINTS = {
    400: "; it may not know the structured output mode, see VERITY_STRUCTURED_OUTPUT",
    401: "; check OPENAI_API_KEY",
    403: "; check OPENAI_API_KEY",
    404: "; check VERITY_MODEL and OPENAI_BASE_URL",
    413: "; set VERITY_MODEL_CONTEXT_TOKENS",
}
# What an endpoint complains of, by the words of its error: read here, neither kept nor passed on.
_ABOUT = {
    name: re.compile(words, re.IGNORECASE)
    for name, words in (
        ("context", r"context.?(?:length|window|size)|maximum context|too many tokens|too long"),
        ("temperature", r"temperature"),
        ("tokens", r"max_(?:completion_)?tokens"),
        ("stream_options", r"stream_options|include_usage"),
        ("mode", r"response_format|json|tools?\b|function|grammar|guided|schema"),
    )
}
_UNSUPPORTED = re.compile(
    r"(?:tools?|grammar|schema|format)\b.*(?:requires?|unsupported|not supported|failed to parse)",
    re.IGNORECASE,
)
_ALIVE, _ARGUMENTS = "alive", "arguments"


class Rejected(Unavailable):
    """The endpoint does not take the request as it is: what `about` names is not for it."""

    def __init__(self, message: str, about: str) -> None:
        super().__init__(message)
        self.about = about


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked, and in which form it must be answered."""

    system: str
    user: str
    mode: Mode
    form: Form
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Completion:
    """A whole reply: its words, from where the mode puts them, and what it cost if that is said."""

    text: str
    finish: str
    usage: Usage | None


class Model:
    """A model behind an OpenAI-compatible endpoint. Asks once for each call and retries nothing.

    Parameters that the endpoint was found not to take are left out from then on.
    """

    def __init__(self, endpoint: Endpoint, http: httpx2.AsyncClient) -> None:
        self.endpoint = endpoint
        self._omitted: set[str] = set()
        self._log = structlog.get_logger()
        self._chat = _Chat(
            model=endpoint.model,
            base_url=endpoint.url,
            # The SDK insists on a key; endpoints without keys do not look at it.
            api_key=SecretStr(endpoint.api_key or "none"),
            default_query=endpoint.query or None,
            http_async_client=http,
            timeout=http.timeout,
            max_retries=0,
            stream_chunk_timeout=None,  # Ours know the first word from the next.
            use_responses_api=False,  # Few compatible servers have it.
        )

    async def complete(self, request: Request) -> Completion:
        """The whole reply.

        Raises:
            NoDraft: It is no whole reply of the model.
            Rejected: The endpoint does not take the request as it is.
            Unavailable: It cannot be reached, answers with an error or not in time.
            Overloaded: It takes no more for now.
        """
        with self._named():
            # No text may go to LangSmith, whatever the environment says.
            with tracing_context(enabled=False):
                async with asyncio.timeout(self.endpoint.total_seconds):
                    answered = await self._chat.ainvoke(
                        _messages(request), extra_body=self._body(request)
                    )
            with _spent(answered):
                return _completion(answered, request.mode)

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """The reply's words as they come, and last what is known of it; its text is left out.

        Raises what `complete` does, and ends the upstream request when it is closed.
        """
        whole = AIMessageChunk(content="")
        with self._named():
            chunks = self._chat.astream(
                _messages(request), extra_body=self._body(request, streamed=True)
            )
            async with aclosing(self._paced(chunks)) as paced:
                async for chunk in paced:
                    piece = _piece(chunk, request.mode)
                    whole = AIMessageChunk(
                        content="",
                        additional_kwargs={**whole.additional_kwargs, **chunk.additional_kwargs},
                        response_metadata={**whole.response_metadata, **chunk.response_metadata},
                        usage_metadata=chunk.usage_metadata or whole.usage_metadata,
                    )
                    if piece:
                        yield piece
            with _spent(whole):
                _check(whole)
                if not _finish(whole):  # The endpoint hung up in mid-sentence.
                    raise NoDraft(Failure.TRUNCATED)
        yield Completion("", _finish(whole), _usage(whole))

    def learn(self, rejected: Rejected) -> bool:
        """Leaves out what was rejected from now on; False where it is not a mere parameter."""
        known = rejected.about in {"temperature", "tokens", "stream_options"}
        if known:
            self._omitted.add(rejected.about)
        return known

    async def context_tokens(self) -> int:
        """What the endpoint says its model takes; 0 where it does not say."""
        with self._named():
            async with asyncio.timeout(self.endpoint.connect_seconds * 2):
                listed = await self._chat.root_async_client.models.list()
            named = [one for one in listed.data if one.id == self.endpoint.model]
            if not named and listed.data:
                self._log.warning("model_not_listed", listed=len(listed.data))
            said = (named or listed.data or [None])[0]
            return (
                _context_of(said.model_dump()) if said and (named or len(listed.data) == 1) else 0
            )

    def _body(self, request: Request, *, streamed: bool = False) -> dict[str, Any]:
        # As the body's own, so that LangChain neither rewrites them nor parses the reply: its
        # parsers accept what we do not, and drop refusals from streams.
        body = parameters(request.mode, request.form)
        is_newer = self.endpoint.is_openai != ("tokens" in self._omitted)
        body["max_completion_tokens" if is_newer else "max_tokens"] = request.max_tokens
        if "temperature" not in self._omitted:
            body["temperature"] = 0
        if streamed and "stream_options" not in self._omitted:
            body["stream_options"] = {"include_usage": True}
        return body

    async def _paced(self, chunks: AsyncIterator[Any]) -> AsyncGenerator[AIMessageChunk]:
        """The chunks, as long as each comes in its time."""
        now = asyncio.get_running_loop().time
        end = now() + self.endpoint.total_seconds
        due = min(end, now() + self.endpoint.first_token_seconds)
        is_first = True
        try:
            while True:
                async with asyncio.timeout_at(due):
                    # LangChain looks at the first step whether to trace.
                    with tracing_context(enabled=False) if is_first else _nothing():
                        chunk = await anext(chunks, None)
                is_first = False
                if chunk is None:
                    return
                if not isinstance(chunk, AIMessageChunk):
                    raise NoDraft(Failure.MALFORMED)
                if chunk.additional_kwargs.pop(_ALIVE, False):
                    due = min(end, now() + self.endpoint.token_seconds)
                yield chunk
        finally:
            if isinstance(chunks, AsyncGenerator):
                await chunks.aclose()

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Gives each way in which a call can fail one of our own names, without the text it brings.

        LangChain and the SDK raise what they like when a reply is not what they expect, so all that
        is not foreseen here is a malformed reply.
        """
        try:
            yield
        except (NoDraft, Unavailable, Overloaded):
            raise
        except (TimeoutError, openai.APITimeoutError):
            raise Unavailable("The model did not answer in time; try again.") from None
        except openai.APIConnectionError as error:
            if any(isinstance(cause, _TooLarge) for cause in _causes(error)):
                raise NoDraft(Failure.TOO_LARGE) from None
            raise Unavailable(
                "The model's endpoint cannot be reached; check OPENAI_BASE_URL."
            ) from None
        except ContextOverflowError:
            raise Rejected(
                f"The request is too long for the model{_HINTS[413]}.", "context"
            ) from None
        except openai.RateLimitError as refused:
            raise Overloaded(
                "The model's endpoint takes no more requests for now.",
                retry_after=_retry_after(refused.response.headers.get("retry-after", "")),
            ) from None
        except openai.APIStatusError as refused:
            raise self._rejection(refused) from None
        except _TooLarge:
            raise NoDraft(Failure.TOO_LARGE) from None
        except Exception as error:  # noqa: BLE001 - see above
            self._log.warning("model_reply_malformed", error=type(error).__name__)
            raise NoDraft(Failure.MALFORMED) from None

    def _rejection(self, refused: openai.APIStatusError) -> Unavailable:
        code = refused.status_code
        about = _about(refused)
        self._log.warning("model_endpoint_refused", http_status=code, about=about)
        hint = _HINTS[413] if about == "context" else _HINTS.get(code, "")
        message = f"The model's endpoint answered HTTP {code}{hint}."
        if about or code == HTTPStatus.BAD_REQUEST:
            return Rejected(message, about or "mode")
        return Unavailable(message)


class _Chat(ChatOpenAI):
    """LangChain's client, and what it drops from replies that we need."""

    def _create_chat_result(
        self, response: dict[str, Any] | openai.BaseModel, generation_info: Any = None
    ) -> ChatResult:
        made = super()._create_chat_result(response, generation_info)
        message = response.choices[0].message  # type: ignore[union-attr]  # super() has looked.
        calls = message.tool_calls or []
        # As they were sent: LangChain's reading has lost what was said twice.
        kept = {_ARGUMENTS: [call.function.arguments for call in calls]}
        made.generations[0].message.additional_kwargs.update(kept)
        return made

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: Any
    ) -> ChatGenerationChunk | None:
        made = super()._convert_chunk_to_generation_chunk(
            chunk, default_chunk_class, base_generation_info
        )
        choices = chunk.get("choices") or []
        delta = choices[0].get("delta") if choices else None
        if made is not None and isinstance(delta, dict):
            said = {key: value for key, value in delta.items() if key != "role" and value}
            made.message.additional_kwargs[_ALIVE] = bool(said)
            if refusal := said.get("refusal"):
                made.message.additional_kwargs["refusal"] = str(refusal)
        return made


class _TooLarge(httpx2.TransportError):
    """A reply is over the bound on bytes."""


class _Bounded(httpx2.AsyncByteStream):
    """A reply's bytes, up to a bound."""

    def __init__(self, stream: httpx2.AsyncByteStream, most: int) -> None:
        self._stream = stream
        self._left = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            self._left -= len(piece)
            if self._left < 0:
                raise _TooLarge("")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


@asynccontextmanager
async def open_model(endpoint: Endpoint) -> AsyncIterator[Model]:
    """The endpoint's model."""
    # At DEBUG it would log whole requests, texts and all.
    logging.getLogger("openai").setLevel(logging.WARNING)
    # It says what to do about a refused mode; we do it.
    warnings.filterwarnings("ignore", "This model does not support OpenAI's structured output")
    warnings.filterwarnings("ignore", "Invalid schema for OpenAI's structured output")
    timeout = openai.Timeout(
        endpoint.total_seconds, connect=endpoint.connect_seconds, pool=endpoint.connect_seconds
    )

    async def with_key(request: httpx2.Request) -> None:
        if endpoint.is_azure:
            request.headers.pop("authorization", None)
            request.headers["api-key"] = endpoint.api_key

    async def bounded(response: httpx2.Response) -> None:
        stream = response.stream
        if isinstance(stream, httpx2.AsyncByteStream):
            response.stream = _Bounded(stream, endpoint.most_bytes)

    async with openai.DefaultAsyncHttpxClient(
        timeout=timeout,
        follow_redirects=False,
        event_hooks={"request": [with_key], "response": [bounded]},
    ) as http:
        yield Model(endpoint, http)


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@contextmanager
def _spent(answered: AIMessage) -> Iterator[None]:
    """What is no draft has its price all the same."""
    try:
        yield
    except NoDraft as none:
        raise NoDraft(none.failure, _usage(answered)) from None


def _messages(request: Request) -> list[SystemMessage | HumanMessage]:
    return [SystemMessage(request.system), HumanMessage(request.user)]


def _completion(answered: AIMessage, mode: Mode) -> Completion:
    _check(answered)
    text = str(answered.text)
    if mode is Mode.FUNCTION_CALLING:
        match answered.additional_kwargs.get(_ARGUMENTS, []):
            case [str(arguments)]:
                text = arguments
            case []:
                raise NoDraft(Failure.NOT_JSON if text.strip() else Failure.EMPTY)
            case _:
                raise NoDraft(Failure.WRONG_SHAPE)
    if len(text) > MAX_CHARS:
        raise NoDraft(Failure.TOO_LARGE)
    return Completion(text, _finish(answered), _usage(answered))


def _piece(chunk: AIMessageChunk, mode: Mode) -> str:
    if mode is not Mode.FUNCTION_CALLING:
        return str(chunk.text)
    if any(part.get("index") not in {0, None} for part in chunk.tool_call_chunks):
        raise NoDraft(Failure.WRONG_SHAPE)
    if chunk.text.strip():
        raise NoDraft(Failure.NOT_JSON)
    return "".join(part["args"] or "" for part in chunk.tool_call_chunks)


def _check(answered: AIMessage) -> None:
    finish = _finish(answered)
    if finish == "length":
        raise NoDraft(Failure.TRUNCATED)
    if finish == "content_filter" or answered.additional_kwargs.get("refusal"):
        raise NoDraft(Failure.REFUSED)


def _finish(answered: AIMessage) -> str:
    return str(answered.response_metadata.get("finish_reason") or "")


def _usage(answered: AIMessage) -> Usage | None:
    said = answered.usage_metadata
    return (
        Usage(said["input_tokens"], said["output_tokens"])
        if said and said["total_tokens"]
        else None
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    while cause := error.__cause__:
        yield cause
        error = cause


def _about(refused: openai.APIStatusError) -> str:
    """What of the request the endpoint does not take; empty where that is not what it says."""
    said = f"{refused.param or ''} {refused.code or ''} {refused.message}"
    if refused.status_code == HTTPStatus.INTERNAL_SERVER_ERROR:  # llama.cpp's server.
        return "mode" if _UNSUPPORTED.search(said) else ""
    if refused.status_code not in _BAD_REQUEST:
        return ""
    return next((name for name, words in _ABOUT.items() if words.search(said)), "")


def _context_of(listed: dict[str, Any]) -> int:
    """VLLM says max_model_len; llama.cpp says n_ctx among its own."""
    meta = listed.get("meta") or {}
    for said in (listed.get("max_model_len"), meta.get("n_ctx"), listed.get("context_length")):
        if isinstance(said, int) and said > 0:
            return said
    return 0


def _retry_after(header: str) -> float:
    try:
        asked = float(header)
    except ValueError:  # A date, or nothing.
        return _BACK_OFF_SECONDS
    return (
        min(max(asked, 0.0), _MAX_BACK_OFF_SECONDS) if math.isfinite(asked) else _BACK_OFF_SECONDS
    )
