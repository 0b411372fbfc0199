"""Which documents there are, page by page: by name, narrowed by what is said of them."""

import base64
import binascii
import json
from collections.abc import Collection
from dataclasses import dataclass, field

from services.chassis.errors import InvalidInput, Violation
from services.retrieval import payload
from services.retrieval.catalog import Catalog, Filter
from services.retrieval.index import Index, Where
from services.retrieval.passage import Groups, Metadata, StoredDocument
from services.retrieval.standing import Standing, by_superseded, on, replaced


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which documents to list; empty fields do not narrow.

    Attributes:
        name_contains: Part of the source name, in whatever case.
        standing: What they are on the day `as_of`, YYYY-MM-DD.
    """

    narrow: Filter = field(default_factory=Filter)
    name_contains: str = ""
    standing: Standing | None = None
    as_of: str = ""


@dataclass(frozen=True, slots=True)
class Listed:
    """A document, and the names of those that name it as superseded, in order."""

    document: StoredDocument
    superseded_by: tuple[str, ...]


class Listing:
    """Lists a tenant's documents."""

    def __init__(self, catalog: Catalog, index: Index) -> None:
        self._catalog = catalog
        self._index = index

    def seen_by(self, groups: Groups) -> "Listing":
        """As a member of these groups sees it."""
        return Listing(self._catalog.seen_by(groups), self._index)

    async def page(
        self, tenant: str, size: int, token: str, wanted: Wanted | None = None
    ) -> tuple[list[Listed], str]:
        """Documents by source name, then id, after those before `token`; and the next token.

        Stores cannot sort by text: for each page the names of all that pass the filter are read,
        with a standing their dates too, and the rest of one page's.
        """
        after = _from_token(token)
        wanted = wanted or Wanted()
        where = self._catalog.where(tenant, wanted.narrow)
        if wanted.standing:
            names = await self._standing(tenant, where, wanted.standing, wanted.as_of)
        else:
            records = await self._index.scroll(where, fields=["source_name"])
            names = {record.id: record.payload["source_name"] for record in records}
        part = wanted.name_contains.casefold()
        rest = sorted(
            key
            for id_, name in names.items()
            if (key := (name, id_)) > after and part in name.casefold()
        )
        page = rest[:size]
        found = await self._catalog.documents(tenant, [id_ for _, id_ in page])
        listed = await self.listed(tenant, [found[id_] for _, id_ in page if id_ in found])
        return listed, _to_token(page[-1]) if len(rest) > size else ""

    async def listed(self, tenant: str, documents: Collection[StoredDocument]) -> list[Listed]:
        """The documents with what supersedes them."""
        if not documents:
            return []
        names = [document.metadata.source_name for document in documents]
        where = self._catalog.where(tenant, Filter(), supersedes=names)
        superseding = by_superseded((await self._metadata(where)).values())
        return [
            Listed(d, tuple(sorted(m.source_name for m in superseding.get(name, ()))))
            for d, name in zip(documents, names, strict=True)
        ]

    async def _standing(
        self, tenant: str, where: Where, standing: Standing, day: str
    ) -> dict[str, str]:
        """The names of those that are this on the day, by id."""
        found = await self._metadata(where)
        # By all that the reader may read, what the filter leaves out too.
        everyone = await self._metadata(self._catalog.where(tenant, Filter())) if found else {}
        by = replaced(day, everyone.values())
        return {
            id_: said.source_name for id_, said in found.items() if on(day, said, by) is standing
        }

    async def _metadata(self, where: Where) -> dict[str, Metadata]:
        records = await self._index.scroll(where, fields=payload.METADATA)
        return {record.id: payload.to_metadata(record.payload) for record in records}


def _to_token(key: tuple[str, str]) -> str:
    return base64.urlsafe_b64encode(json.dumps(key, ensure_ascii=False).encode()).decode()


def _from_token(token: str) -> tuple[str, str]:
    if not token:
        return ("", "")
    try:
        match json.loads(base64.urlsafe_b64decode(token)):
            case [str(name), str(id_)]:
                return (name, id_)
    except (binascii.Error, ValueError, RecursionError):
        pass
    raise InvalidInput(
        "This is no page token; send next_page_token of the reply before.",
        violations=(Violation("page_token", "is not a token that this method returned"),),
    )
