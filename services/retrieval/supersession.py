"""Which documents take the place of which: never, by any way round, of themselves."""

from services.chassis.errors import InvalidInput, Violation
from services.retrieval.catalog import Catalog
from services.retrieval.passage import Metadata


async def check(catalog: Catalog, tenant: str, metadata: Metadata) -> None:
    """Raises InvalidInput when a document of this metadata would supersede itself.

    Two that are written at once and supersede each other can both pass: whoever follows the names
    must come to an end nevertheless.
    """
    seen: set[str] = set()
    names = set(metadata.supersedes)
    while names:
        if metadata.source_name in names:
            raise _circular()
        seen |= names
        found = await catalog.named(tenant, sorted(names))
        names = {name for document in found for name in document.metadata.supersedes} - seen


def _circular() -> InvalidInput:
    return InvalidInput(
        "The document would supersede itself.",
        violations=(
            Violation(
                "metadata.supersedes",
                "must not lead back to metadata.source_name, directly or through other documents",
            ),
        ),
    )
