"""Who may read what was made of documents that not everybody may read; pure."""

from collections.abc import Iterable

from verity.v1 import core_pb2 as core
from verity.v1 import retrieval_service_pb2 as retrieval

# The groups of one document each: whoever reads must be in one of every set.
Readership = frozenset[tuple[str, ...]]

UNKNOWN_ANSWER = "No such answer, or it has expired."


def admits(readers: Iterable[core.ReadGroups], groups: frozenset[str] | None) -> bool:
    """Whether a member of these groups may read all of the documents; None: of every group."""
    return groups is None or all(not groups.isdisjoint(one.any_of) for one in readers)


def of_message(readers: Iterable[core.ReadGroups]) -> Readership:
    return frozenset(tuple(one.any_of) for one in readers)


def to_message(readership: Readership) -> list[core.ReadGroups]:
    return [core.ReadGroups(any_of=groups) for groups in sorted(readership)]


def of_found(replies: Iterable[retrieval.RetrieveResponse]) -> Readership:
    """Of every document that a search names in its reply."""
    return frozenset(tuple(groups) for reply in replies for groups in _of_reply(reply) if groups)


def _of_reply(reply: retrieval.RetrieveResponse) -> Iterable[Iterable[str]]:
    exclusions = reply.report.exclusions
    passages = [*reply.passages, *reply.report.nearest_misses]
    passages += [one.best for one in exclusions if one.HasField("best")]
    for passage in passages:
        yield passage.readers
        yield from (copy.readers for copy in passage.duplicates)
    for one in exclusions:
        yield one.readers
        yield one.superseded_by_readers
