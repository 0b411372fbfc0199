"""Whether a document applies on a day: by its dates, and by what takes its place."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto

from services.retrieval.passage import Metadata


class Standing(Enum):
    """What a document is on a day; the names are those of the contract."""

    IN_FORCE = auto()
    SUPERSEDED = auto()
    NOT_YET_EFFECTIVE = auto()
    NO_LONGER_EFFECTIVE = auto()


def on(day: str, document: Metadata, superseding: Iterable[Metadata]) -> Standing:
    """What a document is on a day (YYYY-MM-DD), given all those that name it as superseded.

    One of them counts while its own dates hold, even if yet another has taken its place: what it
    replaced does not come back.
    """
    if document.effective_from > day:
        return Standing.NOT_YET_EFFECTIVE
    if document.effective_to and document.effective_to <= day:
        return Standing.NO_LONGER_EFFECTIVE
    if any(_is_effective(day, other) for other in superseding):
        return Standing.SUPERSEDED
    return Standing.IN_FORCE


def by_superseded(documents: Iterable[Metadata]) -> Mapping[str, Sequence[Metadata]]:
    """What supersedes each source name; a name that nothing supersedes is left out."""
    superseding = defaultdict(list)
    for metadata in documents:
        for name in metadata.supersedes:
            superseding[name].append(metadata)
    return superseding


def _is_effective(day: str, document: Metadata) -> bool:
    # ISO dates sort as text.
    return document.effective_from <= day and not "" < document.effective_to <= day
