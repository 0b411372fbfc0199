"""The order of what was found: by how near it is, what is preferred, and what the query names."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from services.retrieval.fusion import best_first, to_score
from services.retrieval.passage import Passage
from services.retrieval.preference import Preference
from services.retrieval.routing import Named, leading, nearness


def placed(
    passages: Collection[Passage],
    sums: Mapping[str, float],
    *,
    query: str,
    named: Sequence[Named],
    preference: Preference,
    day: str,
    limit: int,
) -> list[Passage]:
    """The passages, best first, ties by id.

    Args:
        passages: In any order.
        sums: How near each is, in deviations; there may be others.
        query: The question.
        named: What it names exactly.
        preference: What decides between those that are about equally near.
        day: The day it is for, YYYY-MM-DD.
        limit: Places there are.
    """
    by_id = {passage.id: passage for passage in passages}
    totals = {p.id: sums[p.id] + preference.bonus(p.metadata, day) for p in passages}
    order = best_first(totals)
    ranked = [by_id[id_] for id_ in order]
    # Half of the places at most: many documents may have a section of that number.
    near = nearness(leading(query, named), ranked)
    if near:
        above_all = totals[order[0]] - totals[order[-1]] + 1
        first = _by_nearness(order, near)[: (limit + 1) // 2]
        totals |= {id_: totals[id_] + near[id_] * above_all for id_ in first}
    # What is only mentioned has a place, the last of several: the reader may want to look there.
    mentioned = _by_nearness(order, nearness(named, ranked))[:1]
    order = best_first(totals)
    if mentioned and 1 < limit <= order.index(mentioned[0]):
        totals[mentioned[0]] = math.nextafter(totals[order[limit - 1]], math.inf)
    return [replace(by_id[id_], score=to_score(totals[id_])) for id_ in best_first(totals)]


def _by_nearness(order: Sequence[str], near: Mapping[str, int]) -> list[str]:
    return sorted((id_ for id_ in order if id_ in near), key=lambda id_: -near[id_])
