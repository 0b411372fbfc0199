"""JSON lines on standard error, each with the service and the trace it belongs to."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from opentelemetry import trace
from structlog.typing import EventDict, Processor, WrappedLogger


@contextmanager
def configured(service: str, level: str) -> Iterator[None]:
    """Sends structlog and the loggers of libraries (grpc, asyncio, ...) the same way, and out once.

    Everything ends in a handler of the standard library, which never raises into the code that
    logs.
    """

    def with_service(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        event["service"] = service
        return event

    processors: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        with_service,
        _with_trace,
        # Tracebacks without local variables: those hold what users asked.
        structlog.processors.format_exc_info,
    ]
    handler = logging.StreamHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=processors,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    root, before = logging.getLogger(), structlog.get_config()
    root_level = root.level
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *processors,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    root.addHandler(handler)
    root.setLevel(level.upper())
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(root_level)
        structlog.configure(**before)


def _with_trace(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        event["trace_id"] = trace.format_trace_id(context.trace_id)
        event["span_id"] = trace.format_span_id(context.span_id)
    return event
