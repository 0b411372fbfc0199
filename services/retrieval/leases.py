"""Who may write a document now, and how every write ends with nothing left over.

A writer holds a lease on its document. Whatever becomes of the writer (done, failed, cancelled,
killed), the lease is settled: all that the document's record does not name is removed, then the
lease itself.
"""

import asyncio
import contextvars
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import structlog

from services.chassis.errors import Aborted, DeadlineExceeded, Unavailable
from services.retrieval import payload
from services.retrieval.catalog import Catalog
from services.retrieval.index import Index, Kind, Point, Record, Where
from services.retrieval.originals import Originals

# Leases are no customer's data: they belong to a tenant that no caller can be.
_SYSTEM = ""
# The lease, of no document, that stands while no write may begin.
_CLOSED = "c105ed00-0000-4000-8000-000000000000"
_POLL_SECONDS = 0.2
# How often that one is renewed within the time by which a lease may outlive its writer.
_RENEWALS = 4


@dataclass(frozen=True, slots=True)
class _Lease:
    """One writer's hold on one document of one tenant, the owner.

    Attributes:
        amends: It changes what passages say of their document.
    """

    id: str
    token: str
    owner: str
    document_id: str
    since: float
    amends: bool = False


class Leases:
    """Gives each document to one writer at a time, over all processes that share the index.

    Args:
        index: Where leases are kept, beside what they guard.
        catalog: Says which version is current.
        originals: Where bytes are kept.
        seconds: The most a write may last.
        margin_seconds: A lease that is this much older is taken to be a dead writer's.
        clock: Seconds since the epoch.
    """

    def __init__(
        self,
        index: Index,
        catalog: Catalog,
        originals: Originals,
        *,
        seconds: float,
        margin_seconds: float = 60.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._index = index
        self._catalog = catalog
        self._originals = originals
        self._seconds = seconds
        self._margin = margin_seconds
        self._dead_after = seconds + margin_seconds
        self._clock = clock
        self._log = structlog.get_logger()
        self._settling: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def writing(
        self, tenant: str, document_id: str, *, amends: bool = False
    ) -> AsyncIterator[Callable[[], None]]:
        """Holds the document, and afterwards removes what its record does not name.

        With `amends`, passages afterwards say of their document what its record says.

        Yields a check to be called before every write: it raises when the time is used up, since
        another writer may hold the document soon. Raises Aborted when one does so now.
        """
        lease = await self._acquire(tenant, document_id, amends=amends)
        try:
            yield partial(self._check, lease)
        finally:
            # In a task and a context of its own: neither the caller's cancellation nor its
            # deadline, which may be why we are here, can stop the cleaning.
            task = asyncio.create_task(self._settle_or_log(lease), context=contextvars.Context())
            self._settling.add(task)
            task.add_done_callback(self._settling.discard)
            await asyncio.shield(task)

    async def recover(self, *, alone: bool) -> int:
        """Settles what dead writers left, and returns how many they were.

        Args:
            alone: No other process uses this index, and this one is not writing: all are dead.
        """
        records = await self._index.scroll(Where(_SYSTEM, Kind.LEASE))
        leases = [_to_lease(record.payload["lease"]) for record in records]
        dead = [lease for lease in leases if alone or self._age(lease) >= self._dead_after]
        for lease in dead:
            await self._settle(lease)
        return len(dead)

    @asynccontextmanager
    async def closed(self, seconds: float) -> AsyncIterator[Callable[[], None]]:
        """No write begins in the block, and those that had begun have ended before it.

        Yields a check to be called before what no write may meet: it raises Unavailable when the
        sign that keeps writes away could not be renewed, since writers believe no old one. Raises
        Aborted when those that had begun do not end within `seconds`.
        """
        sign = _Lease(_CLOSED, uuid.uuid4().hex, _SYSTEM, _CLOSED, self._clock())

        async def renew() -> None:
            nonlocal sign
            renewed = replace(sign, since=self._clock())
            await self._index.upsert([_to_point(renewed)])
            sign = renewed

        def check() -> None:
            if self._age(sign) >= self._margin:
                raise Unavailable("The index did not answer for too long; try again.")

        renewing = asyncio.create_task(self._again_and_again(renew))
        try:
            await renew()
            await self._drained(seconds)
            yield check
        finally:
            renewing.cancel()
            await asyncio.wait([renewing])
            await self._release_or_log(sign)

    async def _again_and_again(self, renew: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(self._margin / _RENEWALS)
            try:
                await renew()
            except Exception as error:  # noqa: BLE001 - tried again, and the check knows
                self._log.warning("index_closed_not_renewed", error=type(error).__name__)

    async def _drained(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                leases = Where(_SYSTEM, Kind.LEASE)
                # Other processes' leases: nobody tells when they end.
                while {record.id for record in await self._index.scroll(leases)} - {_CLOSED}:  # noqa: ASYNC110
                    await asyncio.sleep(_POLL_SECONDS)
        except TimeoutError as error:
            raise Aborted("Writes that had begun did not end in time; try again.") from error

    async def _release_or_log(self, sign: _Lease) -> None:
        # What the block did is done, whatever becomes of the sign: too old, it is not believed.
        try:
            await self._release(sign)
        except Exception as error:  # noqa: BLE001
            self._log.warning("index_not_reopened", error=type(error).__name__)

    def _age(self, lease: _Lease) -> float:
        return self._clock() - lease.since

    def _check(self, lease: _Lease) -> None:
        if self._age(lease) >= self._seconds:
            raise DeadlineExceeded(f"The write took longer than {self._seconds:g} s; try again.")

    async def _acquire(self, tenant: str, document_id: str, *, amends: bool) -> _Lease:
        id_ = str(uuid.uuid5(uuid.UUID(document_id), f"lease of {tenant}"))
        for _ in range(2):
            mine = _Lease(id_, uuid.uuid4().hex, tenant, document_id, self._clock(), amends)
            held = await self._insert(mine)
            if held.token == mine.token:
                return mine
            if self._age(held) < self._dead_after:
                break
            await self._settle(held)
        raise Aborted("Another call is writing this document; try again when it has ended.")

    async def _insert(self, lease: _Lease) -> _Lease:
        await self._index.upsert([_to_point(lease)], only_new=True)
        # Whoever came first is in the index, and everyone reads the same.
        found = await self._index.get(_SYSTEM, Kind.LEASE, [lease.id, _CLOSED])
        if lease.id not in found:
            raise Aborted("Another call has just written this document; try again.")
        held = _to_lease(found[lease.id].payload["lease"])
        if held.token == lease.token and self._is_closed(found.get(_CLOSED)):
            await self._release(lease)
            raise Unavailable("The index is being switched to a new one; try again in a minute.")
        return held

    def _is_closed(self, sign: Record | None) -> bool:
        # A dead one stays: to remove it could be to remove the next one, just put up.
        return sign is not None and self._age(_to_lease(sign.payload["lease"])) < self._dead_after

    async def _release(self, lease: _Lease) -> None:
        await self._index.delete(
            Where(_SYSTEM, Kind.LEASE, any_of={"document_id": [lease.document_id]})
        )

    async def _settle_or_log(self, lease: _Lease) -> None:
        try:
            await self._settle(lease)
        except Exception as error:  # noqa: BLE001 - the write is decided; recovery is left
            self._log.warning(
                "lease_not_settled", document_id=lease.document_id, error=type(error).__name__
            )

    async def _settle(self, lease: _Lease) -> None:
        current = await self._catalog.find(lease.owner, lease.document_id)
        await self._index.delete(
            Where(
                lease.owner,
                Kind.PASSAGE,
                any_of={"document_id": [lease.document_id]},
                none_of={"sha256": [current.sha256]} if current else {},
            )
        )
        if current and lease.amends:
            await self._index.amend(
                Where(lease.owner, Kind.PASSAGE, any_of={"document_id": [lease.document_id]}),
                payload.from_metadata(current.metadata),
            )
        await self._originals.keep_only(
            lease.owner, lease.document_id, current.sha256 if current else None
        )
        await self._release(lease)
        # Once for the whole write: a log that is cut off before is a writer that died there.
        await self._index.flush()


def _to_point(lease: _Lease) -> Point:
    return Point(
        lease.id,
        {
            "tenant": _SYSTEM,
            "kind": Kind.LEASE.value,
            "document_id": lease.document_id,
            "lease": asdict(lease),
        },
    )


def _to_lease(fields: Mapping[str, Any]) -> _Lease:
    return _Lease(**fields)
