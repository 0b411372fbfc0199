"""Which scopes a method asks for; its proto is the only place that states them."""

from functools import cache

from google.protobuf import descriptor_pool
from verity.v1 import rules_pb2

_PREFIX = "SCOPE_"


@cache
def scopes(method: str) -> frozenset[str]:
    """Such as {"read"} for "verity.v1.RetrievalService/GetPassage"; none for an unknown method."""
    service, _, name = method.partition("/")
    try:
        rpc = descriptor_pool.Default().FindServiceByName(service).methods_by_name[name]
    except KeyError:
        return frozenset()
    # The stubs type an extension as a descriptor alone.
    named: list[rules_pb2.Scope] = list(rpc.GetOptions().Extensions[rules_pb2.scopes])  # type: ignore[index]
    return frozenset(rules_pb2.Scope.Name(one).removeprefix(_PREFIX).lower() for one in named)
