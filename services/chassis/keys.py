"""The public keys that tokens are signed with: from a JWKS file or URL, kept, and kept fresh."""

import asyncio
import json
import ssl
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import structlog
from jwt import PyJWK, PyJWTError

from services.chassis.errors import Unauthenticated, Unavailable

# A key as RFC 7517 writes it.
Jwk = dict[str, Any]

_MOST_BYTES = 1024 * 1024
_MOST_KEYS = 100


class Keys:
    """Signature keys by id. The last ones that could be read hold until others can.

    Args:
        place: A file, or an https URL.
        fresh_seconds: After which they are read again.
        pause_seconds: Between two reads for the sake of ids that are not known.
        seconds: What one read may take.
        read: Reads the place; blocks, and runs on a thread.
        clock: Seconds.
    """

    def __init__(
        self,
        place: str,
        *,
        fresh_seconds: float = 300.0,
        pause_seconds: float = 10.0,
        seconds: float = 5.0,
        read: Callable[[str, float], bytes] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._place = place
        self._fresh_seconds = fresh_seconds
        self._pause_seconds = pause_seconds
        self._seconds = seconds
        self._read = read or _read
        self._clock = clock
        self._keys: Mapping[str, Jwk] = {}
        self._reading: asyncio.Task[bool] | None = None
        self._looked = float("-inf")
        self._log = structlog.get_logger(__name__).bind()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Keys"]:
        """In the block they are read again and again, beside whatever else is done."""
        fresh = asyncio.create_task(self._keep_fresh())
        try:
            yield self
        finally:
            for task in filter(None, (fresh, self._reading)):
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    async def ready(self) -> None:
        """Returns once there are keys."""
        while not self._keys:
            if not await self._refresh():
                await asyncio.sleep(1.0)

    async def get(self, kid: str | None) -> Jwk:
        """The key of this id; without an id, the only one there is.

        An id that is not known has the keys read once more, but not more often than the pause
        allows. Raises Unauthenticated, and Unavailable while no keys could be read at all.
        """
        found = self._find(kid)
        if found is None and self._clock() - self._looked >= self._pause_seconds:
            self._looked = self._clock()
            await self._refresh()
            found = self._find(kid)
        if found is None and not self._keys:
            raise Unavailable("The keys that tokens are checked with cannot be read; try again.")
        if found is None:
            raise Unauthenticated("The token is signed with a key that is not known here.")
        return found

    def _find(self, kid: str | None) -> Jwk | None:
        if kid is None:
            return next(iter(self._keys.values())) if len(self._keys) == 1 else None
        return self._keys.get(kid)

    async def _keep_fresh(self) -> None:
        while True:
            await self._refresh()
            await asyncio.sleep(self._fresh_seconds)

    async def _refresh(self) -> bool:
        """Whether they could be read; callers at the same time share one read."""
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read_once())
        return await asyncio.shield(self._reading)

    async def _read_once(self) -> bool:
        try:
            async with asyncio.timeout(self._seconds):
                data = await asyncio.to_thread(self._read, self._place, self._seconds)
            self._keys = parsed(data)
        except (OSError, ValueError, TimeoutError) as error:
            self._log.warning(
                "keys_not_read", error=type(error).__name__, keys_before=len(self._keys)
            )
            return False
        return True


def parsed(data: bytes) -> dict[str, Jwk]:
    """The keys of a JWKS that are for signatures and public. Raises ValueError where none is."""
    try:
        listed = json.loads(data)["keys"]
        found = {str(one.get("kid", n)): one for n, one in enumerate(_public(listed))}
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError("it is no JSON Web Key Set") from error
    if not found:
        raise ValueError("it has no public key for signatures")
    return found


def _public(listed: list[Jwk]) -> list[Jwk]:
    found = []
    for one in listed[:_MOST_KEYS]:
        # A shared secret in a set of public keys is none.
        if one.get("kty") not in {"RSA", "EC", "OKP"} or one.get("use", "sig") != "sig":
            continue
        with suppress(PyJWTError):  # Of a kind that is not known here.
            PyJWK(one)
            found.append(one)
    return found


def _read(place: str, seconds: float) -> bytes:
    if "://" not in place:
        with Path(place).open("rb") as file:
            return file.read(_MOST_BYTES)
    request = urllib.request.Request(place, headers={"Accept": "application/json"})  # noqa: S310 - settings bind it to https
    opener = urllib.request.build_opener(
        urllib.request.HTTPSHandler(context=ssl.create_default_context()), _NoRedirects()
    )
    with opener.open(request, timeout=seconds) as reply:
        data: bytes = reply.read(_MOST_BYTES)
        return data


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Keys are where the setting says, and nowhere else."""

    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        return None
