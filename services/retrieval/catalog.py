"""Which documents there are, and which version of each a reader sees.

A document's record is one point, and writing it is the one moment at which a version becomes
visible: its passages are written before, and count for nothing until the record names their hash.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from services.chassis.errors import NotFound, Unavailable
from services.retrieval import payload
from services.retrieval.index import Hit, Index, Kind, Point, SparseVector, Where
from services.retrieval.passage import Groups, Metadata, Passage, StoredDocument
from services.retrieval.passage import document_id as id_of

# A version's document and hash.
_Version = tuple[str, str]

_ROUNDS = 6


@dataclass(frozen=True, slots=True)
class Filter:
    """Narrows to documents; empty fields do not narrow.

    Attributes:
        authorities: These and no others; 1 (STANDARD) to 3 (HIGH).
        day: Those whose dates hold on it, YYYY-MM-DD.
        without_ids: Not these.
    """

    document_ids: tuple[str, ...] = ()
    document_types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    min_authority: int = 0
    authorities: tuple[int, ...] = ()
    day: str = ""
    without_ids: tuple[str, ...] = ()


class Catalog:
    """The documents and passages of every tenant, as readers see them.

    Args:
        index: Where they are.
        groups: What the reader is a member of: no more is seen than that lets it.
        written: Of each tenant, the versions that this process is writing.
    """

    def __init__(
        self,
        index: Index,
        groups: Groups = None,
        written: defaultdict[str, set[_Version]] | None = None,
    ) -> None:
        self._index = index
        self._groups = groups
        self._written = defaultdict(set) if written is None else written

    def seen_by(self, groups: Groups) -> "Catalog":
        """As a member of these groups sees it."""
        return Catalog(self._index, groups, self._written)

    @contextmanager
    def writing(self, tenant: str, document: StoredDocument) -> Iterator[None]:
        """Inside, searches of this process pass over the passages of this version.

        Until it is published none is found anyway. But a search that comes upon one is made anew,
        and dearer; while a long document comes in, that would be nearly every search.
        """
        version = (document.id, document.sha256)
        self._written[tenant].add(version)
        try:
            yield
        finally:
            self._written[tenant].discard(version)

    @property
    def collection(self) -> str:
        """Name of the collection that is searched."""
        return self._index.collection

    async def document(self, tenant: str, document_id: str) -> StoredDocument:
        """The current version. Raises NotFound."""
        if document := await self.find(tenant, document_id):
            return document
        raise NotFound("There is no document with this id.")

    async def named(self, tenant: str, source_names: Collection[str]) -> list[StoredDocument]:
        """The current versions of the documents of these names; those not there are left out."""
        ids = [id_of(tenant, name) for name in source_names]
        return list((await self._documents(tenant, ids)).values())

    async def find(self, tenant: str, document_id: str) -> StoredDocument | None:
        """The current version, if there is one."""
        return (await self._documents(tenant, [document_id])).get(document_id)

    async def with_bytes(self, tenant: str, sha256: str) -> StoredDocument | None:
        """The document whose current version has these bytes."""
        where = self.where(tenant, Filter(), sha256=[sha256])
        records = await self._index.scroll(where)
        return payload.to_document(records[0].payload) if records else None

    async def documents(self, tenant: str, ids: Collection[str]) -> dict[str, StoredDocument]:
        """The current versions of those there are."""
        return await self._documents(tenant, ids)

    def where(self, tenant: str, narrow: Filter, **any_of: list[str]) -> Where:
        """The records of the documents that pass the filter, and have one of the values of each."""
        where = self._where(tenant, Kind.DOCUMENT, narrow)
        return replace(where, any_of={**where.any_of, **any_of})

    @staticmethod
    def admits(where: Where, document: StoredDocument) -> bool:
        """Whether a document's record is among those."""
        return where.admits(payload.from_document(where.tenant, document))

    async def passage(self, tenant: str, passage_id: str) -> Passage:
        """One passage of a current version. Raises NotFound."""
        if found := (await self.read(tenant, [passage_id])).get(passage_id):
            return found
        raise _no_passage()

    async def neighbours(
        self, tenant: str, passage: Passage, each_side: int
    ) -> tuple[list[Passage], list[Passage]]:
        """Those before it and those after it, each in the order of the document.

        Raises NotFound when its version is replaced meanwhile.
        """
        before: list[Passage] = []
        after: list[Passage] = []
        previous_id, next_id = passage.previous_id, passage.next_id
        for _ in range(each_side):
            wanted = [id_ for id_ in (previous_id, next_id) if id_]
            found = await self.read(tenant, wanted) if wanted else {}
            if len(found) < len(wanted):
                raise _no_passage()
            if previous_id:
                before.insert(0, found[previous_id])
                previous_id = before[0].previous_id
            if next_id:
                after.append(found[next_id])
                next_id = after[-1].next_id
        return before, after

    async def sizes(self, tenant: str) -> list[int]:
        """Of each document, how many bytes it has."""
        records = await self._index.scroll(self.where(tenant, Filter()), fields=["size_bytes"])
        return [record.payload["size_bytes"] for record in records]

    async def counts(self, tenant: str, narrow: Filter) -> tuple[int, int]:
        """How many documents, and how many passages of theirs, pass the filter."""
        where = self.where(tenant, narrow)
        tally = await self._index.tally(where, "passage_count")
        return sum(tally.values()), sum(passages * n for passages, n in tally.items())

    async def candidates(
        self,
        tenant: str,
        narrow: Filter,
        dense: Sequence[float],
        sparse: SparseVector,
        *,
        depth: int,
        sections: Collection[str] = (),
        checked: bool = True,
    ) -> tuple[list[Hit], list[Hit]]:
        """The nearest passages of current versions: by cosine and by BM25, at most `depth` each.

        With `sections` only those that are, or are in, a section of one of these keys. Those that
        are not `checked` may be of other versions as well, or of documents that pass the filter no
        more, which `read` leaves out. To check all of them costs more than to find them.

        Raises Unavailable when versions change faster than that.
        """
        hidden = await self._unpublished(tenant)
        if not checked:
            where = self._where(tenant, Kind.PASSAGE, narrow, hidden, sections)
            return await self._index.nearest(where, dense, sparse, limit=depth, bare=True)
        admitted = self.where(tenant, narrow)
        for _ in range(_ROUNDS):
            where = self._where(tenant, Kind.PASSAGE, narrow, hidden, sections)
            by_dense, by_sparse = await self._index.nearest(where, dense, sparse, limit=depth)
            seen = hidden | {_version(hit.payload) for hit in (*by_dense, *by_sparse)}
            current = await self._documents(tenant, {document_id for document_id, _ in seen})
            stale = {v for v in seen if not _is_found(current.get(v[0]), v, admitted)}
            if stale == hidden:
                return by_dense, by_sparse
            # Of a version that is being written or removed, or of a document whose metadata are
            # being changed and do not pass: search again as if it were not there.
            hidden = stale
        raise in_motion()

    async def dated_out(self, tenant: str, narrow: Filter, day: str) -> list[StoredDocument]:
        """The documents that pass the filter and whose dates do not hold on the day."""
        where = self.where(tenant, narrow)
        number = payload.to_day(day)
        wheres = (
            replace(where, at_least={**where.at_least, "from_day": number + 1}),
            replace(where, at_most={**where.at_most, "to_day": number}),
        )
        records = await asyncio.gather(*map(self._index.scroll, wheres))
        found = {r.id: payload.to_document(r.payload) for part in records for r in part}
        return list(found.values())

    async def superseding(self, tenant: str) -> list[Metadata]:
        """Of each document that takes another's place, what is said of it."""
        where = replace(self.where(tenant, Filter()), at_least={"supersedes_count": 1})
        records = await self._index.scroll(where, fields=payload.METADATA)
        return [payload.to_metadata(record.payload) for record in records]

    async def read(
        self,
        tenant: str,
        ids: Sequence[str],
        narrow: Filter = Filter(),
    ) -> dict[str, Passage]:
        """Passages of current versions whose documents pass the filter.

        One that is missing does not, or was replaced or removed, or never was.
        What is said of their document is what its record says; their own copy is for filters.
        """
        records = await self._index.get(tenant, Kind.PASSAGE, ids)
        found = {id_: payload.to_passage(id_, record.payload) for id_, record in records.items()}
        current = await self._documents(tenant, {p.document_id for p in found.values()})
        admitted = self.where(tenant, narrow)
        current = {id_: one for id_, one in current.items() if self.admits(admitted, one)}
        return {
            id_: replace(passage, metadata=document.metadata, version=document.version)
            for id_, passage in found.items()
            if (document := current.get(passage.document_id))
            and document.sha256 == passage.document_sha256
        }

    async def publish(self, tenant: str, document: StoredDocument) -> None:
        """Makes a version whose passages are written the one that readers see."""
        await self._index.upsert([Point(document.id, payload.from_document(tenant, document))])

    async def withdraw(self, tenant: str, document_id: str) -> None:
        """Makes the document unknown to readers."""
        where = Where(tenant, Kind.DOCUMENT, any_of={"document_id": [document_id]})
        await self._index.delete(where)

    async def _documents(self, tenant: str, ids: Collection[str]) -> dict[str, StoredDocument]:
        if not ids:
            return {}
        records = await self._index.get(tenant, Kind.DOCUMENT, list(ids))
        found = {id_: payload.to_document(record.payload) for id_, record in records.items()}
        return {id_: one for id_, one in found.items() if one.metadata.may_be_read_by(self._groups)}

    async def _unpublished(self, tenant: str) -> set[_Version]:
        """The versions that are being written here and that this reader does not see yet."""
        versions = self._written.get(tenant, set()).copy()
        current = await self._documents(tenant, {document_id for document_id, _ in versions})
        return versions - {(one.id, one.sha256) for one in current.values()}

    def _where(
        self,
        tenant: str,
        kind: Kind,
        narrow: Filter,
        hidden: Collection[_Version] = (),
        sections: Collection[str] = (),
    ) -> Where:
        any_of: Mapping[str, list[str] | list[int]] = {
            "document_id": list(narrow.document_ids),
            "document_type": list(narrow.document_types),
            "tags": list(narrow.tags),
            "authority": list(narrow.authorities),
            "section_keys": sorted(sections),
            "readers": [] if self._groups is None else [payload.EVERYBODY, *sorted(self._groups)],
        }
        none_of = {
            "edition": [payload.edition(*version) for version in sorted(hidden)],
            "document_id": narrow.without_ids,
        }
        day = payload.to_day(narrow.day)
        at_least = {"authority": narrow.min_authority, "to_day": day + 1 if day else 0}
        return Where(
            tenant,
            kind,
            any_of={name: values for name, values in any_of.items() if values},
            none_of={name: values for name, values in none_of.items() if values},
            at_least={name: number for name, number in at_least.items() if number},
            at_most={"from_day": day} if day else {},
        )


def _no_passage() -> NotFound:
    return NotFound("There is no passage with this id; its document may have been replaced.")


def in_motion() -> Unavailable:
    """What a search raises rather than return less than there is."""
    return Unavailable("Documents are replaced faster than they can be searched; try again.")


def _version(fields: payload.Payload) -> _Version:
    return fields["document_id"], fields["sha256"]


def _is_found(current: StoredDocument | None, version: _Version, admitted: Where) -> bool:
    return (
        current is not None and current.sha256 == version[1] and Catalog.admits(admitted, current)
    )
