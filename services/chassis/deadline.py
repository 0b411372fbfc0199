"""The deadline of the RPC being served, so that every call made for it fits inside it."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

from services.chassis.errors import DeadlineExceeded

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


def remaining() -> float | None:
    """Seconds left of the RPC being served, never below 0; None outside one."""
    deadline = _deadline.get()
    return None if deadline is None else max(0.0, deadline - time.monotonic())


@asynccontextmanager
async def within(seconds: float) -> AsyncIterator[None]:
    """Ends the block with DeadlineExceeded when it takes longer than `seconds`."""
    token = _deadline.set(time.monotonic() + seconds)
    timer = asyncio.timeout(seconds)
    try:
        async with timer:
            yield
    except TimeoutError as timeout:
        # The block may have timed out on something of its own, which is not the caller's deadline.
        if not timer.expired():
            raise
        raise DeadlineExceeded("The call's deadline has passed.") from timeout
    finally:
        _deadline.reset(token)
