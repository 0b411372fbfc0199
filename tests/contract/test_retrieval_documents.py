"""What becomes of documents, on every store: versions, failures, races, recovery, search."""

import asyncio
import dataclasses
from contextlib import aclosing
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from retrieval_parts import everything, found, ingest, pieces, put_together, read_lines, upload

from services.chassis.errors import (
    Aborted,
    DeadlineExceeded,
    InvalidInput,
    NotFound,
    Overloaded,
    Unavailable,
)
from services.retrieval.catalog import Filter
from services.retrieval.document import Box
from services.retrieval.passage import document_id
from services.retrieval.progress import Outcome, Progress, Result, Stage

OLD = "proof of funds must be notarized\nowners above 25% are named\fcash rose by 2%\n"
NEW = "proof of funds need not be notarized\n"
ID = document_id("a", "policy.txt")


def outcome(events):
    (result,) = [event for event in events if isinstance(event, Result)]
    assert events[-1] is result
    return result.outcome


async def test_a_file_becomes_a_document_whose_passages_come_back_whole(parts):
    events = await ingest(
        parts,
        OLD,
        document_type="policy",
        authority=3,
        published="2026-01-02",
        effective_from="2026-02-01",
        effective_to="2027-02-01",
        tags=("aml",),
    )
    assert outcome(events) is Outcome.CREATED
    document = events[-1].document
    assert document == await parts.catalog.document("a", ID)
    assert (document.version, document.page_count, document.passage_count) == (1, 2, 3)
    passages, report = await parts.searcher.search("a", "who is notarized", Filter(), 1)
    (passage,) = passages
    assert passage.text == OLD[passage.start : passage.end] == "proof of funds must be notarized\n"
    assert passage.metadata == document.metadata
    assert passage.document_sha256 == document.sha256
    assert (passage.page_number, passage.section_id, passage.heading_path) == (
        1,
        "1.1",
        ("Page 1",),
    )
    (region,) = passage.regions
    assert (region.start, region.end, region.page_number) == (0, 33, 1)
    assert region.box == Box(72, 10.5, 300, 20.5)
    assert 0 < passage.score <= 1
    assert await parts.catalog.passage("a", passage.id) == dataclasses.replace(passage, score=0.0)
    assert (report.document_count, report.passage_count) == (1, 3)
    assert [miss.text for miss in report.nearest_misses] != []
    assert report.collection == parts.index.collection


async def test_progress_comes_in_order_of_stage_and_counts_never_go_down(parts):
    text = "".join(f"passage number {n}\n" for n in range(70))
    events = await ingest(parts, text)
    progress = [event for event in events if isinstance(event, Progress)]
    stages = [event.stage for event in progress]
    assert stages == sorted(stages, key=lambda stage: stage.value)
    assert set(stages) == set(Stage)
    for before, after in pairwise(progress):
        for name in (
            *("bytes_received", "pages_parsed", "passages_embedded", "passages_total"),
            *("passages_indexed", "bytes_total"),
        ):
            assert getattr(before, name) <= getattr(after, name)
    last = progress[-1]
    assert last.passages_embedded == last.passages_total == last.passages_indexed == 70
    assert last.bytes_received == last.bytes_total == len(text)


async def test_pages_are_counted_while_they_are_read(parts):
    events = await ingest(parts, "one\ftwo\fthree")
    parsing = [event for event in events if getattr(event, "stage", None) is Stage.PARSING]
    assert [(event.pages_parsed, event.pages_total) for event in parsing] == [
        (0, 0),
        (1, 3),
        (2, 3),
        (3, 3),
    ]


async def test_the_same_bytes_twice_are_one_document_and_nothing_is_written(parts):
    await ingest(parts, OLD)
    before = await everything(parts)
    again = await ingest(parts, OLD)
    other_name = await ingest(parts, OLD, "copy.txt", authority=3)
    assert outcome(again) is outcome(other_name) is Outcome.UNCHANGED
    assert other_name[-1].document.metadata.source_name == "policy.txt"
    assert await everything(parts) == before


