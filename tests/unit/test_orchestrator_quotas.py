"""What one tenant may ask, and who may read what was made of what."""

import pytest
from verity.v1 import core_pb2 as core
from verity.v1 import retrieval_service_pb2 as retrieval

from services.chassis.errors import Overloaded
from services.orchestrator.grounding_log import Entry, Failing, decoded, encoded, failing_documents
from services.orchestrator.memory import kept_as
from services.orchestrator.quotas import Quotas
from services.orchestrator.readership import admits, of_found, of_message, to_message


def test_a_tenant_has_so_many_questions_at_once_and_another_has_its_own():
    quotas = Quotas(at_once=2)
    with quotas.asking("a"), quotas.asking("a"):
        with pytest.raises(Overloaded) as caught, quotas.asking("a"):
            pass
        assert caught.value.retry_after == 1.0
        with quotas.asking("b"):
            pass
    with quotas.asking("a"):
        pass


def test_a_question_that_fails_gives_its_place_back():
    quotas = Quotas(at_once=1)
    for _ in range(3):
        with pytest.raises(KeyError), quotas.asking("a"):
            raise KeyError
    with quotas.asking("a"):
        pass


def test_a_tenant_asks_so_often_within_any_minute_and_hears_when_it_may_again():
    now = [0.0]
    quotas = Quotas(per_minute=2, clock=lambda: now[0])
    for second in (0, 20):
        now[0] = second
        with quotas.asking("a"):
            pass
    now[0] = 50
    with pytest.raises(Overloaded) as caught, quotas.asking("a"):
        pass
    assert caught.value.retry_after == 10
    with quotas.asking("b"):
        pass
    now[0] = 60
    with quotas.asking("a"):
        pass
    with pytest.raises(Overloaded), quotas.asking("a"):
        pass


def test_tenants_that_ask_no_more_are_forgotten():
    now = [0.0]
    quotas = Quotas(at_once=1, per_minute=1, clock=lambda: now[0])
    for number in range(100):
        with quotas.asking(f"tenant {number}"):
            pass
    now[0] = 61
    with quotas.asking("last"):
        pass
    assert set(quotas._used) == {"last"}


def test_without_limits_nothing_is_counted():
    quotas = Quotas()
    for _ in range(1000):
        with quotas.asking("a"):
            pass
    assert sum(len(use.arrived) for use in quotas._used.values()) == 0


def passage(*readers, copies=()):
    duplicates = [core.Passage.Duplicate(readers=one) for one in copies]
    return core.Passage(id="p", text="t", readers=readers, duplicates=duplicates)


def test_who_reads_must_be_in_a_group_of_every_document_that_was_found():
    exclusion = core.SearchReport.Exclusion(
        readers=["e"], superseded_by_readers=["s"], best=passage("b")
    )
    reply = retrieval.RetrieveResponse(
        passages=[passage("x", "y"), passage(), passage(copies=[["c"], []])],
        report=core.SearchReport(nearest_misses=[passage("m")], exclusions=[exclusion]),
    )
    readers = of_found([reply, reply])
    assert readers == {("x", "y"), ("c",), ("m",), ("e",), ("s",), ("b",)}
    message = to_message(readers)
    assert of_message(message) == readers
    everything = frozenset({"y", "c", "m", "e", "s", "b"})
    assert admits(message, everything)
    assert admits(message, None)
    for group in everything:
        assert not admits(message, everything - {group})
    assert admits([], frozenset())


def test_a_conversation_is_its_subjects_own():
    assert kept_as("", "talk") == "talk"
    names = {kept_as(subject, "talk") for subject in ("", "ann", "bob", "ann\ntalk")}
    assert len(names) == 4
    assert kept_as("ann", "b") != kept_as("ann\nb", "")


def test_a_failing_document_is_named_to_who_may_read_it():
    entry = Entry(
        0.5,
        documents={
            "1": Failing("open.txt", 1, {}),
            "2": Failing("canary.txt", 2, {}, ("desk",)),
        },
    )
    kept = decoded(encoded(entry))
    assert kept is not None

    def named(groups):
        return [one.source_name for one in failing_documents([kept], groups)]

    assert named(None) == named(frozenset({"desk"})) == ["canary.txt", "open.txt"]
    assert named(frozenset()) == ["open.txt"]
