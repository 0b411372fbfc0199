"""How much one tenant may keep: so many documents, so many bytes of them."""

from services.chassis.errors import Overloaded
from services.retrieval.catalog import Catalog
from services.retrieval.passage import StoredDocument

# Nothing but a deletion makes room: to try again at once is no use.
_RETRY_SECONDS = 60.0


class Quota:
    """Looks before a document is written. Writes at the same time may together go past it.

    Args:
        catalog: Every document of the tenants.
        documents: The most of one tenant; 0: any number.
        size_bytes: The most of one tenant, as they were handed in; 0: any number.
    """

    def __init__(self, catalog: Catalog, documents: int = 0, size_bytes: int = 0) -> None:
        self._catalog, self._documents, self._bytes = catalog, documents, size_bytes

    async def check(self, tenant: str, size_bytes: int, before: StoredDocument | None) -> None:
        """Raises Overloaded where a document of this size, in place of `before`, is too much."""
        if not (self._documents or self._bytes):
            return
        sizes = await self._catalog.sizes(tenant)
        if self._documents and before is None and len(sizes) >= self._documents:
            raise Overloaded(
                f"Your tenant has {self._documents} documents, which is the limit; delete some.",
                retry_after=_RETRY_SECONDS,
            )
        kept = sum(sizes) - (before.size_bytes if before else 0)
        if self._bytes and kept + size_bytes > self._bytes:
            raise Overloaded(
                f"Your tenant's documents may have {self._bytes} bytes together, and with this one "
                "they would have more; delete some.",
                retry_after=_RETRY_SECONDS,
            )