async def test_other_bytes_under_a_known_name_replace_the_old_wholly(parts):
    await ingest(parts, OLD)
    (old, *_), _ = await parts.searcher.search("a", "notarized", Filter(), 50)
    events = await ingest(parts, NEW)
    assert outcome(events) is Outcome.REPLACED
    assert events[-1].document.version == 2
    assert events[-1].document.id == ID
    assert await found(parts, "notarized") == [NEW]
    with pytest.raises(NotFound):
        await parts.catalog.passage("a", old.id)
    stored = await everything(parts)
    assert (len(stored.documents), len(stored.passages), len(stored.leases)) == (1, 1, 0)
    assert {name.split("/")[-2] for name in stored.files} == {events[-1].document.sha256}


async def test_going_back_to_earlier_bytes_is_a_third_version_with_the_first_ones_passages(parts):
    await ingest(parts, OLD)
    first = {p.id for p in (await parts.searcher.search("a", "notarized", Filter(), 50))[0]}
    await ingest(parts, NEW)
    events = await ingest(parts, OLD)
    assert outcome(events) is Outcome.REPLACED
    assert events[-1].document.version == 3
    assert {p.id for p in (await parts.searcher.search("a", "notarized", Filter(), 50))[0]} == first


async def test_a_deleted_document_leaves_nothing(parts):
    empty = await everything(parts)
    await ingest(parts, OLD)
    assert await parts.ingestor.delete("a", ID) == 3
    assert await everything(parts) == empty
    assert await found(parts, "notarized") == []
    for call in (parts.catalog.document("a", ID), parts.ingestor.delete("a", ID)):
        with pytest.raises(NotFound):
            await call


class Failing:
    """An index of which one method fails from its n-th call on."""

    def __init__(self, index, method, calls):
        self._index = index
        self._method = method
        self._left = calls

    def __getattr__(self, name):
        real = getattr(self._index, name)
        if name != self._method:
            return real

        async def fails(*args, **kwargs):
            self._left -= 1
            if self._left < 0:
                raise Unavailable("down")
            return await real(*args, **kwargs)

        return fails


@pytest.mark.parametrize(
    "calls", [0, 1, 2, 3], ids=["lease", "first-group", "second-group", "record"]
)
async def test_a_store_that_fails_at_any_write_leaves_the_old_version_as_it_was(
    index, directory, calls
):
    new = "".join(f"new passage {n}\n" for n in range(40))
    async with put_together(index, directory) as parts:
        await ingest(parts, OLD)
        before = await everything(parts)
    async with put_together(Failing(index, "upsert", calls), directory) as parts:
        with pytest.raises(Unavailable):
            await ingest(parts, new)
        assert await everything(parts) == before
        assert len(await found(parts, "notarized")) == 3


@pytest.mark.parametrize(
    ("text", "announced", "metadata", "reason"),
    [
        ("", 0, {}, "EMPTY_FILE"),
        (" \n", 0, {}, "NO_TEXT"),
        ("damaged\n", 0, {}, "DAMAGED_FILE"),
        ("x" * 10_001, 0, {}, "TOO_LARGE"),
        ("x", 10_001, {}, "TOO_LARGE"),
        ("interrupt", 20, {}, "DAMAGED_FILE"),
        ("x", 0, {"effective_from": "2026-02-01", "effective_to": "2026-01-31"}, ""),
        ("x", 0, {"effective_from": "2026-02-01", "effective_to": "2026-02-01"}, ""),
    ],
)
async def test_a_file_that_is_refused_changes_nothing(parts, text, announced, metadata, reason):
    await ingest(parts, OLD)
    before = await everything(parts)
    with pytest.raises(InvalidInput) as caught:
        await ingest(parts, text, size_bytes=announced, **metadata)
    assert caught.value.reason == reason
    assert bool(caught.value.violations) == bool(metadata)
    assert await everything(parts) == before


async def test_a_file_over_the_limit_is_refused_before_the_rest_is_read(parts):
    taken = 0

    async def endless():
        nonlocal taken
        while True:
            taken += 1000
            yield b"x" * 1000

    with pytest.raises(InvalidInput, match="over the limit of 10000 bytes"):
        async for _ in parts.ingestor.ingest("a", upload(), endless()):
            pass
    assert taken == 11_000


