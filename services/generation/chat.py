"""LangChain's client of an OpenAI-compatible endpoint, bounded, and with what it would drop."""

import logging
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import openai
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from services.generation.endpoint import Endpoint
from services.generation.refusals import TooLarge

# In a message's additional_kwargs: whether a chunk says anything; the tools' arguments as sent.
ALIVE, ARGUMENTS = "alive", "arguments"


class Chat(ChatOpenAI):
    """LangChain's client, and what it drops from replies that we need."""

    def _create_chat_result(
        self, response: dict[str, Any] | openai.BaseModel, generation_info: Any = None
    ) -> ChatResult:
        made = super()._create_chat_result(response, generation_info)
        message = response.choices[0].message  # type: ignore[union-attr]  # super() has looked.
        calls = message.tool_calls or []
        # As they were sent: LangChain's reading has lost what was said twice.
        kept = {ARGUMENTS: [call.function.arguments for call in calls]}
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
            made.message.additional_kwargs[ALIVE] = bool(said)
            if refusal := said.get("refusal"):
                made.message.additional_kwargs["refusal"] = str(refusal)
        return made


class _Bounded(httpx2.AsyncByteStream):
    """A reply's bytes, up to a bound."""

    def __init__(self, stream: httpx2.AsyncByteStream, most: int) -> None:
        self._stream = stream
        self._left = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            self._left -= len(piece)
            if self._left < 0:
                raise TooLarge("")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


@asynccontextmanager
async def open_chat(endpoint: Endpoint) -> AsyncIterator[Chat]:
    """A client that retries nothing, follows no redirect and reads no reply without end."""
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
        yield Chat(
            model=endpoint.model,
            base_url=endpoint.url,
            # The SDK insists on a key; endpoints without keys do not look at it.
            api_key=SecretStr(endpoint.api_key or "none"),
            default_query=endpoint.query or None,
            http_async_client=http,
            timeout=timeout,
            max_retries=0,
            stream_chunk_timeout=None,  # Ours know the first word from the next.
            use_responses_api=False,  # Few compatible servers have it.
        )
