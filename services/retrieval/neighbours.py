"""The passages around each one that was found."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from services.chassis.errors import NotFound
from services.retrieval.catalog import Catalog, in_motion
from services.retrieval.passage import Passage


async def with_neighbours(
    catalog: Catalog, tenant: str, found: Sequence[Passage], each_side: int
) -> tuple[Passage, ...]:
    """Each passage, then those around it in the order of the document, each once."""
    if not each_side:
        return tuple(found)
    try:
        around = await asyncio.gather(
            *(catalog.neighbours(tenant, passage, each_side) for passage in found)
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