@pytest.mark.parametrize("stage", list(Stage), ids=lambda stage: stage.name.lower())
async def test_an_ingest_that_is_given_up_at_any_stage_changes_nothing(parts, stage):
    await ingest(parts, OLD)
    before = await everything(parts)
    new = "".join(f"new passage {n}\n" for n in range(70))
    async with aclosing(parts.ingestor.ingest("a", upload(), pieces(new))) as events:
        async for event in events:
            if event.stage is stage:
                break
    assert await everything(parts) == before


async def test_an_ingest_that_is_cancelled_while_it_embeds_changes_nothing(index, directory):
    at_work = asyncio.Event()

    class StuckIndex(Failing):
        def __getattr__(self, name):
            if name == "upsert":
                return self._upsert
            return getattr(self._index, name)

        async def _upsert(self, points, *, only_new=False):
            await self._index.upsert(points, only_new=only_new)
            if points[0].payload["kind"] == "passage":
                at_work.set()
                await asyncio.Event().wait()

    async with put_together(StuckIndex(index, "", 0), directory) as parts:
        before = await everything(parts)
        task = asyncio.create_task(ingest(parts, OLD))
        await at_work.wait()
        assert await found(parts, "notarized") == []
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await everything(parts) == before


async def test_readers_see_the_old_version_until_the_new_one_is_whole(parts):
    await ingest(parts, OLD)
    new = "".join(f"proof of funds {n}\n" for n in range(40))
    async with aclosing(parts.ingestor.ingest("a", upload(), pieces(new))) as events:
        async for event in events:
            if isinstance(event, Progress) and event.stage is Stage.INDEXING:
                # All new passages are in the store, and would be the better hits.
                texts = await found(parts, "proof of funds 7", limit=3)
                assert "proof of funds must be notarized\n" in texts
                assert all(text in OLD for text in texts)
                _, report = await parts.searcher.search("a", "proof", Filter(), 1)
                assert (report.document_count, report.passage_count) == (1, 3)
                document = await parts.catalog.document("a", ID)
                assert document.version == 1
    assert "proof of funds 7\n" in await found(parts, "proof of funds 7", limit=3)


async def test_what_is_being_written_is_passed_over_at_once_and_not_searched_for_again(
    index, directory
):
    class Counting(Failing):
        searches = 0

        def __getattr__(self, name):
            self.searches += name == "nearest"
            return getattr(self._index, name)

    counting = Counting(index, "", 0)
    async with put_together(counting, directory) as parts:
        await ingest(parts, OLD)
        new = "".join(f"proof of funds {n}\n" for n in range(40))
        async with aclosing(parts.ingestor.ingest("a", upload("new.txt"), pieces(new))) as events:
            async for event in events:
                if isinstance(event, Progress) and event.stage is Stage.INDEXING:
                    assert "proof of funds must be notarized\n" in await found(
                        parts, "proof", limit=3
                    )
        assert counting.searches == 1
        assert "proof of funds 7\n" in await found(parts, "proof of funds 7", limit=3)
        assert counting.searches == 2


async def test_searches_during_a_replacement_see_one_version_or_the_other_never_a_mix(parts):
    texts = [
        "".join(f"version {v} proof of funds clause {n}\n" for n in range(20)) for v in (0, 1, 2)
    ]
    await ingest(parts, texts[0])
    done = asyncio.Event()

    async def replace():
        for text in (texts[1], texts[2], texts[0], texts[1]):
            await ingest(parts, text)
        done.set()

    async def watch():
        seen = 0
        while not done.is_set():
            try:
                texts = await found(parts, "proof of funds", limit=20)
            except Unavailable:  # Told to try again: never less than there is.
                continue
            assert len(texts) == 20
            assert len({text.split()[1] for text in texts}) == 1
            seen += 1
        return seen

    _, seen = await asyncio.gather(replace(), watch())
    assert seen > 3


async def test_two_writers_of_one_document_do_not_mix_the_second_is_told_to_try_again(parts):
    async with aclosing(parts.ingestor.ingest("a", upload(), pieces(NEW))) as events:
        async for event in events:
            if isinstance(event, Progress) and event.stage is Stage.EMBEDDING:
                with pytest.raises(Aborted):
                    await ingest(parts, OLD)
                await ingest(parts, OLD, "other.txt")
    assert NEW in await found(parts, "notarized")


