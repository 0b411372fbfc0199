"""What a command prints: one JSON object for scripts, or text for readers."""

import json
import sys
from collections.abc import Mapping
from typing import Any

from rich.console import Console, RenderableType


def show(view: Mapping[str, Any], rendered: RenderableType, *, as_json: bool) -> None:
    """Prints the one or the other; JSON is ASCII, so that it is safe on any terminal."""
    if as_json:
        sys.stdout.write(json.dumps(view) + "\n")
        sys.stdout.flush()
    else:
        Console().print(rendered)


def progress(*, as_json: bool) -> Console:
    """Where to show what is going on: standard error, and nowhere when nobody looks at it."""
    return Console(stderr=True, quiet=as_json or not sys.stderr.isatty())
