"""How much work a call is: counted where it can be, so that a busy machine changes nothing."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

HANGS = 30
"""Seconds of CPU for what takes one to three of them."""


def lines_run(call: Callable[[], Any]) -> int:
    """The lines of Python that a call runs in this thread, those of what it calls among them.

    What runs inside C counts as one line, however long it takes; ends_in_time is for that.
    """
    count = 0

    def trace(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def is_linear(call: Callable[[int], Any], size: int) -> bool:
    """Whether a call with twice the size runs less than three times the lines, not four."""
    call(2 * size)  # What is read and remembered once belongs to neither.
    return lines_run(lambda: call(2 * size)) < 3 * lines_run(lambda: call(size))


@contextmanager
def ends_in_time() -> Iterator[None]:
    """Breaks off what hangs, also inside a regular expression: it would need minutes or hours."""

    def hangs(_signal: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"did not end in {HANGS} s of CPU")

    before = signal.signal(signal.SIGVTALRM, hangs)
    signal.setitimer(signal.ITIMER_VIRTUAL, HANGS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
