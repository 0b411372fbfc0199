"""Shows a page of a document that is stored, with boxes around what is asked for."""

from collections.abc import Sequence

from services.chassis import telemetry
from services.chassis.errors import FailedPrecondition
from services.retrieval.catalog import Catalog
from services.retrieval.isolation import Worker, WorkerDied, WorkerOutOfMemory, WorkerTimeout
from services.retrieval.originals import Originals
from services.retrieval.pages import RenderedPage, render
from services.retrieval.passage import Groups


class Renderer:
    """Renders pages in a process of its own, which the parsing of a file does not keep busy."""

    def __init__(
        self, catalog: Catalog, originals: Originals, worker: Worker, *, seconds: float
    ) -> None:
        self._catalog = catalog
        self._originals = originals
        self._worker = worker
        self._seconds = seconds

    def seen_by(self, groups: Groups) -> "Renderer":
        """Shows what a member of these groups may read."""
        catalog = self._catalog.seen_by(groups)
        return Renderer(catalog, self._originals, self._worker, seconds=self._seconds)

    async def render(
        self,
        tenant: str,
        document_id: str,
        page_number: int,
        highlights: Sequence[tuple[int, int]],
        dpi: int,
    ) -> RenderedPage:
        """The page as an image. Raises NotFound, OutOfRange and FailedPrecondition."""
        document = await self._catalog.document(tenant, document_id)
        data = await self._originals.data(tenant, document_id, document.sha256)
        parsed = await self._originals.parsed(tenant, document_id, document.sha256)
        with telemetry.span("rendering"):
            try:
                return await self._worker.call(
                    self._seconds, render, data, page_number, highlights, parsed, dpi
                )
            except (WorkerTimeout, WorkerDied, WorkerOutOfMemory) as error:
                raise FailedPrecondition(
                    "This page cannot be drawn in the time and memory there are; read its text."
                ) from error
