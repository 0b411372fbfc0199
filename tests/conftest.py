"""What tests of more than one kind share."""

import os

import pytest
import structlog
from observed import Observed
from otlp_receiver import receiving

from services.chassis import telemetry
from services.chassis.settings import Settings


@pytest.fixture(autouse=True)
def _no_settings_from_the_shell(monkeypatch):
    for name in [name for name in os.environ if name.startswith(("VERITY_", "OTEL_"))]:
        monkeypatch.delenv(name)
    # Tests of draining say how long; the others need not wait for it.
    monkeypatch.setenv("VERITY_DRAIN_SECONDS", "0")


@pytest.fixture(autouse=True)
def _logs_where_pytest_finds_them():
    structlog.configure(
        processors=[structlog.stdlib.render_to_log_kwargs],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    yield
    structlog.reset_defaults()


@pytest.fixture
def observed():
    """Telemetry is on, and what it sees is kept."""
    seen = Observed()
    with telemetry.configured(
        "test",
        Settings(),
        span_processors=[seen.span_processor],
        metric_readers=[seen.metric_reader],
    ):
        yield seen


@pytest.fixture(scope="session")
def receiver():
    """What processes send of their telemetry."""
    with receiving() as opened:
        yield opened


def pytest_terminal_summary(terminalreporter):
    """Prints the tables that tests recorded."""
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, table in report.user_properties:
            if name == "table":
                terminalreporter.section(report.nodeid)
                terminalreporter.write_line(table)
