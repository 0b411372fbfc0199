"""The Index on a Qdrant server or cluster, over gRPC."""

import asyncio
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse

from services.chassis import deadline
from services.chassis.errors import DeadlineExceeded, Overloaded, Unavailable
from services.retrieval.index import (
    DENSE_VECTOR,
    FIELDS,
    SPARSE_VECTOR,
    FieldType,
    Hit,
    Kind,
    Point,
    Record,
    SparseVector,
    Where,
    collection_name,
    well_formed,
)

# What a call to Qdrant may take when the RPC being served leaves it more, or when there is none.
_MAX_SECONDS = 30.0
# A batch of passages with their layout stays far below Qdrant's message limit of 32 MiB.
_UPSERT_BATCH = 64
_SCROLL_PAGE = 1000
_MAX_TALLY = 100_000


@asynccontextmanager
async def open_server_index(
    url: str, *, api_key: str, grpc_port: int, model: str, dimensions: int
) -> AsyncIterator["ServerIndex"]:
    """The index on the server at `url`; nothing is called before `prepare`."""
    client = AsyncQdrantClient(
        url=url,
        grpc_port=grpc_port,
        prefer_grpc=True,
        api_key=api_key or None,
        # The check is a blocking REST call to a server that may not be up yet.
        check_compatibility=False,
    )
    try:
        yield ServerIndex(client, collection_name(model, dimensions), dimensions)
    finally:
        await client.close()


class ServerIndex:
    """Index on an AsyncQdrantClient. Every call ends within the time of the RPC being served."""

    def __init__(self, client: AsyncQdrantClient, collection: str, dimensions: int) -> None:
        self._client = client
        self._collection = collection
        self._dimensions = dimensions

    @property
    def collection(self) -> str:
        return self._collection

    async def prepare(self) -> None:
        async with _call():
            exists = await self._client.collection_exists(self._collection)
        if not exists:
            await self._create()
        async with _call():
            info = await self._client.get_collection(self._collection)
        for name, kind in FIELDS.items():
            if name not in info.payload_schema:
                async with _call() as timeout:
                    await self._client.create_payload_index(
                        self._collection, name, _to_schema(kind), wait=True, timeout=timeout
                    )

    async def upsert(self, points: Sequence[Point], *, only_new: bool = False) -> None:
        # By id: of two points with one id in a batch, the engine keeps whichever it likes.
        unique = [_to_point(point) for point in {point.id: point for point in points}.values()]
        mode = models.UpdateMode.INSERT_ONLY if only_new else models.UpdateMode.UPSERT
        for start in range(0, len(unique), _UPSERT_BATCH):
            async with _call() as timeout:
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
        async with _call() as timeout:
            await self._client.set_payload(
                self._collection,
                dict(fields),
                models.FilterSelector(filter=_to_filter(where)),
                wait=True,
                timeout=timeout,
            )

    async def delete(self, where: Where) -> None:
        async with _call() as timeout:
            await self._client.delete(
                self._collection,
                models.FilterSelector(filter=_to_filter(where)),
                wait=True,
                timeout=timeout,
            )

    async def get(self, tenant: str, kind: Kind, ids: Sequence[str]) -> dict[str, Record]:
        async with _call() as timeout:
            found = await self._client.retrieve(
                self._collection, well_formed(ids), with_payload=True, timeout=timeout
            )
        records = (Record(str(point.id), point.payload or {}) for point in found)
        return {
            record.id: record
            for record in records
            if record.payload.get("tenant") == tenant and record.payload.get("kind") == kind
        }

    async def nearest(
        self, where: Where, dense: Sequence[float], sparse: SparseVector, *, limit: int
    ) -> tuple[list[Hit], list[Hit]]:
        shared: dict[str, Any] = {
            "filter": _to_filter(where),
            "limit": limit,
            "with_payload": ["document_id", "sha256"],
        }
        requests = [models.QueryRequest(query=list(dense), using=DENSE_VECTOR, **shared)]
        if sparse:
            corpus = models.IdfCorpusParams(corpus=_to_filter(Where(where.tenant, where.kind)))
            requests.append(
                models.QueryRequest(
                    query=_to_sparse(sparse),
                    using=SPARSE_VECTOR,
                    params=models.SearchParams(idf=corpus),
                    **shared,
                )
            )
        async with _call() as timeout:
            responses = await self._client.query_batch_points(
                self._collection, requests, timeout=timeout
            )
        by_dense, by_sparse, *_ = *(_to_hits(response.points) for response in responses), []
        return by_dense, by_sparse

    async def scroll(self, where: Where, *, fields: Sequence[str] | None = None) -> list[Record]:
        records: list[Record] = []
        offset: Any = None
        while True:
            async with _call() as timeout:
                points, offset = await self._client.scroll(
                    self._collection,
                    scroll_filter=_to_filter(where),
                    limit=_SCROLL_PAGE,
                    offset=offset,
                    with_payload=True if fields is None else list(fields),
                    timeout=timeout,
                )
            records += (Record(str(point.id), point.payload or {}) for point in points)
            if offset is None:
                return records

    async def tally(self, where: Where, name: str) -> dict[int, int]:
        async with _call() as timeout:
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

    async def _create(self) -> None:
        async with _call() as timeout:
            try:
                await self._client.create_collection(
                    self._collection,
                    vectors_config={
                        DENSE_VECTOR: models.VectorParams(
                            size=self._dimensions, distance=models.Distance.COSINE
                        )
                    },
                    sparse_vectors_config={
                        SPARSE_VECTOR: models.SparseVectorParams(modifier=models.Modifier.IDF)
                    },
                    timeout=timeout,
                )
            except grpc.aio.AioRpcError:
                # Another replica may have been first.
                if not await self._client.collection_exists(self._collection):
                    raise


@asynccontextmanager
async def _call() -> AsyncIterator[int]:
    """Bounds one call, says what its failure means, and yields the seconds to tell the client."""
    left = deadline.remaining()
    seconds = _MAX_SECONDS if left is None else min(left, _MAX_SECONDS)
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
    if left is not None and left <= _MAX_SECONDS:
        return DeadlineExceeded("The index did not answer within the call's deadline.")
    return Unavailable("The index did not answer in time; try again.")


def _to_schema(kind: FieldType) -> models.KeywordIndexParams | models.IntegerIndexParams:
    match kind:
        case FieldType.TENANT:
            return models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
        case FieldType.KEYWORD:
            return models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD)
        case FieldType.INTEGER:
            return models.IntegerIndexParams(
                type=models.IntegerIndexType.INTEGER, lookup=True, range=True
            )


def _to_point(point: Point) -> models.PointStruct:
    vectors: dict[str, Any] = {}
    if point.dense is not None:
        vectors[DENSE_VECTOR] = list(point.dense)
    if point.sparse:
        vectors[SPARSE_VECTOR] = _to_sparse(point.sparse)
    return models.PointStruct(id=point.id, vector=vectors, payload=dict(point.payload))


def _to_sparse(vector: SparseVector) -> models.SparseVector:
    return models.SparseVector(indices=list(vector.indices), values=list(vector.values))


def _to_filter(where: Where) -> models.Filter:
    return models.Filter(
        must=[
            models.FieldCondition(key="tenant", match=models.MatchValue(value=where.tenant)),
            models.FieldCondition(key="kind", match=models.MatchValue(value=where.kind.value)),
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


def _to_hits(points: Sequence[models.ScoredPoint]) -> list[Hit]:
    return [Hit(str(point.id), point.score, point.payload or {}) for point in points]
