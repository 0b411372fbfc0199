"""What one search asks of each corpus, and what its finds make together with those before."""

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest

from verity.v1 import core_pb2 as core
from verity.v1 import grounding_service_pb2 as grounding
from verity.v1 import retrieval_service_pb2 as retrieval

from services.orchestrator.compliance import Corpora
from services.orchestrator.queries import rewritten
from services.orchestrator.routes import WIDEST
from services.orchestrator.state import State

CORPORA = (grounding.ComplianceGap.CORPUS_FACTS, grounding.ComplianceGap.CORPUS_RULES)
_MOST_MISSES = 5
_MOST_QUERY = 4000


def limit(state: State) -> int:
    """Twice as many each time."""
    return min(2 * state["limit"], WIDEST) if state["searches"] else state["limit"]


def query(state: State) -> str:
    """The question; when it was searched for in vain, the drafter's other wording, or ours."""
    question = state["standalone"] or state["asked"].question
    if not state["searches"]:
        return rewritten(question) if state["strategy"].rewrite_query else question
    suggested = state["draft"].suggested_query.strip()[:_MOST_QUERY] if "draft" in state else ""
    return suggested or (question if state["strategy"].rewrite_query else rewritten(question))


def requests(state: State) -> list[retrieval.RetrieveRequest]:
    """One for each corpus, which share the passages between them."""
    asked, chosen = state["asked"], state["strategy"]
    each = -(-limit(state) // len(asked.filters))
    return [
        retrieval.RetrieveRequest(
            query=query(state),
            limit=each,
            filter=one,
            as_of=asked.as_of,
            neighbours=1 if state["searches"] or chosen.neighbours else 0,
            rerank=chosen.rerank or None,
        )
        for one in asked.filters
    ]


def merged(state: State, found: Sequence[Sequence[core.Passage]]) -> list[core.Passage]:
    """What was found now, in turn from each corpus, then what was found before.

    What the answer cites already is never pushed out.
    """
    now = (one for one in chain.from_iterable(zip_longest(*found)) if one is not None)
    cited = {c.passage_id for one in state["said"] for c in one.verified.citations}
    needed = [one for one in state["passages"] if one.id in cited]
    room = WIDEST - len(needed)
    known = {one.id: one for one in chain(now, state["passages"])}
    others = [one for id_, one in known.items() if id_ not in cited][:room]
    kept = {one.id for one in (*needed, *others)}
    return [one for id_, one in known.items() if id_ in kept]


def in_force(passages: Iterable[core.Passage], day: str) -> list[core.Passage]:
    """What applies on the day. A search leaves out the rest, and a draft is not to depend on it."""
    return [
        one
        for one in passages
        if one.effective_from <= day and (not one.effective_to or day < one.effective_to)
    ]


def corpora(known: Corpora, found: Sequence[Sequence[core.Passage]]) -> Corpora:
    """Where each passage is from: a document may be in both."""
    told = dict(known)
    for corpus, passages in zip(CORPORA, found, strict=True):
        for one in passages:
            told[one.id] = told.get(one.id, frozenset()) | {corpus}
    return told


def report(reports: Iterable[core.SearchReport]) -> core.SearchReport:
    """Of one search, whatever number of corpora it went through."""
    whole, *others = reports
    for other in others:
        whole.document_count += other.document_count
        whole.passage_count += other.passage_count
        whole.nearest_misses.extend(other.nearest_misses)
        whole.exclusions.extend(other.exclusions)
        whole.excluded_document_count += other.excluded_document_count
        whole.versions.extend(other.versions)
    best = sorted(whole.nearest_misses, key=lambda one: -one.score)[:_MOST_MISSES]
    del whole.nearest_misses[:]
    whole.nearest_misses.extend(best)
    return whole
