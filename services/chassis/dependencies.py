"""What a process needs from outside: looked at again and again, and named when it is missing.

Each has a name of its own in the health service, `dependency/NAME`, so that a probe or a person can
ask for it. Readiness does not follow: a process that can answer without a store goes on answering,
and one store that is down must not take every process behind it out of service.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import structlog

from services.chassis import telemetry
from services.chassis.errors import FailedPrecondition, Unavailable
from services.chassis.health import Health

EVERY_SECONDS = 15.0
# While something is missing: its return is soon known, as are those that start together.
MISSING_SECONDS = 2.0
CHECK_SECONDS = 5.0
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Dependency:
    """One thing that is needed.

    Attributes:
        name: Such as "memory".
        missing: Says why it cannot be used, and nothing when it can. It may raise.
        mend: What whoever runs the process can do, in one line.
    """

    name: str
    missing: Callable[[], Awaitable[str]]
    mend: str


class Watch:
    """Tells the health service, the log and a gauge of each change.

    Args:
        dependencies: What is watched.
        health: Where it is said.
        seconds: What one look may take.
    """

    def __init__(
        self,
        dependencies: Sequence[Dependency],
        health: Health,
        *,
        seconds: float = CHECK_SECONDS,
    ) -> None:
        self._dependencies, self._health, self._seconds = dependencies, health, seconds
        self._told: dict[str, str] = {}
        self._up = telemetry.meter().create_gauge(
            "verity.dependency.up", description="1 while what a process needs can be used."
        )
        self._log = structlog.get_logger(__name__)

    async def run(self, every: float = EVERY_SECONDS) -> None:
        """Looks until it is cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(min(every, MISSING_SECONDS) if any(self._told.values()) else every)

    async def look(self) -> None:
        """Looks at all of them once."""
        reasons = await asyncio.gather(*map(self._reason, self._dependencies))
        for dependency, reason in zip(self._dependencies, reasons, strict=True):
            self._tell(dependency, reason)

    async def _reason(self, dependency: Dependency) -> str:
        try:
            async with asyncio.timeout(self._seconds):
                return await dependency.missing()
        except TimeoutError:
            return f"it did not answer within {self._seconds:g} s"
        except (Unavailable, FailedPrecondition) as error:
            return str(error)  # Written by us.
        except Exception as error:  # noqa: BLE001 - whatever it is, it cannot be used
            return f"it cannot be used: {type(error).__name__}"

    def _tell(self, dependency: Dependency, reason: str) -> None:
        name = dependency.name
        self._up.set(0 if reason else 1, {"dependency": name})
        self._health.depends(name, usable=not reason)
        before = self._told.get(name, "")
        self._told[name] = reason
        if reason and reason != before:
            self._log.warning(
                "dependency_missing", dependency=name, reason=reason, mend=dependency.mend
            )
        elif before and not reason:
            self._log.info("dependency_back", dependency=name)


async def unreachable(url: str) -> str:
    """Why nothing listens where the URL leads; empty when something does."""
    parts = urlsplit(url)
    port = parts.port or _PORTS.get(parts.scheme, 0)
    try:
        _, writer = await asyncio.open_connection(parts.hostname, port)
    except OSError as error:
        return f"no connection: {error.strerror or type(error).__name__}"
    writer.close()
    return ""
