"""One request to a model's endpoint, whole or as a stream, each in its time."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import structlog
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage
from langsmith import tracing_context

from services.generation.chat import ALIVE, ARGUMENTS, Chat, open_chat
from services.generation.drafter import Failure, NoDraft, Usage
from services.generation.endpoint import Endpoint
from services.generation.modes import Form, Mode, parameters
from services.generation.refusals import Rejected, named
from services.generation.strict_json import MAX_CHARS


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

    def __init__(self, endpoint: Endpoint, chat: Chat) -> None:
        self.endpoint = endpoint
        self._omitted: set[str] = set()
        self._log = structlog.get_logger()
        self._chat = chat

    async def complete(self, request: Request) -> Completion:
        """The whole reply.

        Raises:
            NoDraft: It is no whole reply of the model.
            Rejected: The endpoint does not take the request as it is.
            Unavailable: It cannot be reached, answers with an error or not in time.
            Overloaded: It takes no more for now.
        """
        with named():
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
        with named():
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
        with named():
            async with asyncio.timeout(self.endpoint.connect_seconds * 2):
                listed = await self._chat.root_async_client.models.list()
            ours = [one for one in listed.data if one.id == self.endpoint.model]
            if not ours and listed.data:
                self._log.warning("model_not_listed", listed=len(listed.data))
            only = ours or (listed.data if len(listed.data) == 1 else [])
            return _context_of(only[0].model_dump()) if only else 0

    def _body(self, request: Request, *, streamed: bool = False) -> dict[str, Any]:
        # As the body's own, so that LangChain neither rewrites them nor parses the reply (ADR 20).
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
                if chunk.additional_kwargs.pop(ALIVE, False):
                    due = min(end, now() + self.endpoint.token_seconds)
                yield chunk
        finally:
            if isinstance(chunks, AsyncGenerator):
                await chunks.aclose()


@asynccontextmanager
async def open_model(endpoint: Endpoint) -> AsyncIterator[Model]:
    """The endpoint's model."""
    async with open_chat(endpoint) as chat:
        yield Model(endpoint, chat)


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
        match answered.additional_kwargs.get(ARGUMENTS, []):
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


def _context_of(listed: dict[str, Any]) -> int:
    """VLLM says max_model_len; llama.cpp says n_ctx among its own."""
    meta = listed.get("meta") or {}
    for said in (listed.get("max_model_len"), meta.get("n_ctx"), listed.get("context_length")):
        if isinstance(said, int) and said > 0:
            return said
    return 0
