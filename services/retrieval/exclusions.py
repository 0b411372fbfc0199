"""Which documents a search for a day leaves out, and why."""

from collections.abc import Mapping
from dataclasses import dataclass

from services.retrieval.catalog import Catalog, Filter
from services.retrieval.passage import Metadata, Passage, StoredDocument, document_id
from services.retrieval.standing import Standing, on, replaced


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A document that does not apply on the day.

    Attributes:
        superseded_by: What takes its place, and its id; None when its dates are the reason.
        best: Its best passage, when that would have been returned had the day not mattered.
    """

    document: StoredDocument
    standing: Standing
    superseded_by: Metadata | None = None
    superseded_by_id: str = ""
    best: Passage | None = None


async def out_of_force(
    catalog: Catalog, tenant: str, narrow: Filter, day: str
) -> tuple[Exclusion, ...]:
    """The documents that pass the filter and do not apply on the day, by name.

    What supersedes them may be any document that the reader may read, be it one that the filter
    leaves out.
    """
    by = replaced(day, await catalog.superseding(tenant))
    named = await catalog.named(tenant, sorted(by))
    admitted = catalog.where(tenant, narrow)
    documents = {document.id: document for document in await catalog.dated_out(tenant, narrow, day)}
    documents |= {document.id: document for document in named if catalog.admits(admitted, document)}
    found = [_exclusion(tenant, document, by, day) for document in documents.values()]
    return tuple(
        sorted(
            (one for one in found if one.standing is not Standing.IN_FORCE),
            key=lambda one: (one.document.metadata.source_name, one.document.id),
        )
    )


def _exclusion(
    tenant: str, document: StoredDocument, replaced_by: Mapping[str, Metadata], day: str
) -> Exclusion:
    standing = on(day, document.metadata, replaced_by)
    if standing is not Standing.SUPERSEDED:
        return Exclusion(document, standing)
    by = replaced_by[document.metadata.source_name]
    return Exclusion(document, standing, by, document_id(tenant, by.source_name))
