"""One call to a Qdrant server: how long it may take, and what its failure means."""

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse

from services.chassis import deadline
from services.chassis.errors import DeadlineExceeded, Overloaded, Unavailable

# What a call to Qdrant may take when the RPC being served leaves it more, or when there is none.
MAX_SECONDS = 30.0


@asynccontextmanager
async def bounded() -> AsyncIterator[int]:
    """Bounds one call, says what its failure means, and yields the seconds to tell the client."""
    left = deadline.remaining()
    seconds = MAX_SECONDS if left is None else min(left, MAX_SECONDS)
    try:
        # The client's own timeouts are whole seconds and are not obeyed everywhere.
        async with asyncio.timeout(seconds):
            yield math.ceil(seconds) or 1
    except TimeoutError as error:
        raise _too_late(left) from error
    except ResourceExhaustedResponse as error:
        raise Overloaded(
            "The index has too much to do; try again.", retry_after=float(error.retry_after_s)
        ) from error
    except grpc.aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
            raise _too_late(left) from error
        if error.code() is grpc.StatusCode.UNAVAILABLE:
            raise Unavailable("The index cannot be reached; try again.") from error
        # Not to be passed on: what Qdrant says of our request is no word about our caller's.
        raise RuntimeError(f"Qdrant answered {error.code().name}") from error


def _too_late(left: float | None) -> Exception:
    if left is not None and left <= MAX_SECONDS:
        return DeadlineExceeded("The index did not answer within the call's deadline.")
    return Unavailable("The index did not answer in time; try again.")
