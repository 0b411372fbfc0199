"""The Redis that the memory is kept in: how it is called, how it fails, what is wrong with it."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import redis.asyncio as redis
import structlog
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from services.chassis.errors import Unavailable
from services.orchestrator.breaker import Breaker

_log = structlog.get_logger()

_DOWN = "The conversation memory is down; try again later."
_FAILURES = (RedisConnectionError, RedisTimeoutError, TimeoutError)
# The policy of a store that refuses rather than drop what it holds.
_KEEPS = "noeviction"


class RedisStore:
    """A Redis that may be down, of which callers then hear at once.

    Args:
        client: Connected to it, with replies as bytes and without retries of its own.
        timeout_seconds: The most one operation may take.
        pause_seconds: How long a store that failed is left alone.
    """

    def __init__(
        self, client: redis.Redis, *, timeout_seconds: float, pause_seconds: float
    ) -> None:
        self.client = client
        self._timeout = timeout_seconds
        self._breaker = Breaker(_DOWN, _FAILURES, pause_seconds=pause_seconds)

    @asynccontextmanager
    async def operation(self) -> AsyncIterator[None]:
        """Bounds one use of the store, and says its failures in our words."""
        with self._breaker.guarding():
            try:
                async with asyncio.timeout(self._timeout):
                    yield
            except _FAILURES:
                raise
            except RedisError as error:
                # It answers, but refuses: out of memory, read-only, no permission.
                raise Unavailable(
                    "The conversation memory refuses to be used: is it full, or read-only?"
                ) from error

    async def check(self) -> None:
        """Warns of a store that would drop what it was given to keep."""
        try:
            policy = await self._policy()
        except Unavailable as error:
            _log.warning("memory_unchecked", reason=str(error))
        else:
            if policy != _KEEPS:
                _log.warning("memory_may_evict", maxmemory_policy=policy, wanted=_KEEPS)

    async def missing(self) -> str:
        """Why it cannot be relied on; nothing when it can. Raises Unavailable."""
        async with self.operation():
            await reply(self.client.ping())
        policy = _KEEPS
        with suppress(Unavailable):  # Where it is someone else's to run, it may not be asked.
            policy = await self._policy()
        if policy != _KEEPS:
            return f"it may drop answers: its maxmemory-policy is {policy}, not {_KEEPS}"
        return ""

    async def clock_offset(self) -> float:
        """By how many seconds the store's clock is ahead of this machine's. Raises Unavailable."""
        async with self.operation():
            before = time.time()
            seconds, micros = await reply(self.client.time())
            after = time.time()
        return float(seconds) + float(micros) / 1e6 - (before + after) / 2

    async def _policy(self) -> str:
        async with self.operation():
            return str((await self.client.config_get("maxmemory-policy"))["maxmemory-policy"])


@asynccontextmanager
async def open_store(
    url: str, *, timeout_seconds: float, pause_seconds: float
) -> AsyncIterator[RedisStore]:
    """The store at `url`; it need not be up yet."""
    client = redis.from_url(
        url,
        socket_connect_timeout=timeout_seconds,
        socket_timeout=timeout_seconds,
        # A repeated script would store an answer twice; the breaker decides when to try again.
        retry=Retry(NoBackoff(), 0),
    )
    async with client:
        yield RedisStore(client, timeout_seconds=timeout_seconds, pause_seconds=pause_seconds)


async def reply(pending: Awaitable[Any] | Any) -> Any:
    """What a command answers; redis-py types its commands for both its clients at once."""
    return await cast("Awaitable[Any]", pending)
