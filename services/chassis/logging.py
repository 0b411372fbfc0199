"""JSON lines on standard error, each with the service and the trace it belongs to."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from opentelemetry import trace
from structlog.typing import EventDict, Processor, WrappedLogger


@contextmanager
def configured(service: str, level: str) -> Iterator[None]:
    """Sends structlog and the standard library's loggers (grpc, asyncio, ...) the same way."""

    def with_service(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        event["service"] = service
        return event

    processors: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        with_service,
        _with_trace,
        # Tracebacks without local variables: those hold what users asked.
        structlog.processors.format_exc_info,
    ]
    threshold = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[*processors, structlog.processors.JSONRenderer()],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *processors],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    root = logging.getLogger()
    handlers, root_level = root.handlers, root.level
    root.handlers = [handler]
    root.setLevel(threshold)
    try:
        yield
    finally:
        root.handlers = handlers
        root.setLevel(root_level)
        structlog.reset_defaults()


def _with_trace(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        event["trace_id"] = trace.format_trace_id(context.trace_id)
        event["span_id"] = trace.format_span_id(context.span_id)
    return event
