"""The Index on a Qdrant server or cluster, over gRPC."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from qdrant_client import AsyncQdrantClient, models

from services.retrieval.index import (
    DENSE_VECTOR,
    SPARSE_VECTOR,
    Hit,
    Kind,
    Point,
    Record,
    SparseVector,
    Where,
    collection_name,
    of_kind,
    well_formed,
)
from services.retrieval.qdrant_call import MAX_SECONDS, bounded
from services.retrieval.qdrant_layout import Generations, Layout

# A batch of passages with their layout stays far below Qdrant's message limit of 32 MiB.
_UPSERT_BATCH = 64
_SCROLL_PAGE = 1000
_MAX_TALLY = 100_000


def connect(url: str, *, api_key: str, grpc_port: int) -> AsyncQdrantClient:
    """A client of the server at `url`; nothing is called yet. https is encrypted, http is not."""
    return AsyncQdrantClient(
        url=url,
        grpc_port=grpc_port,
        prefer_grpc=True,
        api_key=api_key or None,
        # Writes have no timeout of their own in the client, and its default would cut them short.
        timeout=int(MAX_SECONDS),
        # The check is a blocking REST call to a server that may not be up yet.
        check_compatibility=False,
    )


@asynccontextmanager
async def open_server_index(
    url: str, *, api_key: str, grpc_port: int, model: str, layout: Layout
) -> AsyncIterator["ServerIndex"]:
    """The index on the server at `url`; nothing is called before `prepare`."""
    client = connect(url, api_key=api_key, grpc_port=grpc_port)
    try:
        yield ServerIndex(client, collection_name(model, layout.dimensions), layout)
    finally:
        await client.close()


class ServerIndex:
    """Index on an AsyncQdrantClient. Every call ends within the time of the RPC being served."""

    def __init__(self, client: AsyncQdrantClient, collection: str, layout: Layout) -> None:
        self._client = client
        # An alias: what it names may be switched while calls are under way.
        self._collection = collection
        self._generations = Generations(client, collection, layout)

    @property
    def collection(self) -> str:
        return self._collection

    async def prepare(self) -> None:
        await self._generations.prepare()

    async def upsert(self, points: Sequence[Point], *, only_new: bool = False) -> None:
        # By id: of two points with one id in a batch, the engine keeps whichever it likes.
        unique = [_to_point(point) for point in {point.id: point for point in points}.values()]
        mode = models.UpdateMode.INSERT_ONLY if only_new else models.UpdateMode.UPSERT
        for start in range(0, len(unique), _UPSERT_BATCH):
            async with bounded() as timeout:
                await self._client.upsert(
                    self._collection,
                    unique[start : start + _UPSERT_BATCH],
                    wait=True,
                    # Leases need one order of writes on all replicas.
                    ordering=models.WriteOrdering.STRONG if only_new else None,
                    update_mode=mode,
                    timeout=timeout,
                )

    async def amend(self, where: Where, fields: Mapping[str, Any]) -> None:
        async with bounded() as timeout:
            await self._client.set_payload(
                self._collection,
                dict(fields),
                models.FilterSelector(filter=_to_filter(where)),
                wait=True,
                timeout=timeout,
            )

    async def delete(self, where: Where) -> None:
        async with bounded() as timeout:
            await self._client.delete(
                self._collection,
                models.FilterSelector(filter=_to_filter(where)),
                wait=True,
                timeout=timeout,
            )

    async def get(self, tenant: str, kind: Kind, ids: Sequence[str]) -> dict[str, Record]:
        async with bounded() as timeout:
            found = await self._client.retrieve(
                self._collection, well_formed(ids), with_payload=True, timeout=timeout
            )
        return of_kind(map(_to_record, found), tenant, kind)

    async def nearest(
        self,
        where: Where,
        dense: Sequence[float],
        sparse: SparseVector,
        *,
        limit: int,
        bare: bool = False,
    ) -> tuple[list[Hit], list[Hit]]:
        shared: dict[str, Any] = {
            # Only passages have vectors. To ask for the kind too would cost more than all the rest.
            "filter": _to_filter(where, kind=False),
            "limit": limit,
            "with_payload": False if bare else ["document_id", "sha256"],
        }
        requests = [models.QueryRequest(query=list(dense), using=DENSE_VECTOR, **shared)]
        if sparse:
            corpus = models.IdfCorpusParams(
                corpus=_to_filter(Where(where.tenant, where.kind), kind=False)
            )
            requests.append(
                models.QueryRequest(
                    query=_to_sparse(sparse),
                    using=SPARSE_VECTOR,
                    params=models.SearchParams(idf=corpus),
                    **shared,
                )
            )
        async with bounded() as timeout:
            responses = await self._client.query_batch_points(
                self._collection, requests, timeout=timeout
            )
        by_dense, by_sparse, *_ = *(_to_hits(response.points) for response in responses), []
        return by_dense, by_sparse

    async def scroll(self, where: Where, *, fields: Sequence[str] | None = None) -> list[Record]:
        records: list[Record] = []
        offset: Any = None
        while True:
            async with bounded() as timeout:
                points, offset = await self._client.scroll(
                    self._collection,
                    scroll_filter=_to_filter(where),
                    limit=_SCROLL_PAGE,
                    offset=offset,
                    with_payload=True if fields is None else list(fields),
                    timeout=timeout,
                )
            records += map(_to_record, points)
            if offset is None:
                return records

    async def tally(self, where: Where, name: str) -> dict[int, int]:
        async with bounded() as timeout:
            response = await self._client.facet(
                self._collection,
                name,
                facet_filter=_to_filter(where),
                limit=_MAX_TALLY,
                exact=True,
                timeout=timeout,
            )
        return {int(hit.value): hit.count for hit in response.hits}

    async def flush(self) -> None:
        """Nothing to do: the server keeps what it has confirmed."""


def _to_point(point: Point) -> models.PointStruct:
    vectors: dict[str, Any] = {}
    if point.dense is not None:
        vectors[DENSE_VECTOR] = list(point.dense)
    if point.sparse:
        vectors[SPARSE_VECTOR] = _to_sparse(point.sparse)
    return models.PointStruct(id=point.id, vector=vectors, payload=dict(point.payload))


def _to_sparse(vector: SparseVector) -> models.SparseVector:
    return models.SparseVector(indices=list(vector.indices), values=list(vector.values))


def _to_filter(where: Where, *, kind: bool = True) -> models.Filter:
    names = {"tenant": where.tenant, **({"kind": where.kind.value} if kind else {})}
    return models.Filter(
        must=[
            *(
                models.FieldCondition(key=name, match=models.MatchValue(value=value))
                for name, value in names.items()
            ),
            *(
                models.FieldCondition(key=name, match=models.MatchAny(any=list(values)))
                for name, values in where.any_of.items()
            ),
            *(
                models.FieldCondition(key=name, range=models.Range(gte=number))
                for name, number in where.at_least.items()
            ),
            *(
                models.FieldCondition(key=name, range=models.Range(lte=number))
                for name, number in where.at_most.items()
            ),
        ],
        must_not=[
            models.FieldCondition(key=name, match=models.MatchAny(any=list(values)))
            for name, values in where.none_of.items()
        ],
    )


def _to_record(point: models.Record) -> Record:
    return Record(str(point.id), point.payload or {})


def _to_hits(points: Sequence[models.ScoredPoint]) -> list[Hit]:
    return [Hit(str(point.id), point.score, point.payload or {}) for point in points]
