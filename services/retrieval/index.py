"""What Verity asks of a vector store: points found by two vectors and by declared fields."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

# Raised when payloads or vectors change so that points of before cannot be read.
SCHEMA_VERSION = 6


class Kind(StrEnum):
    """What a point stands for."""

    DOCUMENT = "document"
    PASSAGE = "passage"
    LEASE = "lease"


class FieldType(StrEnum):
    """How a field is indexed."""

    TENANT = "tenant"
    KEYWORD = "keyword"
    INTEGER = "integer"


# Every field that may be filtered on or counted. Adapters index these, before the first point.
FIELDS: Mapping[str, FieldType] = {
    "tenant": FieldType.TENANT,
    "kind": FieldType.KEYWORD,
    "document_id": FieldType.KEYWORD,
    "document_type": FieldType.KEYWORD,
    "sha256": FieldType.KEYWORD,
    "edition": FieldType.KEYWORD,
    "tags": FieldType.KEYWORD,
    "supersedes": FieldType.KEYWORD,
    "readers": FieldType.KEYWORD,
    "authority": FieldType.INTEGER,
    "passage_count": FieldType.INTEGER,
    "published_day": FieldType.INTEGER,
    "from_day": FieldType.INTEGER,
    "to_day": FieldType.INTEGER,
    "supersedes_count": FieldType.INTEGER,
    "section_keys": FieldType.KEYWORD,
}

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

DENSE_VECTOR = "dense"
SPARSE_VECTOR = "bm25"


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Weights by term; indices are distinct."""

    indices: tuple[int, ...]
    values: tuple[float, ...]

    def __bool__(self) -> bool:
        return bool(self.indices)


@dataclass(frozen=True, slots=True)
class Point:
    """What is written; `payload` names its tenant and its kind. `id` is a UUID."""

    id: str
    payload: Mapping[str, Any]
    dense: Sequence[float] | None = None
    sparse: SparseVector | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """What is read back: a point without its vectors."""

    id: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Hit:
    """A point found near a query; scores compare within one list only."""

    id: str
    score: float
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Where:
    """Which points: of one tenant and one kind, and then by declared fields; all must hold.

    Attributes:
        any_of: The field, of whichever type, has at least one of the values.
        none_of: The field has none of the values.
        at_least: The field is at least the number.
        at_most: The field is at most the number.
    """

    tenant: str
    kind: Kind
    any_of: Mapping[str, list[str] | list[int]] = field(default_factory=dict)
    none_of: Mapping[str, Sequence[str]] = field(default_factory=dict)
    at_least: Mapping[str, int] = field(default_factory=dict)
    at_most: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, values in self.any_of.items():
            if name not in FIELDS or isinstance(values, str) or not values:
                raise ValueError(f"{name} is no declared field, or has no list of values")
        for name, keywords in self.none_of.items():
            is_keyword = FIELDS.get(name) is FieldType.KEYWORD
            if not is_keyword or isinstance(keywords, str) or not keywords:
                raise ValueError(f"{name} is no declared keyword field, or has no list of values")
        for name in (*self.at_least, *self.at_most):
            if FIELDS.get(name) is not FieldType.INTEGER:
                raise ValueError(f"{name} is no declared integer field")

    def admits(self, payload: Mapping[str, Any]) -> bool:
        """Whether a point of this payload would match, tenant and kind aside."""
        return (
            all(set(values) & _values(payload, name) for name, values in self.any_of.items())
            and not any(
                set(values) & _values(payload, name) for name, values in self.none_of.items()
            )
            and all(max(_values(payload, name)) >= n for name, n in self.at_least.items())
            and all(min(_values(payload, name)) <= n for name, n in self.at_most.items())
        )


def _values(payload: Mapping[str, Any], name: str) -> set[Any]:
    value = payload[name]
    return set(value) if isinstance(value, list) else {value}


class Index(Protocol):
    """A store of points. Writes are visible to every read that starts after they returned.

    All methods raise Unavailable when the store cannot be reached, and DeadlineExceeded when the
    time of the RPC being served is used up.
    """

    @property
    def collection(self) -> str:
        """The collection's name, with the marks of the embedding model and of the schema."""
        ...

    async def prepare(self) -> None:
        """Creates the collection and the fields' indexes where they are missing."""
        ...

    async def upsert(self, points: Sequence[Point], *, only_new: bool = False) -> None:
        """Writes points whole, each at once; with `only_new`, known ids keep what they hold."""
        ...

    async def amend(self, where: Where, fields: Mapping[str, Any]) -> None:
        """Sets these fields in the payload of every point that matches; the others stay."""
        ...

    async def delete(self, where: Where) -> None:
        """Removes every point that matches."""
        ...

    async def get(self, tenant: str, kind: Kind, ids: Sequence[str]) -> dict[str, Record]:
        """The points of that tenant and kind among `ids`; what is no such point is left out."""
        ...

    async def nearest(
        self,
        where: Where,
        dense: Sequence[float],
        sparse: SparseVector,
        *,
        limit: int,
        bare: bool = False,
    ) -> tuple[list[Hit], list[Hit]]:
        """The passages best by cosine and best by BM25, at most `limit` each, best first.

        Only passages have vectors, which is how stores tell them from other kinds here.

        Inverse document frequencies are those of the tenant's passages. A hit's payload holds
        `document_id` and `sha256` only, and nothing where hits are asked for `bare`: a store reads
        the whole of a payload for any part of it.
        """
        ...

    async def scroll(self, where: Where, *, fields: Sequence[str] | None = None) -> list[Record]:
        """Every point that matches, in no order; with `fields`, only those of its payload."""
        ...

    async def tally(self, where: Where, name: str) -> dict[int, int]:
        """How many of the matching points have each value of an integer field."""
        ...

    async def flush(self) -> None:
        """Returns when all writes before outlive the loss of the machine.

        They outlive the loss of the process at once.
        """
        ...


def of_kind(records: Iterable[Record], tenant: str, kind: Kind) -> dict[str, Record]:
    """Those of that tenant and kind, by id."""
    return {
        record.id: record
        for record in records
        if record.payload.get("tenant") == tenant and record.payload.get("kind") == kind
    }


def well_formed(ids: Iterable[str]) -> list[str]:
    """Those that can be a point's id: UUIDs in their usual form. Stores fail on others."""
    return [id_ for id_ in ids if _UUID.fullmatch(id_)]


def collection_name(model: str, dimensions: int) -> str:
    """Points of different models or schemas never meet: they are in different collections."""
    return f"verity-{model}-{dimensions}-v{SCHEMA_VERSION}"
