"""Names in the environment that look like settings and are none: they are silently passed over."""

import difflib
import re
from collections.abc import Collection, Iterable

PREFIX = "VERITY_"
# Read by the command itself, besides what services read.
OF_THE_COMMAND = frozenset(
    {"VERITY_ADDRESS", "VERITY_RETRIEVAL_ADDRESS", "VERITY_TOKEN", "VERITY_VERIFICATION_ADDRESS"}
)
# What Kubernetes puts into a container for a Service named verity-….
_LINK = re.compile(r"_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP)(_\w+)?)?)$")


def unknown(environment: Iterable[str], known: Collection[str]) -> list[tuple[str, str]]:
    """Each with the nearest name that there is; "" where none is near."""
    real = {*known, *OF_THE_COMMAND}
    odd = sorted(
        name
        for name in environment
        if name.upper().startswith(PREFIX) and name.upper() not in real and not _LINK.search(name)
    )
    return [(name, nearest(name, real)) for name in odd]


def nearest(name: str, real: Collection[str]) -> str:
    """The name that was probably meant."""
    found = difflib.get_close_matches(name.upper(), sorted(real), 1, cutoff=0.75)
    return found[0] if found else ""
