"""One step ahead: while what came of one call is used, the next call is under way."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def ahead(calls: Iterable[Callable[[], Coroutine[Any, Any, T]]]) -> AsyncGenerator[T, None]:
    """What each call returns, in order. No two run at once; none goes on when this is closed."""
    under_way: asyncio.Task[T] | None = None
    try:
        for call in calls:
            if under_way is None:
                under_way = asyncio.create_task(call())
                continue
            result = await under_way
            under_way = asyncio.create_task(call())
            yield result
        if under_way is not None:
            yield await under_way
    finally:
        if under_way is not None:
            under_way.cancel()
            await asyncio.gather(under_way, return_exceptions=True)
