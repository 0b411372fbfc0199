"""One Ask is one trace over every process, and each span tells how its call really ended."""

from pathlib import Path

import grpc
import pytest
import yaml
from verity.v1 import grounding_service_pb2 as pb
from verity.v1 import grounding_service_pb2_grpc as rpc
from verity.v1 import retrieval_service_pb2 as retrieval_pb
from verity.v1 import retrieval_service_pb2_grpc as retrieval_rpc

CASES = yaml.safe_load((Path(__file__).parents[1] / "cases" / "trace_edges.yaml").read_text())
INTERNAL, SERVER, CLIENT = 1, 2, 3
CANARY = "canary-7f3a"


@pytest.fixture(scope="module")
def spans(system):
    """The spans of one question that an answer was given to."""
    _, answer = system.run("ask", f"What must a UBO holding more than 25% equity submit? {CANARY}")
    trace = answer["trace_id"]
    ends = {(edge["callee"], edge["method"], SERVER) for edge in CASES["calls"]}
    ends.add(("cli", "verity ask", INTERNAL))
    everything = system.receiver.wait_for(
        lambda seen: ends <= {(s.service, s.name, s.kind) for s in seen if s.trace_id == trace}
    )
    return [span for span in everything if span.trace_id == trace]


def named(spans, service, name, kind=None):
    found = [s for s in spans if s.service == service and s.name == name]
    return [s for s in found if kind is None or s.kind == kind]


def test_the_trace_begins_at_the_command(spans):
    [root] = named(spans, CASES["root"]["service"], CASES["root"]["span"])
    assert not root.parent_id


@pytest.mark.parametrize("edge", CASES["calls"], ids=lambda edge: edge["method"])
def test_a_call_is_a_client_span_in_its_stage_with_a_server_span_below(spans, edge):
    within = edge["within"] if isinstance(edge["within"], list) else [edge["within"]]
    outer = {s.span_id for stage in within for s in named(spans, edge["caller"], stage)}
    calls = named(spans, edge["caller"], edge["method"], CLIENT)
    served = named(spans, edge["callee"], edge["method"], SERVER)

    assert calls
    assert {call.parent_id for call in calls} <= outer
    assert {s.parent_id for s in served} == {call.span_id for call in calls}


@pytest.mark.parametrize("edge", CASES["inner"], ids=lambda edge: edge["span"])
def test_a_stage_is_a_span_of_its_own_inside_the_call(spans, edge):
    outer = {s.span_id for s in named(spans, edge["service"], edge["within"], SERVER)}
    found = named(spans, edge["service"], edge["span"])

    assert found
    assert {s.parent_id for s in found} <= outer


def test_no_edge_is_there_that_the_case_file_does_not_name(spans):
    known = {edge["method"] for edge in CASES["calls"]}
    assert {s.name for s in spans if s.kind in {CLIENT, SERVER}} <= known


def test_no_span_carries_what_was_asked_or_answered(spans):
    for span in spans:
        carried = " ".join((span.name, *span.attributes.values()))
        assert CANARY not in carried
        assert "equity" not in carried


def test_a_refused_call_says_so_on_both_its_spans(system):
    with system.channel("orchestrator") as channel, pytest.raises(grpc.RpcError) as refused:
        rpc.GroundingServiceStub(channel).Ask(pb.AskRequest(), timeout=10)

    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    system.receiver.wait_for(
        lambda seen: any(
            s.attributes.get("rpc.response.status_code") == "INVALID_ARGUMENT"
            for s in named(seen, "orchestrator", "verity.v1.GroundingService/Ask", SERVER)
        )
    )


def test_an_unknown_document_is_not_found_on_its_span(system):
    with system.channel("retrieval") as channel, pytest.raises(grpc.RpcError):
        retrieval_rpc.RetrievalServiceStub(channel).GetDocument(
            retrieval_pb.GetDocumentRequest(document_id="nothing"), timeout=10
        )

    system.receiver.wait_for(
        lambda seen: any(
            s.attributes.get("rpc.response.status_code") == "NOT_FOUND"
            for s in named(seen, "retrieval", "verity.v1.RetrievalService/GetDocument", SERVER)
        )
    )


def test_health_checks_leave_no_span(system):
    system.run("documents", "list")
    seen = system.receiver.wait_for(
        lambda seen: named(seen, "retrieval", "verity.v1.RetrievalService/ListDocuments", SERVER)
    )
    assert not [span for span in seen if "grpc.health" in span.name]
