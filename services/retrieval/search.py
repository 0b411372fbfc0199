"""Finds passages by meaning and by words, and says what was searched and what was left out."""

import asyncio
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime

from services.chassis import telemetry
from services.chassis.errors import NotFound
from services.retrieval import bm25
from services.retrieval.batching import Batcher, Lane
from services.retrieval.catalog import Catalog, Filter, in_motion
from services.retrieval.copies import collapse
from services.retrieval.embedding import Vector
from services.retrieval.exclusions import Exclusion, out_of_force
from services.retrieval.fusion import best_first, fuse, to_score
from services.retrieval.index import Hit, SparseVector
from services.retrieval.passage import Groups, Passage
from services.retrieval.preference import Preference
from services.retrieval.report import Report, Wishes, spread
from services.retrieval.reranking import Reranking
from services.retrieval.routing import Kind, Named, has, leading, named
from services.retrieval.standing import Standing

# How far each of the two searches looks. A passage that is beyond this in both is not found.
_DEPTH = 100
# How many of the best are read, so that copies and crowds can fall out of them.
_POOL = 40
_MISSES = 5
# More than any sum of standardised scores: what the query names comes first.
_NAMED_BONUS = 12.0
# A document may be replaced between the search and the reading of its passages.
_ROUNDS = 5

Hits = tuple[list[Hit], list[Hit]]


@dataclass(frozen=True, slots=True)
class Ranking:
    """How passages are ordered.

    Attributes:
        dense_weight: Share of the meaning's score against that of the words, 0 to 1.
        max_per_document: The most passages of one document; 0: any number.
    """

    dense_weight: float
    preference: Preference = field(default_factory=Preference)
    max_per_document: int = 0
    reranking: Reranking = field(default_factory=Reranking)


@dataclass(frozen=True, slots=True)
class _Question:
    tenant: str
    text: str
    dense: Vector
    sparse: SparseVector
    named: tuple[Named, ...]


