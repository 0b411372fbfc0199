"""What stands beside a passage in its section: a passage is found by its words too.

A section that is longer than a passage is cut, and what is asked for may be spread over its parts.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol


class Part(Protocol):
    """What says in which section it stands: a chunk, or a passage."""

    @property
    def section_id(self) -> str: ...
    @property
    def heading_path(self) -> tuple[str, ...]: ...


def beside(parts: Sequence[Part]) -> list[tuple[int, ...]]:
    """For each part of a document, the numbers of those just before and after it in its section.

    Args:
        parts: All of the document, in its order.
    """
    found: list[tuple[int, ...]] = [()] * len(parts)
    for number, (one, other) in enumerate(pairwise(parts)):
        if (one.section_id, one.heading_path) == (other.section_id, other.heading_path):
            found[number] += (number + 1,)
            found[number + 1] += (number,)
    return found
