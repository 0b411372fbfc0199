"""Whether a document applies on a day: by its dates, and by what takes its place."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto

from services.retrieval.passage import Metadata

# Of each source name, what is said of the documents that name it as superseded.
Superseding = Mapping[str, Sequence[Metadata]]


class Standing(Enum):
    """What a document is on a day; the names are those of the contract."""

    IN_FORCE = auto()
    SUPERSEDED = auto()
    NOT_YET_EFFECTIVE = auto()
    NO_LONGER_EFFECTIVE = auto()


def on(day: str, document: Metadata, superseding: Superseding) -> Standing:
    """What a document is on a day (YYYY-MM-DD), given all that supersedes others."""
    if document.effective_from > day:
        return Standing.NOT_YET_EFFECTIVE
    if document.effective_to and document.effective_to <= day:
        return Standing.NO_LONGER_EFFECTIVE
    if next(in_place_of(document, day, superseding), None):
        return Standing.SUPERSEDED
    return Standing.IN_FORCE


def in_place_of(document: Metadata, day: str, superseding: Superseding) -> Iterator[Metadata]:
    """What takes a document's place and whose own dates hold on the day, the nearest first.

    What takes the place of one of these does too: what was replaced does not come back because its
    successor has been replaced in its turn, or has ended with that.
    """
    seen = {document.source_name}
    names = [document.source_name]
    for name in names:
        for other in superseding.get(name, ()):
            if other.source_name not in seen:
                seen.add(other.source_name)
                names.append(other.source_name)
                if _is_effective(day, other):
                    yield other


def by_superseded(documents: Iterable[Metadata]) -> Superseding:
    """What supersedes each source name; a name that nothing supersedes is left out."""
    superseding = defaultdict(list)
    for metadata in documents:
        for name in metadata.supersedes:
            superseding[name].append(metadata)
    return superseding


def _is_effective(day: str, document: Metadata) -> bool:
    # ISO dates sort as text.
    return document.effective_from <= day and not "" < document.effective_to <= day
