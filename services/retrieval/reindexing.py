"""Builds the index on a Qdrant server anew, while it is read and written, and switches to it.

Documents are copied one by one into a new collection, and those that changed meanwhile again. For
the last of them no write may begin, for seconds; then the alias is switched. Reads never wait.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import structlog
from qdrant_client import AsyncQdrantClient, models

from services.chassis.errors import FailedPrecondition, NotFound
from services.retrieval import payload
from services.retrieval.embedding import Vector
from services.retrieval.index import (
    DENSE_VECTOR,
    SPARSE_VECTOR,
    Kind,
    Point,
    SparseVector,
    Where,
)
from services.retrieval.leases import Leases
from services.retrieval.passage import Passage
from services.retrieval.qdrant_call import bounded
from services.retrieval.qdrant_layout import Generations
from services.retrieval.qdrant_server import ServerIndex

# Both vectors of all passages of one document of a tenant, in the order of the document.
Anew = Callable[[str, Sequence[Passage]], Awaitable[Sequence[tuple[Vector, SparseVector]]]]
_Document = dict[str, Any]

_PASSES = 2
_GROUP = 64
_PAGE = 500


@dataclass(frozen=True, slots=True)
class Built:
    """The new collection, and the one before, which stays until it is dropped."""

    collection: str
    before: str
    documents: int
    passages: int


class Reindexer:
    """Copies what an alias names into a new collection.

    Args:
        client: The server's.
        target: The collections of the model and schema of now.
        source: The alias that is copied; the target's own, or that of another model or schema.
        leases: Of a collection: keeps writers from it for a while.
        anew: Embeds passages; None: their vectors are copied as they are.
    """

    def __init__(
        self,
        client: AsyncQdrantClient,
        target: Generations,
        source: str,
        leases: Callable[[ServerIndex], Leases],
        anew: Anew | None = None,
    ) -> None:
        if anew is None and source != target.alias:
            raise FailedPrecondition(f"{source} is of another model: embed its passages anew.")
        self._client = client
        self._target = target
        self._source = source
        self._leases = leases
        self._anew = anew
        self._log = structlog.get_logger()

    async def build(self, *, drain_seconds: float) -> Built:
        """Builds a new collection and makes the target's alias name it.

        Raises Aborted when writes that had begun did not end within `drain_seconds`, and
        FailedPrecondition when what was ingested meanwhile would be lost. Then, as after any
        failure before the switch, all is as before.
        """
        before = await self._resolved()
        await self._check_unchanged(before)
        new = await self._target.next()
        copied: dict[str, _Document] = {}
        async with AsyncExitStack() as stack:
            try:
                await self._target.create(new)
                # The second pass has to do with what changed during the first, and is as much
                # shorter.
                for _ in range(_PASSES):
                    documents = await self._catch_up(before, new, copied)
                    self._log.info("reindex_pass", collection=new, documents=documents)
                source = ServerIndex(self._client, before, self._target.layout)
                check = await stack.enter_async_context(self._leases(source).closed(drain_seconds))
                await self._catch_up(before, new, copied)
                await self._check_unchanged(before)
                check()
            except BaseException:
                await self._remove(new)
                raise
            await self._switch(new)
        passages = sum(document["passage_count"] for document in copied.values())
        return Built(new, before, len(copied), passages)

    async def _check_unchanged(self, before: str) -> None:
        if await self._resolved() != before:
            raise FailedPrecondition(f"{self._source} was switched meanwhile; start over.")
        if self._source != self._target.alias and await self._target.current() is not None:
            raise FailedPrecondition(
                f"{self._target.alias} is in use already: what was ingested there would be lost."
            )

    async def _switch(self, new: str) -> None:
        try:
            await self._target.switch(new)
        except Exception:
            # It may be done, now or yet, and only its answer be missing: the collection stays.
            if await self._target.current() != new:
                self._log.warning("reindex_not_switched", collection=new)
                raise

    async def _remove(self, new: str) -> None:
        try:
            async with bounded():
                await self._client.delete_collection(new)
        except Exception as error:  # noqa: BLE001 - what failed before is to be told
            self._log.warning("reindex_left_over", collection=new, error=type(error).__name__)

    async def _resolved(self) -> str:
        async with bounded():
            aliases = (await self._client.get_aliases()).aliases
        for alias in aliases:
            if alias.alias_name == self._source:
                return alias.collection_name
        raise NotFound(f"There is no alias {self._source} on the server.")

    async def _catch_up(self, source: str, new: str, copied: dict[str, _Document]) -> int:
        """Makes the new collection hold what the source holds; `copied` says what it held before.

        Returns how many documents were not the same.
        """
        index = ServerIndex(self._client, new, self._target.layout)
        found = {
            str(record.id): record.payload or {}
            for record in await self._scroll(source, {"kind": Kind.DOCUMENT.value}, vectors=False)
        }
        changed = [id_ for id_, document in found.items() if copied.get(id_) != document]
        gone = [id_ for id_ in copied if id_ not in found]
        for id_ in (*changed, *gone):
            if document := copied.pop(id_, None):
                for kind in (Kind.DOCUMENT, Kind.PASSAGE):
                    of_it = {"document_id": [document["document_id"]]}
                    await index.delete(Where(document["tenant"], kind, any_of=of_it))
        for id_ in changed:
            await self._copy(source, index, id_, found[id_])
            copied[id_] = found[id_]
        return len(changed) + len(gone)

    async def _copy(self, source: str, index: ServerIndex, id_: str, document: _Document) -> None:
        tenant = document["tenant"]
        passages = await self._scroll(
            source,
            {
                "tenant": tenant,
                "kind": Kind.PASSAGE.value,
                "document_id": document["document_id"],
                "sha256": document["sha256"],
            },
            vectors=self._anew is None,
        )
        points = await self._points(tenant, passages)
        for start in range(0, len(points), _GROUP):
            await index.upsert(points[start : start + _GROUP])
        if self._anew is not None:
            document = payload.from_document(tenant, payload.to_document(document))
        await index.upsert([Point(id_, document)])

    async def _points(self, tenant: str, records: Sequence[models.Record]) -> list[Point]:
        if self._anew is None:
            return [_unchanged(record) for record in records]
        passages = [payload.to_passage(str(one.id), one.payload or {}) for one in records]
        passages.sort(key=lambda passage: passage.start)
        vectors = await self._anew(tenant, passages)
        return [
            Point(passage.id, payload.from_passage(tenant, passage), dense, sparse)
            for passage, (dense, sparse) in zip(passages, vectors, strict=True)
        ]

    async def _scroll(
        self, collection: str, fields: dict[str, str], *, vectors: bool
    ) -> list[models.Record]:
        condition = models.Filter(
            must=[
                models.FieldCondition(key=name, match=models.MatchValue(value=value))
                for name, value in fields.items()
            ]
        )
        records: list[models.Record] = []
        offset: Any = None
        while True:
            async with bounded() as timeout:
                page, offset = await self._client.scroll(
                    collection,
                    scroll_filter=condition,
                    limit=_PAGE,
                    offset=offset,
                    with_payload=True,
                    with_vectors=vectors,
                    timeout=timeout,
                )
            records += page
            if offset is None:
                return records


def _unchanged(record: models.Record) -> Point:
    vectors: dict[str, Any] = record.vector if isinstance(record.vector, dict) else {}
    sparse = vectors.get(SPARSE_VECTOR)
    return Point(
        str(record.id),
        record.payload or {},
        vectors.get(DENSE_VECTOR),
        None if sparse is None else SparseVector(tuple(sparse.indices), tuple(sparse.values)),
    )


async def rollback(
    client: AsyncQdrantClient,
    target: Generations,
    leases: Callable[[ServerIndex], Leases],
    *,
    drain_seconds: float,
) -> str:
    """Makes the alias name the collection before; what was written since is not in it.

    Raises Aborted when writes that had begun did not end within `drain_seconds`: the rest of such a
    document would be written to the one before.
    """
    current, names = await target.current(), await target.all()
    at = names.index(current) if current in names else 0
    if current is None or at == 0:
        raise FailedPrecondition(f"There is no collection before {current} to go back to.")
    before = names[at - 1]
    await target.check(before)
    async with leases(ServerIndex(client, current, target.layout)).closed(drain_seconds) as check:
        if await target.current() != current:
            raise FailedPrecondition(f"{target.alias} was switched meanwhile; start over.")
        check()
        await target.switch(before)
    return before


async def drop(client: AsyncQdrantClient, target: Generations) -> list[str]:
    """Removes the collections that the alias does not name, and returns which they were."""
    current = await target.current()
    others = [name for name in await target.all() if name != current]
    for name in others:
        async with bounded():
            await client.delete_collection(name)
    return others
