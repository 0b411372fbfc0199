"""Logs are lines of JSON, whoever writes them, and never hold what users asked."""

import io
import json
import logging as standard
from contextlib import contextmanager

import structlog

from services.chassis import logging, telemetry


@contextmanager
def captured(capsys):
    """Collects the lines that are logged inside the block."""
    lines = []
    with logging.configured("probe", "info"):
        yield lines
    lines += [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_our_events_and_those_of_libraries_look_the_same(capsys):
    with captured(capsys) as lines:
        structlog.get_logger("ours").warning("thing_happened", count=3)
        standard.getLogger("grpc._cython").warning("fell %s", "over")
    ours, theirs = lines
    assert (ours["event"], ours["count"], ours["logger"]) == ("thing_happened", 3, "ours")
    assert (theirs["event"], theirs["logger"]) == ("fell over", "grpc._cython")
    for line in (ours, theirs):
        assert (line["level"], line["service"]) == ("warning", "probe")
        assert line["timestamp"].endswith("Z")


def test_what_is_below_the_level_is_not_written(capsys):
    with captured(capsys) as lines:
        structlog.get_logger().debug("detail")
        standard.getLogger("library").debug("detail")
    assert lines == []


def test_a_traceback_has_no_local_variables(capsys):
    def ask(question):
        raise ValueError("broken")

    asked = "what-was-asked"
    with captured(capsys) as lines:
        try:
            ask(asked)
        except ValueError:
            structlog.get_logger().exception("ours")
            standard.getLogger("library").exception("theirs")
    assert [line["event"] for line in lines] == ["ours", "theirs"]
    for line in lines:
        assert "ValueError: broken" in line["exception"]
        assert asked not in line["exception"]


def test_lines_inside_a_span_carry_its_ids(observed, capsys):
    with captured(capsys) as lines, telemetry.span("work"):
        structlog.get_logger().info("ours")
        standard.getLogger("library").warning("theirs")
        trace_id = telemetry.trace_id()
    found = {line["event"]: line["trace_id"] for line in lines if line["service"] == "probe"}
    assert found == {"ours": trace_id, "theirs": trace_id}


def test_a_stream_that_is_gone_breaks_nothing(capsys):
    with logging.configured("probe", "info"):
        standard.getLogger().handlers[-1].stream = io.StringIO()
        standard.getLogger().handlers[-1].stream.close()
        structlog.get_logger().info("into the void")


def test_leaving_puts_the_loggers_back_as_they_were():
    before = structlog.get_config(), list(standard.getLogger().handlers)
    with logging.configured("probe", "info"):
        pass
    assert (structlog.get_config(), standard.getLogger().handlers) == before
