"""Whether a document applies on a day: by its dates, and by what takes its place."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import Enum, auto

from services.retrieval.passage import Metadata


class Standing(Enum):
    """What a document is on a day; the names are those of the contract."""

    IN_FORCE = auto()
    SUPERSEDED = auto()
    NOT_YET_EFFECTIVE = auto()
    NO_LONGER_EFFECTIVE = auto()


def on(day: str, document: Metadata, replaced: Collection[str]) -> Standing:
    """What a document is on a day (YYYY-MM-DD), given all that is replaced on it."""
    if document.effective_from > day:
        return Standing.NOT_YET_EFFECTIVE
    if document.effective_to and document.effective_to <= day:
        return Standing.NO_LONGER_EFFECTIVE
    return Standing.SUPERSEDED if document.source_name in replaced else Standing.IN_FORCE


def replaced(day: str, documents: Collection[Metadata]) -> Mapping[str, Metadata]:
    """By source name what is replaced on a day, and by what, given all that supersedes others.

    A document whose own dates hold takes the place of those that it names, and of those whose place
    they take, whatever their dates: what was replaced does not come back because its successor has
    been replaced in its turn, or has ended with that.
    """
    supersedes = {one.source_name: one.supersedes for one in documents}
    effective = [one for one in documents if one.supersedes and _is_effective(day, one)]
    found = _reached(effective, supersedes)
    # What is replaced itself is named only where documents replace each other.
    effective.sort(
        key=lambda m: (m.source_name not in found, m.effective_from, m.published, m.source_name),
        reverse=True,
    )
    return _reached(effective, supersedes)


def _reached(
    effective: Iterable[Metadata], supersedes: Mapping[str, Sequence[str]]
) -> dict[str, Metadata]:
    """Each name by the first from which it is reached."""
    found: dict[str, Metadata] = {}
    for one in effective:
        names = list(one.supersedes)
        while names:
            name = names.pop()
            if name not in found and name != one.source_name:
                found[name] = one
                names += supersedes.get(name, ())
    return found


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
