"""Which HTTP request stands for which RPC, read from the protos' descriptors."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor import Descriptor, MethodDescriptor
from google.protobuf.message_factory import GetMessageClass
from verity.v1 import (
    generation_service_pb2,
    grounding_service_pb2,
    retrieval_service_pb2,
    verification_service_pb2,
)

FILES = (
    grounding_service_pb2,
    retrieval_service_pb2,
    generation_service_pb2,
    verification_service_pb2,
)

# What names a thing reads better as a path. Every other method answers POST /v1/its-name, also one
# that is added later.
RESOURCES = {
    "GetAnswer": ("GET", "/v1/answers/{answer_id}"),
    "ListConversations": ("GET", "/v1/conversations"),
    "ListAnswers": ("GET", "/v1/conversations/{conversation_id}/answers"),
    "GetGroundingQuality": ("GET", "/v1/conversations/{conversation_id}/quality"),
    "IngestDocument": ("POST", "/v1/documents"),
    "ListDocuments": ("GET", "/v1/documents"),
    "GetDocument": ("GET", "/v1/documents/{document_id}"),
    "DeleteDocument": ("DELETE", "/v1/documents/{document_id}"),
    "GetPassage": ("GET", "/v1/passages/{passage_id}"),
}
# May be sent again by the channel when the service was unavailable, as may all that GET stands for.
IDEMPOTENT = {"Retrieve", "RenderPage", "Verify", "CheckGrounding", "ScoreConfidence"}
# What waits for a model.
SLOW = {"Ask", "AskStream", "Generate", "GenerateStream", "ResolveQuestion"}


@dataclass(frozen=True)
class Twin:
    """One RPC and its form over HTTP.

    Attributes:
        rpc: The method as its proto describes it.
        verb: The HTTP method.
        path: With the request's fields in braces; the other fields are the query of a GET or a
            DELETE, and the JSON body of a POST.
    """

    rpc: MethodDescriptor
    verb: str
    path: str

    @property
    def service(self) -> str:
        name: str = self.rpc.containing_service.full_name
        return name

    @property
    def name(self) -> str:
        """As gRPC has it, without the first slash: "verity.v1.GroundingService/Ask"."""
        return f"{self.service}/{self.rpc.name}"

    @property
    def idempotent(self) -> bool:
        return self.verb == "GET" or self.rpc.name in IDEMPOTENT

    @property
    def input(self) -> Descriptor:
        return self.rpc.input_type

    @property
    def output(self) -> Descriptor:
        return self.rpc.output_type

    @property
    def request(self) -> Any:
        """The class of the request."""
        return GetMessageClass(self.input)

    @property
    def path_fields(self) -> list[str]:
        return re.findall(r"{(\w+)}", self.path)


def all_twins() -> list[Twin]:
    """One for each RPC of each service; no two alike."""
    twins = [
        _twin(method)
        for file in FILES
        for service in file.DESCRIPTOR.services_by_name.values()
        for method in service.methods
    ]
    _check_distinct(twins)
    return twins


def _twin(method: MethodDescriptor) -> Twin:
    kebab = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", method.name).lower()
    verb, path = RESOURCES.get(method.name, ("POST", f"/v1/{kebab}"))
    if method.client_streaming and method.name != "IngestDocument":
        raise TypeError(f"{method.full_name}: HTTP has no form for a stream of requests")
    return Twin(method, verb, path)


def _check_distinct(twins: Iterable[Twin]) -> None:
    seen: dict[tuple[str, str], Twin] = {}
    for twin in twins:
        other = seen.setdefault((twin.verb, twin.path), twin)
        if other is not twin:
            raise TypeError(f"{twin.name} and {other.name} both answer {twin.verb} {twin.path}")
