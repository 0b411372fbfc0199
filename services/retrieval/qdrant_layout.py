"""The collections behind an alias on a Qdrant server: how they are made, checked and switched.

Readers and writers know the alias alone. It names the embedding model and the schema, so that
vectors of two models never meet; behind it are generations `ALIAS-1`, `ALIAS-2`, … of which it
names one.
"""

from dataclasses import dataclass
from typing import Literal

import grpc
from qdrant_client import AsyncQdrantClient, models

from services.chassis.errors import FailedPrecondition
from services.retrieval.index import DENSE_VECTOR, FIELDS, SPARSE_VECTOR, FieldType
from services.retrieval.qdrant_call import bounded

Quantization = Literal["none", "scalar-int8", "binary"]

_REBUILD = "rebuild the index with `python -m services.retrieval.reindex build`"


@dataclass(frozen=True, slots=True)
class Layout:
    """How a collection is made; what is None is left to the server.

    Attributes:
        quantization: Of the dense vectors kept in memory; whole vectors score the best again.
        replication_factor: How many copies of each shard a cluster keeps.
        write_consistency_factor: How many copies confirm a write before it counts.
        shard_number: Into how many parts the points are split.
        on_disk: Whether dense vectors are read from disk rather than held in memory.
    """

    dimensions: int
    quantization: Quantization = "none"
    replication_factor: int | None = None
    write_consistency_factor: int | None = None
    shard_number: int | None = None
    on_disk: bool = False


class Generations:
    """The collections behind one alias."""

    def __init__(self, client: AsyncQdrantClient, alias: str, layout: Layout) -> None:
        self._client = client
        self.alias = alias
        self.layout = layout

    async def prepare(self) -> None:
        """Makes the first generation where there is none, and missing indexes of fields.

        Raises FailedPrecondition when what is there was made for another model or other fields.
        """
        first = self._name(1)
        if await self.current() is None:
            await self.create(first)
            # That took a while, in which a new index may have come into use.
            if await self.current() is None:
                await self.switch(first)
        await self.check(await self.current() or first)

    async def current(self) -> str | None:
        """The collection that the alias names. Raises FailedPrecondition when it is no own one."""
        async with bounded():
            aliases = (await self._client.get_aliases()).aliases
        for alias in aliases:
            if alias.alias_name == self.alias:
                if self._number(alias.collection_name) is None:
                    raise FailedPrecondition(
                        f"The alias {self.alias} names {alias.collection_name}, which may hold "
                        f"another model's vectors; {_REBUILD}."
                    )
                return alias.collection_name
        return None

    async def all(self) -> list[str]:
        """Every generation there is, the oldest first."""
        async with bounded():
            collections = (await self._client.get_collections()).collections
        numbered = ((self._number(one.name), one.name) for one in collections)
        return [name for number, name in sorted((n, name) for n, name in numbered if n)]

    async def next(self) -> str:
        """A name that no generation has had since the oldest that is left.

        Never the first's: that one a service makes by itself, when it finds none.
        """
        numbers = [self._number(name) or 0 for name in await self.all()]
        return self._name(max(numbers, default=1) + 1)

    async def create(self, name: str) -> None:
        """Makes an empty collection with all its fields indexed; one that exists stays."""
        async with bounded() as timeout:
            try:
                await self._client.create_collection(
                    name,
                    vectors_config={
                        DENSE_VECTOR: models.VectorParams(
                            size=self.layout.dimensions,
                            distance=models.Distance.COSINE,
                            on_disk=self.layout.on_disk or None,
                        )
                    },
                    sparse_vectors_config={
                        SPARSE_VECTOR: models.SparseVectorParams(modifier=models.Modifier.IDF)
                    },
                    quantization_config=_quantization(self.layout.quantization),
                    replication_factor=self.layout.replication_factor,
                    write_consistency_factor=self.layout.write_consistency_factor,
                    shard_number=self.layout.shard_number,
                    timeout=timeout,
                )
            except (grpc.aio.AioRpcError, ValueError):
                # Another replica may have been first.
                if not await self._client.collection_exists(name):
                    raise
        await self.check(name)

    async def check(self, name: str) -> None:
        """Indexes the fields that are not; raises FailedPrecondition over what cannot be mended."""
        async with bounded():
            info = await self._client.get_collection(name)
        self.check_vectors(name, info.config.params)
        for field, kind in FIELDS.items():
            if field in info.payload_schema:
                _check_field(name, field, kind, info.payload_schema[field])
            else:
                async with bounded() as timeout:
                    await self._client.create_payload_index(
                        name, field, _to_schema(kind), wait=True, timeout=timeout
                    )

    async def switch(self, to: str) -> None:
        """Makes the alias name another generation, at once for every reader and writer."""
        remove = models.DeleteAlias(alias_name=self.alias)
        create = models.CreateAlias(collection_name=to, alias_name=self.alias)
        operations: list[models.AliasOperations] = [
            models.CreateAliasOperation(create_alias=create)
        ]
        if await self.current() is not None:
            operations.insert(0, models.DeleteAliasOperation(delete_alias=remove))
        async with bounded() as timeout:
            await self._client.update_collection_aliases(operations, timeout=timeout)

    def check_vectors(self, name: str, params: models.CollectionParams) -> None:
        """Raises FailedPrecondition when the collection was made for another model."""
        dense = params.vectors.get(DENSE_VECTOR) if isinstance(params.vectors, dict) else None
        if (
            dense is None
            or dense.size != self.layout.dimensions
            or dense.distance is not models.Distance.COSINE
        ):
            raise FailedPrecondition(
                f"{name} does not hold vectors of {self.layout.dimensions} dimensions to compare "
                f"by cosine, as the embedding model makes them; {_REBUILD}."
            )
        sparse = (params.sparse_vectors or {}).get(SPARSE_VECTOR)
        if sparse is None or sparse.modifier is not models.Modifier.IDF:
            raise FailedPrecondition(f"{name} does not weigh terms by their rarity; {_REBUILD}.")

    def _name(self, number: int) -> str:
        return f"{self.alias}-{number}"

    def _number(self, name: str) -> int | None:
        number = name.removeprefix(f"{self.alias}-")
        return int(number) if number != name and number.isdecimal() else None


def _check_field(name: str, field: str, kind: FieldType, index: models.PayloadIndexInfo) -> None:
    wanted = _to_schema(kind)
    problem = ""
    if index.data_type.value != wanted.type.value:
        problem = f"as {index.data_type.value}, not as {wanted.type.value}"
    elif kind is FieldType.TENANT and not getattr(index.params, "is_tenant", None):
        problem = "but not as the tenant"
    elif kind is FieldType.INTEGER and getattr(index.params, "range", None) is False:
        problem = "but not for ranges"
    if problem:
        raise FailedPrecondition(
            f"The field {field} of {name} is indexed {problem}; remove that index, and it is made "
            "anew at the next start."
        )


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


def _quantization(
    kind: Quantization,
) -> models.ScalarQuantization | models.BinaryQuantization | None:
    match kind:
        case "none":
            return None
        case "scalar-int8":
            return models.ScalarQuantization(
                scalar=models.ScalarQuantizationConfig(
                    type=models.ScalarType.INT8, quantile=0.99, always_ram=True
                )
            )
        case "binary":
            return models.BinaryQuantization(
                binary=models.BinaryQuantizationConfig(always_ram=True)
            )
