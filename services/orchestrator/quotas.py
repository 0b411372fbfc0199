"""What one tenant may ask of this process: so many questions at once, so many in a minute; pure."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from services.chassis.errors import Overloaded

_MINUTE = 60.0
_AT_ONCE_RETRY_SECONDS = 1.0


@dataclass(slots=True)
class _Use:
    running: int = 0
    # When the questions of the last minute arrived.
    arrived: deque[float] = field(default_factory=deque)


class Quotas:
    """Counts the questions of each tenant; forgets those who ask none.

    Args:
        at_once: Questions that one tenant may have answered at once; 0: any number.
        per_minute: Questions that it may ask within any minute; 0: any number.
        clock: Seconds.
    """

    def __init__(
        self, at_once: int = 0, per_minute: int = 0, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._at_once, self._per_minute, self._clock = at_once, per_minute, clock
        self._used: dict[str, _Use] = {}

    @contextmanager
    def asking(self, tenant: str) -> Iterator[None]:
        """One question. Raises Overloaded, with when to try again, for one too many."""
        now = self._clock()
        self._forget(now)
        use = self._used.setdefault(tenant, _Use())
        if self._at_once and use.running >= self._at_once:
            raise Overloaded(
                f"{self._at_once} questions of your tenant are being answered, which is the limit; "
                "try again.",
                retry_after=_AT_ONCE_RETRY_SECONDS,
            )
        if self._per_minute and len(use.arrived) >= self._per_minute:
            raise Overloaded(
                f"Your tenant has asked {self._per_minute} questions within a minute, which is the "
                "limit; wait.",
                retry_after=max(0.001, use.arrived[0] + _MINUTE - now),
            )
        use.running += 1
        if self._per_minute:
            use.arrived.append(now)
        try:
            yield
        finally:
            use.running -= 1

    def _forget(self, now: float) -> None:
        for tenant, use in list(self._used.items()):
            while use.arrived and use.arrived[0] <= now - _MINUTE:
                use.arrived.popleft()
            if not use.running and not use.arrived:
                del self._used[tenant]