async def test_more_files_at_once_than_fit_in_memory_are_turned_away(parts):
    open_uploads = []
    for number in range(4):
        events = parts.ingestor.ingest("a", upload(f"{number}.txt"), pieces("text\n"))
        await anext(events)
        open_uploads.append(events)
    with pytest.raises(Overloaded):
        await ingest(parts, OLD)
    for events in open_uploads:
        await events.aclose()
    assert outcome(await ingest(parts, OLD)) is Outcome.CREATED


class Killed(BaseException):
    """Stands for the end of the process: nothing after it runs."""


async def killed_during_an_ingest(index, directory, text, method, calls):
    """What is stored after a writer died at a certain write, without any cleaning."""

    class Dying(Failing):
        def __getattr__(self, name):
            if self._left < 0:
                raise Killed
            real = getattr(self._index, name)
            if name != self._method:
                return real

            async def dies(*args, **kwargs):
                self._left -= 1
                if self._left < 0:
                    raise Killed
                return await real(*args, **kwargs)

            return dies

    async with put_together(Dying(index, method, calls), directory) as parts:
        with pytest.raises(Killed):
            await ingest(parts, text)


@pytest.mark.parametrize(
    ("method", "calls", "survivor"),
    [("upsert", 1, OLD), ("upsert", 2, OLD), ("upsert", 3, OLD), ("delete", 0, "new")],
    ids=["before-passages", "between-passages", "before-the-record", "after-the-record"],
)
async def test_a_writer_that_was_killed_leaves_one_version_and_recovery_removes_the_rest(
    index, directory, method, calls, survivor
):
    new = "".join(f"new notarized passage {n}\n" for n in range(40))
    survivor = new if survivor == "new" else survivor
    async with put_together(index, directory) as parts:
        await ingest(parts, OLD)
        await killed_during_an_ingest(index, directory, new, method, calls)
        # Before recovery the leftovers are there, but no reader sees them.
        assert all(text in survivor for text in await found(parts, "notarized"))
        assert await parts.leases.recover(alone=True) == 1
        stored = await everything(parts)
        assert {payload["text"] for payload in stored.passages.values()} == {
            line for page in survivor.split("\f") for line in page.splitlines(keepends=True)
        }
        assert (len(stored.documents), len(stored.leases)) == (1, 0)
        assert len({name.split("/")[-2] for name in stored.files}) == 1


async def test_what_a_dead_writer_holds_is_taken_over_when_its_lease_is_old(index, directory):
    await killed_during_an_ingest(index, directory, NEW, "upsert", 1)
    async with put_together(index, directory) as parts:
        with pytest.raises(Aborted):
            await ingest(parts, OLD)
        assert await parts.leases.recover(alone=False) == 0
    async with put_together(index, directory, margin=-60) as parts:
        assert outcome(await ingest(parts, OLD)) is Outcome.CREATED


async def test_a_write_that_outlasts_its_lease_ends_before_another_could_begin(index, directory):
    async with put_together(index, directory, lease_seconds=0) as parts:
        before = await everything(parts)
        with pytest.raises(DeadlineExceeded):
            await ingest(parts, OLD)
        assert await everything(parts) == before


async def test_documents_are_listed_by_name_then_id_in_pages_that_do_not_shift(parts):
    names = ["b.txt", "C.txt", "a.txt", "é.txt", "d.txt"]
    for name in names:
        await ingest(parts, f"text of {name}\n", name)
    page, token = await parts.listing.page("a", 2, "")
    listed = [one.document.metadata.source_name for one in page]
    assert listed == ["C.txt", "a.txt"]
    # What comes before the place where we are changes nothing of what is to come.
    await ingest(parts, "new\n", "A.txt")
    await parts.ingestor.delete("a", page[0].document.id)
    while token:
        page, token = await parts.listing.page("a", 2, token)
        listed += [one.document.metadata.source_name for one in page]
    assert listed == sorted(names)
    assert await parts.listing.page("b", 10, "") == ([], "")


