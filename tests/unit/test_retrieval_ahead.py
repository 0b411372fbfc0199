"""While what came of one call is used, the next is under way."""

import asyncio
from functools import partial

import pytest

from services.retrieval.ahead import ahead


class Steps:
    """Remembers which calls began and which ended."""

    def __init__(self):
        self.began = []
        self.ended = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def call(self, number):
        self.began.append(number)
        await self.gate.wait()
        if number == "poison":
            raise ValueError
        self.ended.append(number)
        return number

    def __call__(self, *numbers):
        return ahead([partial(self.call, number) for number in numbers])


async def test_results_come_in_order_and_the_next_is_under_way_meanwhile():
    steps = Steps()
    results = steps(1, 2, 3)
    assert await anext(results) == 1
    await asyncio.sleep(0)
    assert steps.began == [1, 2]
    assert [result async for result in results] == [2, 3]
    assert [result async for result in steps()] == []


async def test_no_two_run_at_once():
    steps = Steps()
    steps.gate.clear()
    first = asyncio.create_task(anext(results := steps(1, 2)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert steps.began == [1]
    steps.gate.set()
    await first
    await results.aclose()


async def test_what_nobody_takes_any_more_does_not_go_on():
    steps = Steps()
    results = steps(1, 2, 3)
    await anext(results)
    steps.gate.clear()
    await asyncio.sleep(0)
    await results.aclose()
    steps.gate.set()
    await asyncio.sleep(0)
    assert (steps.began, steps.ended) == ([1, 2], [1])


async def test_a_failure_comes_in_its_turn_and_ends_it():
    steps = Steps()
    results = steps(1, "poison", 3)
    assert await anext(results) == 1
    with pytest.raises(ValueError):  # noqa: PT011 - it has no words
        await anext(results)
    assert steps.began == [1, "poison"]
