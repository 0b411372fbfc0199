"""A real OTLP endpoint that keeps the spans it is sent."""

import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as pb
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as rpc


@dataclass(frozen=True)
class Span:
    service: str
    name: str
    kind: int
    trace_id: str
    span_id: str
    parent_id: str
    status: int
    attributes: dict[str, str]


@dataclass
class Receiver(rpc.TraceServiceServicer):
    endpoint: str = ""
    spans: list[Span] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def Export(self, request, context):
        with self._changed:
            for resource in request.resource_spans:
                attributes = {a.key: a.value.string_value for a in resource.resource.attributes}
                self.spans += [
                    Span(
                        service=attributes.get("service.name", ""),
                        name=span.name,
                        kind=span.kind,
                        trace_id=span.trace_id.hex(),
                        span_id=span.span_id.hex(),
                        parent_id=span.parent_span_id.hex(),
                        status=span.status.code,
                        attributes={
                            a.key: a.value.string_value or str(a.value.int_value)
                            for a in span.attributes
                        },
                    )
                    for scope in resource.scope_spans
                    for span in scope.spans
                ]
            self._changed.notify_all()
        return pb.ExportTraceServiceResponse()

    def wait_for(self, wanted: Callable[[list[Span]], bool], *, seconds: float = 20) -> list[Span]:
        """The spans so far, once `wanted` holds of them.

        Raises:
            AssertionError: It did not come to hold in time.
        """
        with self._changed:
            assert self._changed.wait_for(lambda: wanted(self.spans), seconds), [
                (s.service, s.name) for s in self.spans
            ]
            return list(self.spans)


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()
    server = grpc.server(futures.ThreadPoolExecutor(4))
    rpc.add_TraceServiceServicer_to_server(receiver, server)
    receiver.endpoint = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield receiver
    finally:
        server.stop(None).wait()
