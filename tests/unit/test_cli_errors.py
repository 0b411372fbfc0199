"""A failure is one line for a reader and one object for a script, never a traceback."""

import grpc
import pytest
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from cli.__main__ import run
from cli.errors import CliError, Violation, from_rpc


def failed(code: grpc.StatusCode, details: str = "", *rich) -> grpc.aio.AioRpcError:
    status = status_pb2.Status(code=code.value[0], message=details)
    for detail in rich:
        packed = any_pb2.Any()
        packed.Pack(detail)
        status.details.append(packed)
    trailers = rpc_status.to_status(status).trailing_metadata if rich else ()
    return grpc.aio.AioRpcError(
        code, grpc.aio.Metadata(), grpc.aio.Metadata(*trailers), details=details
    )


def error(code: grpc.StatusCode, details: str = "", *rich) -> CliError:
    return from_rpc(failed(code, details, *rich), "GroundingService", "127.0.0.1:50051")


def test_each_field_at_fault_is_named():
    bad = error_details_pb2.BadRequest(
        field_violations=[
            {"field": "question", "description": "must be set"},
            {"field": "max_attempts", "description": "must be at most 10"},
        ]
    )
    failure = error(grpc.StatusCode.INVALID_ARGUMENT, "question must be set (and 1 more)", bad)
    assert failure.violations == (
        Violation("question", "must be set"),
        Violation("max_attempts", "must be at most 10"),
    )
    line = failure.line().plain
    assert line.count("must be set") == 1
    assert "max_attempts must be at most 10" in line


def test_the_machine_readable_reason_is_kept():
    info = error_details_pb2.ErrorInfo(reason="ENCRYPTED_FILE", domain="verity")
    failure = error(grpc.StatusCode.INVALID_ARGUMENT, "The file is encrypted.", info)
    assert failure.view()["reason"] == "ENCRYPTED_FILE"
    assert "The file is encrypted. (ENCRYPTED_FILE)" in failure.line().plain


def test_nobody_listening_says_where_and_how_to_start():
    details = "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:50051: ..."
    line = error(grpc.StatusCode.UNAVAILABLE, details).line().plain
    assert "Nothing answers for GroundingService at 127.0.0.1:50051." in line
    assert "verity up" in line


def test_an_unexpected_error_gives_the_id_under_which_the_log_has_it():
    info = error_details_pb2.ErrorInfo(reason="INTERNAL", metadata={"error_id": "9f" * 16})
    line = error(grpc.StatusCode.INTERNAL, "internal error", info).line().plain
    assert "9f" * 16 in line


def test_running_out_of_time_names_the_option():
    assert "--timeout" in error(grpc.StatusCode.DEADLINE_EXCEEDED).line().plain


def test_details_that_cannot_be_read_do_not_hide_the_error():
    broken = grpc.aio.AioRpcError(
        grpc.StatusCode.NOT_FOUND,
        grpc.aio.Metadata(),
        grpc.aio.Metadata(("grpc-status-details-bin", status_pb2.Status().SerializeToString())),
        details="No such answer.",
    )
    failure = from_rpc(broken, "GroundingService", "here")
    assert failure.view() == {
        "code": "NOT_FOUND",
        "message": "No such answer.",
        "violations": [],
        "reason": "",
        "hint": "",
        "detail": "",
    }


def test_what_a_service_says_is_printed_as_text():
    line = error(grpc.StatusCode.NOT_FOUND, "[red]\x1b[2Jgone").line()
    assert line.plain == "error: [red][2Jgone"


@pytest.mark.parametrize(
    "arguments",
    [["ask"], ["ask", "x", "--max-attempts", "11"], ["nothing"], ["up", "--port", "70000"]],
)
def test_wrong_usage_is_exit_code_2(arguments, capsys):
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert captured.out == ""


def test_wrong_usage_with_json_is_an_object(capsys):
    assert run(["ask", "--json"]) == 2
    captured = capsys.readouterr()
    assert '"code": "USAGE"' in captured.out
    assert captured.err == ""
