"""The standard health service, grpc.health.v1, whose watchers never hold up a shutdown.

The servicer of grpcio-health-checking holds a lock while it writes to a watcher, so that one client
which does not read blocks every change of status; and its Watch never ends, so that one watcher
uses up the whole grace period of a stop.
"""

import asyncio
import time
from importlib import metadata
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
_UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN

Context = grpc.aio.ServicerContext[Any, Any]

LIVENESS = "liveness"
DEPENDENCY = "dependency/"
# What an answer says beside the status: which version this is, and what its clock says.
VERSION_KEY, CLOCK_KEY = "verity-version", "verity-clock"


class Health(health_pb2_grpc.HealthServicer):
    """Liveness is SERVING as long as the process answers, and each dependency while it can be used.

    All other names follow readiness.

    Args:
        service: The served service's full name, known beside "", "liveness" and "readiness".
    """

    def __init__(self, service: str) -> None:
        self._status = {
            LIVENESS: SERVING,
            "readiness": NOT_SERVING,
            "": NOT_SERVING,
            service: NOT_SERVING,
        }
        self._version = metadata.version("verity")
        self._changed = asyncio.Event()
        self._draining = False
        self._closed = False

    def ready(self) -> None:
        """Says SERVING, unless the process is already on its way out."""
        if not self._draining:
            self._set(SERVING)

    def depends(self, name: str, *, usable: bool) -> None:
        """Says whether something that is needed can be used, under a name of its own."""
        self._status[DEPENDENCY + name] = SERVING if usable else NOT_SERVING
        self._wake()

    def enter_graceful_shutdown(self) -> None:
        """Says NOT_SERVING, for good."""
        self._draining = True
        self._set(NOT_SERVING)

    def close(self) -> None:
        """Ends every Watch once it has told the last status."""
        self._closed = True
        self._wake()

    async def Check(
        self,
        request: health_pb2.HealthCheckRequest,
        context: Context,
    ) -> health_pb2.HealthCheckResponse:
        status = self._status.get(request.service)
        if status is None:
            await context.abort(grpc.StatusCode.NOT_FOUND, "No service of this name.")
        await self._introduce(context)
        return health_pb2.HealthCheckResponse(status=status)

    async def List(
        self,
        request: object,  # noqa: ARG002 - it says nothing
        context: Context,
    ) -> Any:
        """The status of every name."""
        await self._introduce(context)
        return health_pb2.HealthListResponse(  # type: ignore[attr-defined]  # Not in types-grpcio.
            statuses={
                name: health_pb2.HealthCheckResponse(status=status)
                for name, status in self._status.items()
            }
        )

    async def Watch(
        self,
        request: health_pb2.HealthCheckRequest,
        context: Context,
    ) -> None:
        told = None
        while True:
            changed = self._changed
            status = self._status.get(request.service, _UNKNOWN)
            if status != told:
                await context.write(health_pb2.HealthCheckResponse(status=status))
                told = status
            elif self._closed:
                return
            else:
                await changed.wait()

    async def _introduce(self, context: Context) -> None:
        clock = f"{time.time():.3f}"
        await context.send_initial_metadata(((VERSION_KEY, self._version), (CLOCK_KEY, clock)))

    def _set(self, status: int) -> None:
        for name in self._status:
            if name != LIVENESS and not name.startswith(DEPENDENCY):
                self._status[name] = status
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
