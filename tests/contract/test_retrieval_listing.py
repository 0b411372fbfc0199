"""Which documents are listed: filters, standing on a day, and pages of any number."""

import random
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from retrieval_parts import ingest, put_together
from retrieval_stores import edge, opened_stores, quick_directory

from services.retrieval.catalog import Filter
from services.retrieval.listing import Wanted
from services.retrieval.passage import Metadata, StoredDocument, document_id
from services.retrieval.standing import Standing, on, replaced

IN_FORCE, SUPERSEDED = Standing.IN_FORCE, Standing.SUPERSEDED
NO_LONGER_EFFECTIVE = Standing.NO_LONGER_EFFECTIVE

LAWS = {
    "law-2024.txt": {"effective_from": "2024-01-01", "document_type": "law", "authority": 3},
    "Law-2025.txt": {
        "effective_from": "2025-01-01",
        "supersedes": ("law-2024.txt",),
        "document_type": "law",
        "authority": 3,
        "tags": ("eu",),
    },
    "law-2027.txt": {"effective_from": "2027-01-01", "supersedes": ("Law-2025.txt",)},
    "waiver.txt": {"effective_to": "2024-07-01", "tags": ("eu", "old")},
    "note.txt": {"authority": 2},
}


@pytest.fixture(params=opened_stores(), ids=lambda store: store.__name__)
async def parts(request):
    with quick_directory() as directory:
        async with request.param(directory) as index, put_together(index, directory) as parts:
            for name, metadata in LAWS.items():
                await ingest(parts, f"{name}\n", name, **metadata)
            # Another tenant's documents supersede nothing here.
            await ingest(parts, "x\n", "x.txt", tenant="b", supersedes=("note.txt", "waiver.txt"))
            yield parts


async def names(parts, **wanted):
    listed, token = await parts.listing.page("a", 100, "", Wanted(**wanted))
    assert token == ""
    return [one.document.metadata.source_name for one in listed]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, ["Law-2025.txt", "law-2024.txt", "law-2027.txt", "note.txt", "waiver.txt"]),
        ({"name_contains": "LAW-202"}, ["Law-2025.txt", "law-2024.txt", "law-2027.txt"]),
        ({"narrow": Filter(document_types=("law",))}, ["Law-2025.txt", "law-2024.txt"]),
        ({"narrow": Filter(tags=("eu", "x"))}, ["Law-2025.txt", "waiver.txt"]),
        ({"narrow": Filter(min_authority=2)}, ["Law-2025.txt", "law-2024.txt", "note.txt"]),
        ({"narrow": Filter(min_authority=3), "name_contains": "2024"}, ["law-2024.txt"]),
        ({"name_contains": "none"}, []),
        ({"standing": Standing.SUPERSEDED, "as_of": "2024-12-31"}, []),
        ({"standing": Standing.SUPERSEDED, "as_of": "2025-01-01"}, ["law-2024.txt"]),
        (
            {"standing": Standing.SUPERSEDED, "as_of": "2027-01-01"},
            ["Law-2025.txt", "law-2024.txt"],
        ),
        # What supersedes it is left out by the filter, and counts nevertheless.
        (
            {
                "standing": Standing.SUPERSEDED,
                "as_of": "2025-01-01",
                "narrow": Filter(document_ids=(document_id("a", "law-2024.txt"),)),
            },
            ["law-2024.txt"],
        ),
        ({"standing": Standing.IN_FORCE, "as_of": "2026-01-01"}, ["Law-2025.txt", "note.txt"]),
        (
            {"standing": Standing.IN_FORCE, "as_of": "2024-06-30"},
            ["law-2024.txt", "note.txt", "waiver.txt"],
        ),
        ({"standing": Standing.NO_LONGER_EFFECTIVE, "as_of": "2024-07-01"}, ["waiver.txt"]),
        (
            {"standing": Standing.NOT_YET_EFFECTIVE, "as_of": "2024-01-01"},
            ["Law-2025.txt", "law-2027.txt"],
        ),
    ],
)
async def test_the_list_is_narrowed_by_what_is_said_of_a_document(parts, wanted, expected):
    assert await names(parts, **wanted) == expected


async def test_a_document_says_what_takes_its_place(parts):
    listed, _ = await parts.listing.page("a", 100, "")
    assert {one.document.metadata.source_name: one.superseded_by for one in listed} == {
        "Law-2025.txt": ("law-2027.txt",),
        "law-2024.txt": ("Law-2025.txt",),
        "law-2027.txt": (),
        "note.txt": (),
        "waiver.txt": (),
    }


def test_what_was_superseded_does_not_come_back_when_its_successor_is_superseded_or_ends():
    first, second = Metadata("1", "law", 3), Metadata("2", "law", 3, supersedes=("1",))
    third = Metadata("3", "law", 3, effective_from="2025-01-01", supersedes=("2",))
    ended = replace(second, effective_to="2025-01-01")
    assert standings(first, second, third) == [SUPERSEDED, SUPERSEDED, IN_FORCE]
    assert standings(first, ended, third) == [SUPERSEDED, NO_LONGER_EFFECTIVE, IN_FORCE]
    assert standings(first, ended) == [IN_FORCE, NO_LONGER_EFFECTIVE]


def test_documents_that_take_each_others_place_come_to_an_end():
    # A race can bring it about.
    first, second = (Metadata(n, "law", 3, supersedes=(m,)) for n, m in ("12", "21"))
    assert standings(first, second) == [SUPERSEDED, SUPERSEDED]
    ended = replace(second, effective_to="2025-01-01")
    assert standings(first, ended) == [IN_FORCE, NO_LONGER_EFFECTIVE]


def standings(*documents, day="2026-01-01"):
    by = replaced(day, documents)
    return [on(day, document, by) for document in documents]


async def test_thousands_of_documents_are_listed_each_once_in_order():
    alphabet = 'aAzZ.é漢\U0001f600"\\ '
    draw = random.Random(4)
    wanted = [f"{''.join(draw.choices(alphabet, k=n % 240))}{n}.txt" for n in range(2100)]
    with quick_directory() as directory:
        async with edge(directory) as index, put_together(index, directory) as parts:
            for name in wanted:
                await parts.catalog.publish("a", a_document(name))
            for size in (1000, 97):
                listed, token = [], None
                while token != "":
                    assert len(token or "") <= 2000
                    page, token = await parts.listing.page("a", size, token or "")
                    assert len(page) <= size
                    listed += [one.document.metadata.source_name for one in page]
                assert listed == sorted(wanted)
            page, _ = await parts.listing.page("a", 1000, "", Wanted(name_contains="É"))
            assert len(page) == 1000


def a_document(name):
    return StoredDocument(
        id=document_id("a", name),
        metadata=Metadata(name, "document", 1),
        version=1,
        sha256="0" * 64,
        content_type="text/plain",
        size_bytes=1,
        page_count=1,
        passage_count=1,
        ingest_time=datetime(2026, 1, 1, tzinfo=UTC),
        pages_without_text=(),
    )
