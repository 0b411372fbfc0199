"""Keeps callers away from a store that is down, so that it does not slow each of them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from services.chassis.errors import Unavailable


class Breaker:
    """Opens at the first failure; after a pause one caller tries the store again.

    Args:
        message: What callers are told while the store is down.
        failures: The exceptions that mean it is.
        pause_seconds: Between two tries.
    """

    def __init__(
        self, message: str, failures: tuple[type[Exception], ...], *, pause_seconds: float
    ) -> None:
        self._message = message
        self._failures = failures
        self._pause = pause_seconds
        self._down = False
        self._retry_at = 0.0

    @contextmanager
    def guarding(self) -> Iterator[None]:
        """Raises Unavailable: at once while the store is known to be down, else when it fails."""
        if self._down:
            if time.monotonic() < self._retry_at:
                raise Unavailable(self._message)
            self._retry_at = time.monotonic() + self._pause  # This caller tries, the others wait.
        try:
            yield
        except self._failures as failure:
            self._down = True
            self._retry_at = time.monotonic() + self._pause
            raise Unavailable(self._message) from failure
        except Exception:
            self._down = False  # It answered, though not as hoped.
            raise
        self._down = False
