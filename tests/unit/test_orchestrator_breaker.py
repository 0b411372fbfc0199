"""A store that is down does not slow every caller."""

import asyncio

import pytest

from services.chassis.errors import NotFound, Unavailable
from services.orchestrator import breaker

PAUSE = 10.0


class Clock:
    now = 0.0

    def monotonic(self):
        return self.now


class Guarded:
    """A store behind a breaker, which counts how often it is really called."""

    def __init__(self, clock):
        self.clock = clock
        self.breaker = breaker.Breaker("It is down.", (ConnectionError,), pause_seconds=PAUSE)
        self.outcome = None
        self.calls = 0

    def use(self):
        with self.breaker.guarding():
            self.calls += 1
            if self.outcome:
                raise self.outcome


@pytest.fixture
def store(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(breaker, "time", clock)
    return Guarded(clock)


def fails(store):
    with pytest.raises(Unavailable, match="It is down"):
        store.use()


def test_a_store_that_works_is_always_called(store):
    for _ in range(3):
        store.use()
    assert store.calls == 3


def test_after_a_failure_nobody_calls_until_the_pause_is_over(store):
    store.outcome = ConnectionError()
    fails(store)
    store.clock.now = PAUSE - 0.1
    fails(store)
    assert store.calls == 1


def test_after_the_pause_a_store_that_works_again_is_called_by_all(store):
    store.outcome = ConnectionError()
    fails(store)
    store.outcome, store.clock.now = None, PAUSE
    store.use()
    store.use()
    assert store.calls == 3


def test_after_the_pause_one_caller_tries_and_the_others_wait_for_what_it_finds(store):
    store.outcome = ConnectionError()
    fails(store)
    store.outcome, store.clock.now = None, PAUSE
    with store.breaker.guarding():
        fails(store)
    assert store.calls == 1
    store.use()
    assert store.calls == 2


def test_a_try_that_fails_begins_another_pause(store):
    store.outcome = ConnectionError()
    fails(store)
    store.clock.now = PAUSE
    fails(store)
    store.clock.now = 2 * PAUSE - 0.1
    fails(store)
    assert store.calls == 2


def test_an_answer_that_was_not_hoped_for_is_an_answer(store):
    store.outcome = ConnectionError()
    fails(store)
    store.outcome, store.clock.now = NotFound("unknown"), PAUSE
    with pytest.raises(NotFound):
        store.use()
    store.outcome = None
    store.use()


def test_a_cancelled_try_says_nothing_about_the_store(store):
    store.outcome = ConnectionError()
    fails(store)
    store.outcome, store.clock.now = asyncio.CancelledError(), PAUSE
    with pytest.raises(asyncio.CancelledError):
        store.use()
    fails(store)
    store.outcome, store.clock.now = None, 2 * PAUSE
    store.use()
