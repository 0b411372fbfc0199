"""Reads a file in a process of its own, and says what it means when that does not end well."""

from services.chassis import telemetry
from services.chassis.errors import InvalidInput
from services.retrieval.document import OnPages
from services.retrieval.isolation import Worker, WorkerDied, WorkerOutOfMemory, WorkerTimeout
from services.retrieval.reading import Reading, read


class IsolatedReader:
    """A Reader in a process of its own, for at most `seconds` of CPU time a file.

    Text in pictures is recognized for at most `ocr_seconds` by the clock, for which the worker must
    wait: pages it does not come to are without text, and the document says so.
    """

    def __init__(
        self, worker: Worker, *, seconds: float, ocr_seconds: float, ocr_languages: str = "eng"
    ) -> None:
        self._worker = worker
        self._seconds = seconds
        self._ocr = (ocr_seconds, ocr_languages)

    async def __call__(
        self, data: bytes, source_name: str, content_type: str, tell: OnPages
    ) -> Reading:
        with telemetry.span("parsing"):
            try:
                return await self._worker.call_telling(
                    tell, self._seconds, read, data, source_name, content_type, *self._ocr
                )
            except WorkerTimeout as error:
                raise InvalidInput(
                    f"The file could not be read within {self._seconds:g} s of CPU time; split it.",
                    reason="DAMAGED_FILE",
                ) from error
            except WorkerOutOfMemory as error:
                raise InvalidInput(
                    "Reading the file takes more memory than is allowed; split it.",
                    reason="TOO_LARGE",
                ) from error
            except WorkerDied as error:
                raise InvalidInput(
                    "The file ended the process that read it. Open it, save it anew and send it "
                    "again.",
                    reason="DAMAGED_FILE",
                ) from error