@pytest.mark.parametrize("token", ["x", "é", "bm90IGpzb24=", "WzEsMl0=", "e30=", "WyJhIl0="])
async def test_a_page_token_that_is_none_is_refused(parts, token):
    with pytest.raises(InvalidInput) as caught:
        await parts.listing.page("a", 2, token)
    assert caught.value.violations[0].field == "page_token"


async def test_a_search_keeps_to_its_filter_and_counts_what_passed_it(parts):
    await ingest(parts, "funds one\n", "1", document_type="policy", authority=3, tags=("aml", "x"))
    await ingest(parts, "funds two\nmore\n", "2", document_type="kyc", authority=2, tags=("aml",))
    await ingest(parts, "funds three\n", "3", document_type="kyc", authority=1)
    cases = [
        ({}, {"one", "two", "three", "more"}, (3, 4)),
        ({"document_types": ("kyc",)}, {"two", "three", "more"}, (2, 3)),
        ({"document_types": ("kyc", "policy"), "min_authority": 2}, {"one", "two", "more"}, (2, 3)),
        ({"tags": ("x", "y")}, {"one"}, (1, 1)),
        ({"document_ids": (document_id("a", "3"),)}, {"three"}, (1, 1)),
        ({"tags": ("none",)}, set(), (0, 0)),
    ]
    for narrow, expected, counts in cases:
        texts = await found(parts, "funds", **narrow)
        assert {text.split()[-1] for text in texts} == expected
        _, report = await parts.searcher.search("a", "funds", Filter(**narrow), 1)
        assert (report.document_count, report.passage_count) == counts


async def test_nearest_misses_are_those_right_below_the_cut(parts):
    await ingest(parts, "".join(f"funds {'and ' * n}\n" for n in range(12)))
    everything_found, _ = await parts.searcher.search("a", "funds", Filter(), 50)
    passages, report = await parts.searcher.search("a", "funds", Filter(), 3)
    assert [p.id for p in passages] == [p.id for p in everything_found[:3]]
    assert [p.id for p in report.nearest_misses] == [p.id for p in everything_found[3:8]]
    scores = [passage.score for passage in everything_found]
    assert scores == sorted(scores, reverse=True)


async def test_an_empty_index_answers_with_nothing(parts):
    passages, report = await parts.searcher.search("a", "anything", Filter(), 8)
    assert passages == report.nearest_misses == ()
    assert (report.document_count, report.passage_count) == (0, 0)


async def test_a_query_without_words_still_finds_by_meaning(parts):
    await ingest(parts, OLD)
    assert len(await found(parts, "?!")) == 3


@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    tenants=st.lists(st.sampled_from(["a", "b", "A", "..", "a/b", "ä"]), min_size=2, unique=True)
)
async def test_tenants_with_the_same_files_see_nothing_of_each_other(parts, tenants):
    for number, tenant in enumerate(tenants):
        await ingest(parts, OLD, tenant=tenant)
        await ingest(parts, f"only for {number}\n", "own.txt", tenant=tenant)
    for number, tenant in enumerate(tenants):
        passages, report = await parts.searcher.search(tenant, "only for funds", Filter(), 50)
        assert {p.text for p in passages if p.text.startswith("only")} == {f"only for {number}\n"}
        assert (report.document_count, report.passage_count) == (2, 4)
        others = [other for other in tenants if other != tenant]
        for other in others:
            assert await parts.catalog.read(other, [p.id for p in passages]) == {}
            for id_ in {p.document_id for p in passages}:
                with pytest.raises(NotFound):
                    await parts.ingestor.delete(other, id_)
    for tenant in tenants:
        for one in (await parts.listing.page(tenant, 10, ""))[0]:
            await parts.ingestor.delete(tenant, one.document.id)
    assert (await everything(parts)).files == {}


async def test_a_slow_reader_does_not_hold_up_searches(index, directory):
    release = asyncio.Event()

    async def slow(*args):
        await release.wait()
        return await read_lines(*args)

    async with put_together(index, directory, reader=slow) as parts:
        task = asyncio.create_task(ingest(parts, OLD))
        assert await found(parts, "notarized") == []
        release.set()
        assert outcome(await task) is Outcome.CREATED
