"""Finds passages by meaning and by words, and says what was searched and what was left out."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime

from services.chassis import telemetry
from services.retrieval import bm25
from services.retrieval.batching import Batcher, Lane
from services.retrieval.catalog import Catalog, Filter, in_motion
from services.retrieval.embedding import Vector
from services.retrieval.exclusions import Exclusion, out_of_force
from services.retrieval.fusion import best_first, fuse, reread, to_score
from services.retrieval.index import Hit, SparseVector
from services.retrieval.neighbours import with_neighbours
from services.retrieval.passage import Groups, Passage
from services.retrieval.placing import placed
from services.retrieval.preference import Preference
from services.retrieval.report import Report, Wishes
from services.retrieval.reranking import Reranking
from services.retrieval.routing import Kind, Named, named, reached
from services.retrieval.standing import Standing
from services.retrieval.thinning import Thinned, thin

# How far each of the two searches looks. A passage that is beyond this in both is not found.
_DEPTH = 100
# How many of the best are read, so that copies and crowds can fall out of them; more are where too
# few are left.
_POOL = 24
# How many are read of what has something that the query names.
_NAMED = 40
# The most searches for that, each without the documents of which something fell out before.
_SEARCHES = 4
_MISSES = 5
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
    day: str
    limit: int
    most: int


@dataclass(frozen=True, slots=True)
class _Pool:
    """What was found, how near it is, and what of it was read, best first."""

    hits: Hits
    sums: Mapping[str, float]
    ranked: Sequence[Passage]
    thinned: Thinned


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
        most = wishes.max_per_document or self._ranking.max_per_document
        question = _Question(
            tenant, query, dense, bm25.query_vector(query), named(query), day, limit, most
        )
        with telemetry.span("search"):
            left_out: tuple[Exclusion, ...] = ()
            admitted = narrow
            if not wishes.include_out_of_force:
                left_out = await out_of_force(self._catalog, tenant, narrow, day)
                admitted = replace(narrow, day=day, without_ids=_superseded(left_out))
            pool, counts = await asyncio.gather(
                self._pool(question, admitted), self._catalog.counts(tenant, admitted)
            )
            left_out = await self._with_best(question, narrow, left_out, pool.hits)
        routed = tuple((o, len(those)) for o, those in reached(question.named, pool.ranked).items())
        reranking = self._ranking.reranking
        scores, outcome = await reranking.scores(query, pool.ranked, asked=wishes.rerank)
        thinned = pool.thinned
        if scores:
            ranked = self._placed(question, reread(pool.sums, scores), pool.ranked)
            thinned = thin(ranked, limit, most)
        found = await with_neighbours(
            self._catalog, tenant, thinned.kept[:limit], wishes.neighbours
        )
        return found, Report(
            collection=self._catalog.collection,
            document_count=counts[0],
            passage_count=counts[1],
            query=query,
            as_of=day,
            nearest_misses=tuple(thinned.kept[limit : limit + _MISSES]),
            routed=routed,
            exclusions=left_out,
            reranking=outcome,
            reranker=reranking.name,
            collapsed=thinned.collapsed,
            crowded_out=thinned.crowded_out,
            included_out_of_force=wishes.include_out_of_force,
        )

    async def _pool(self, question: _Question, narrow: Filter) -> _Pool:
        """What was found, with some more than are wanted."""
        for attempt in range(_ROUNDS):
            # While nothing is being written, what is found is current: to look at that which is
            # read is enough. Where it was not, all is looked at.
            if pool := await self._filled(question, narrow, checked=attempt > 0):
                return pool
        raise in_motion()

    async def _filled(self, question: _Question, narrow: Filter, *, checked: bool) -> _Pool | None:
        """A pool in which enough is left, if there is; None when something was replaced meanwhile.

        Else twice as many of the hits are read; and once all are, it is searched on without the
        documents of which something fell out.
        """
        wanted = question.limit + _MISSES
        size, searches = max(_POOL, question.limit + wanted, self._ranking.reranking.reads), 1
        hits, also = await self._hits(question, narrow, checked=checked)
        last, spent = hits, frozenset[str]()
        read: dict[str, Passage] = {}
        while True:
            sums = self._sums(hits, also)
            best = dict.fromkeys([*best_first(sums)[:size], *also])
            unread = [id_ for id_ in best if id_ not in read]
            found = await self._catalog.read(question.tenant, unread, narrow)
            if len(found) < len(unread):
                return None
            read |= found
            ranked = self._placed(question, sums, read.values())
            thinned = thin(ranked, question.limit, question.most)
            is_enough = len(thinned.kept) >= wanted
            if not is_enough and len(read) < len(sums):
                size *= 2
                continue
            were_all = all(len(part) < _DEPTH for part in last)
            if is_enough or were_all or thinned.spent <= spent or searches == _SEARCHES:
                return _Pool(hits, sums, ranked, thinned)
            spent |= thinned.spent
            others = replace(narrow, without_ids=(*narrow.without_ids, *sorted(spent)))
            last = await self._near(question, question.sparse, others, checked=checked)
            hits = _joined(hits, last)
            size, searches = size + 2 * _DEPTH, searches + 1

    def _sums(self, hits: Hits, also: Iterable[str] = ()) -> dict[str, float]:
        sums = fuse(*hits, depth=_DEPTH, dense_weight=self._ranking.dense_weight)
        lowest = min(sums.values(), default=0.0)
        return dict.fromkeys(also, lowest) | sums

    async def _hits(
        self, question: _Question, narrow: Filter, *, checked: bool
    ) -> tuple[Hits, list[str]]:
        """What both searches find, and ids of what has something that the query names."""
        searches = [self._near(question, question.sparse, narrow, checked=checked)]
        keys = [one.key for one in question.named if one.kind is Kind.SECTION]
        if keys:
            searches.append(self._near(question, question.sparse, narrow, keys, checked=checked))
        if wider := [around.key for one in question.named for around in one.wider]:
            searches.append(self._near(question, question.sparse, narrow, wider, checked=checked))
        searches += [
            self._near(question, bm25.query_vector(one.text), narrow, checked=checked)
            for one in question.named
            if one.kind is Kind.PHRASE
        ]
        (hits, *more) = await asyncio.gather(*searches)
        if not keys:
            return hits, [hit.id for _, sparse in more for hit in sparse[:_NAMED]]
        of_sections, *more = more
        also = [hit.id for part in of_sections for hit in part[:_NAMED]]
        also += [hit.id for _, part in more for hit in part[:_NAMED]]
        return _joined(hits, of_sections), also

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

    def _placed(
        self, question: _Question, sums: Mapping[str, float], passages: Collection[Passage]
    ) -> list[Passage]:
        return placed(
            passages,
            sums,
            query=question.text,
            named=question.named,
            preference=self._ranking.preference,
            day=question.day,
            limit=question.limit,
        )

    async def _with_best(
        self,
        question: _Question,
        narrow: Filter,
        left_out: Sequence[Exclusion],
        hits: Hits,
    ) -> tuple[Exclusion, ...]:
        """What was left out, that which would have been among the best first."""
        if not left_out:
            return ()
        only = replace(narrow, document_ids=tuple(one.document.id for one in left_out))
        dense, sparse = await self._near(question, question.sparse, only)
        sums = self._sums(_joined(hits, (dense, sparse)))
        theirs = {hit.id for hit in (*dense, *sparse)}
        ids = [id_ for id_ in best_first(sums)[: question.limit] if id_ in theirs]
        read = await self._catalog.read(question.tenant, ids)
        best: dict[str, Passage] = {}
        for id_ in ids:
            if passage := read.get(id_):
                best.setdefault(passage.document_id, replace(passage, score=to_score(sums[id_])))
        found = [replace(one, best=best.get(one.document.id)) for one in left_out]
        return tuple(sorted(found, key=lambda one: -one.best.score if one.best else 0.0))


def _superseded(left_out: Iterable[Exclusion]) -> tuple[str, ...]:
    # The others' dates are compared in the store.
    return tuple(one.document.id for one in left_out if one.standing is Standing.SUPERSEDED)


def _joined(hits: Hits, more: Hits) -> Hits:
    dense, sparse = (
        sorted({hit.id: hit for hit in (*one, *other)}.values(), key=lambda hit: -hit.score)
        for one, other in zip(hits, more, strict=True)
    )
    return dense, sparse