class Searcher:
    """Searches a tenant's documents.

    Args:
        catalog: What is searched.
        batcher: Embeds the question.
        ranking: How what is found is ordered.
        today: The day a search is for when it does not say.
    """

    def __init__(
        self,
        catalog: Catalog,
        batcher: Batcher,
        ranking: Ranking,
        *,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        self._catalog = catalog
        self._batcher = batcher
        self._ranking = ranking
        self._today = today

    def seen_by(self, groups: Groups) -> "Searcher":
        """Finds what a member of these groups may read."""
        catalog = self._catalog.seen_by(groups)
        return Searcher(catalog, self._batcher, self._ranking, today=self._today)

    async def search(
        self,
        tenant: str,
        query: str,
        narrow: Filter,
        limit: int,
        wishes: Wishes = Wishes(),  # noqa: B008 - immutable
    ) -> tuple[tuple[Passage, ...], Report]:
        """At most `limit` passages, best first, ties by id; each followed by its neighbours."""
        day = wishes.as_of or self._today().isoformat()
        (dense,) = await self._batcher.embed([query], Lane.QUERY)
        question = _Question(tenant, query, dense, bm25.query_vector(query), named(query))
        with telemetry.span("search"):
            left_out: tuple[Exclusion, ...] = ()
            admitted = narrow
            if not wishes.include_out_of_force:
                left_out = await out_of_force(self._catalog, tenant, narrow, day)
                admitted = replace(narrow, day=day, without_ids=_superseded(left_out))
            (ranked, hits), counts = await asyncio.gather(
                self._ranked(question, admitted, limit, day),
                self._catalog.counts(tenant, admitted),
            )
            left_out = await self._with_best(question, narrow, left_out, hits, limit)
        routed = tuple((one, sum(has(p, one) for p in ranked)) for one in question.named)
        reranking = self._ranking.reranking
        ranked, outcome = await reranking.ordered(query, ranked, asked=wishes.rerank)
        ranked, collapsed = collapse(ranked)
        most = wishes.max_per_document or self._ranking.max_per_document
        ranked, crowded_out = spread(ranked, limit, most)
        found = await self._with_neighbours(tenant, ranked[:limit], wishes.neighbours)
        return found, Report(
            collection=self._catalog.collection,
            document_count=counts[0],
            passage_count=counts[1],
            query=query,
            as_of=day,
            nearest_misses=tuple(ranked[limit : limit + _MISSES]),
            routed=routed,
            exclusions=left_out,
            reranking=outcome,
            reranker=reranking.name,
            collapsed=collapsed,
            crowded_out=crowded_out,
            included_out_of_force=wishes.include_out_of_force,
        )

    async def _ranked(
        self, question: _Question, narrow: Filter, limit: int, day: str
    ) -> tuple[list[Passage], Hits]:
        """The best, with some more than are wanted, and the hits they are from."""
        # Each document's worth of places may fall out.
        most = max(_POOL, 2 * limit + _MISSES)
        for attempt in range(_ROUNDS):
            # While nothing is being written, what is found is current: to look at that which is
            # read is enough. Where it was not, all is looked at.
            hits, also = await self._hits(question, narrow, checked=attempt > 0)
            sums = fuse(*hits, depth=_DEPTH, dense_weight=self._ranking.dense_weight)
            lowest = min(sums.values(), default=0.0)
            sums |= {id_: lowest for id_ in also if id_ not in sums}
            ids = list(dict.fromkeys([*best_first(sums)[:most], *also]))
            found = await self._catalog.read(question.tenant, ids, narrow)
            if len(found) == len(ids):
                return self._ordered(question, sums, found.values(), limit, day), hits
        raise in_motion()

    async def _hits(
        self, question: _Question, narrow: Filter, *, checked: bool
    ) -> tuple[Hits, list[str]]:
        """What both searches find, and ids of what has something that the query names."""
        searches = [self._near(question, question.sparse, narrow, checked=checked)]
        keys = [one.key for one in question.named if one.kind is Kind.SECTION]
        if keys:
            searches.append(self._near(question, question.sparse, narrow, keys, checked=checked))
        searches += [
            self._near(question, bm25.query_vector(one.text), narrow, checked=checked)
            for one in question.named
            if one.kind is Kind.PHRASE
        ]
        (hits, *more) = await asyncio.gather(*searches)
        if not keys:
            return hits, [hit.id for _, sparse in more for hit in sparse[:_POOL]]
        (dense, sparse), *more = more
        also = [hit.id for part in (dense, sparse) for hit in part[:_POOL]]
        also += [hit.id for _, part in more for hit in part[:_POOL]]
        return (_joined(hits[0], dense), _joined(hits[1], sparse)), also

    async def _near(
        self,
        question: _Question,
        sparse: SparseVector,
        narrow: Filter,
        keys: Sequence[str] = (),
        *,
        checked: bool = True,
    ) -> Hits:
        return await self._catalog.candidates(
            question.tenant,
            narrow,
            question.dense,
            sparse,
            depth=_DEPTH,
            sections=keys,
            checked=checked,
        )

    def _ordered(
        self,
        question: _Question,
        sums: dict[str, float],
        passages: Iterable[Passage],
        limit: int,
        day: str,
    ) -> list[Passage]:
        preference = self._ranking.preference
        totals = {p.id: sums[p.id] + preference.bonus(p.metadata, day) for p in passages}
        by_id = {p.id: p for p in passages}
        order = best_first(totals)
        # Half of the places at most: many documents may have a section of that number.
        for id_ in _having(leading(question.text, question.named), order, by_id)[
            : (limit + 1) // 2
        ]:
            totals[id_] += _NAMED_BONUS
        # What is only mentioned has a place, the last: the reader may want to look there.
        mentioned = _having(question.named, order, by_id)[:1]
        order = best_first(totals)
        if mentioned and order.index(mentioned[0]) >= limit:
            totals[mentioned[0]] = math.nextafter(totals[order[limit - 1]], math.inf)
        return [replace(by_id[id_], score=to_score(totals[id_])) for id_ in best_first(totals)]

    async def _with_best(
        self,
        question: _Question,
        narrow: Filter,
        left_out: Sequence[Exclusion],
        hits: Hits,
        limit: int,
    ) -> tuple[Exclusion, ...]:
        """What was left out, that which would have been among the best first."""
        if not left_out:
            return ()
        only = replace(narrow, document_ids=tuple(one.document.id for one in left_out))
        dense, sparse = await self._near(question, question.sparse, only)
        sums = fuse(
            _joined(hits[0], dense),
            _joined(hits[1], sparse),
            depth=_DEPTH,
            dense_weight=self._ranking.dense_weight,
        )
        theirs = {hit.id for hit in (*dense, *sparse)}
        ids = [id_ for id_ in best_first(sums)[:limit] if id_ in theirs]
        read = await self._catalog.read(question.tenant, ids)
        best: dict[str, Passage] = {}
        for id_ in ids:
            if passage := read.get(id_):
                best.setdefault(passage.document_id, replace(passage, score=to_score(sums[id_])))
        found = [replace(one, best=best.get(one.document.id)) for one in left_out]
        return tuple(sorted(found, key=lambda one: -one.best.score if one.best else 0.0))

    async def _with_neighbours(
        self, tenant: str, found: Sequence[Passage], each_side: int
    ) -> tuple[Passage, ...]:
        if not each_side:
            return tuple(found)
        try:
            around = await asyncio.gather(
                *(self._catalog.neighbours(tenant, passage, each_side) for passage in found)
            )
        except NotFound as error:  # Replaced since it was found.
            raise in_motion() from error
        taken = {passage.id for passage in found}
        result: list[Passage] = []
        for passage, (before, after) in zip(found, around, strict=True):
            result.append(passage)
            for neighbour in (*before, *after):
                if neighbour.id not in taken:
                    taken.add(neighbour.id)
                    result.append(replace(neighbour, neighbour_of=passage.id))
        return tuple(result)


def _superseded(left_out: Iterable[Exclusion]) -> tuple[str, ...]:
    # The others' dates are compared in the store.
    return tuple(one.document.id for one in left_out if one.standing is Standing.SUPERSEDED)


def _having(
    wanted: Sequence[Named], order: Sequence[str], by_id: Mapping[str, Passage]
) -> list[str]:
    return [id_ for id_ in order if any(has(by_id[id_], one) for one in wanted)]


def _joined(hits: Sequence[Hit], more: Sequence[Hit]) -> list[Hit]:
    by_id = {hit.id: hit for hit in (*hits, *more)}
    return sorted(by_id.values(), key=lambda hit: -hit.score)
