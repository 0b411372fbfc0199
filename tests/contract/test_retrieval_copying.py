"""A copy of the embedded index while it is written to: whole, of one moment, gone afterwards."""

import asyncio

import pytest
from retrieval_parts import DIMENSIONS, MODEL, ingest, put_together
from retrieval_stores import edge, quick_directory

from cli.backups import files
from services.retrieval.copying import SOCKET, offered
from services.retrieval.index import Kind, Where
from services.retrieval.qdrant_edge import open_edge_index


@pytest.fixture
def place():
    with quick_directory() as directory:
        yield directory


async def documents(directory):
    async with open_edge_index(directory, model=MODEL, dimensions=DIMENSIONS) as index:
        await index.prepare()
        return await index.scroll(Where("a", Kind.DOCUMENT))


async def copied(place, target):
    def work():
        with files.still(place, 20) as still:
            files.copy(still / "index", target / "index")
            files.copy(still / "originals", target / "originals")
            return still

    return await asyncio.to_thread(work)


async def test_what_was_ingested_is_in_the_copy_and_what_comes_later_is_not(place, tmp_path):
    async with edge(place) as index, put_together(index, place) as parts:
        async with offered(index, place, place / "originals"):
            await ingest(parts, "Capital is 8 percent.", name="a.txt")
            still = await copied(place, tmp_path)
            await ingest(parts, "Capital is 9 percent.", name="b.txt")
        assert not (place / SOCKET).exists()
    assert still != place
    (record,) = await documents(tmp_path / "index")
    assert record.payload["source_name"] == "a.txt"
    (original,) = (path for path in (tmp_path / "originals").rglob("original"))
    assert original.read_bytes() == b"Capital is 8 percent."


async def test_a_copy_takes_no_more_of_the_disk_than_what_the_engine_has_written(place, tmp_path):
    def taken(directory):
        return sum(path.stat().st_blocks * 512 for path in directory.rglob("*") if path.is_file())

    async with (
        edge(place) as index,
        put_together(index, place) as parts,
        offered(index, place, place / "originals"),
    ):
        await ingest(parts, "Capital is 8 percent.")
        await copied(place, tmp_path)
    sizes = sum(path.stat().st_size for path in (tmp_path / "index").rglob("*") if path.is_file())
    assert taken(tmp_path / "index") < sizes / 4


async def test_ingests_go_on_after_a_copy_and_each_copy_is_of_one_moment(place, tmp_path):
    async with (
        edge(place) as index,
        put_together(index, place) as parts,
        offered(index, place, place / "originals"),
    ):
        writing = asyncio.create_task(many(parts))
        for number in range(3):
            await copied(place, tmp_path / str(number))
        await writing
    for number in range(3):
        records = await documents(tmp_path / str(number) / "index")
        held = {path.parent.name for path in (tmp_path / str(number)).rglob("original")}
        assert {record.payload["sha256"] for record in records} <= held


async def many(parts):
    for number in range(12):
        await ingest(parts, f"Line {number}.", name=f"{number % 4}.txt")


async def test_a_copy_that_a_killed_process_left_is_removed_at_the_next_start(place):
    left = place / "copy-left"
    left.mkdir()
    (place / SOCKET).touch()
    async with edge(place) as index, offered(index, place, None):
        assert not left.exists()


def test_where_no_service_runs_the_files_themselves_are_still(tmp_path):
    with files.still(tmp_path, 1) as still:
        assert still == tmp_path


async def test_nobody_but_the_services_user_may_ask(place):
    async with edge(place) as index, offered(index, place, None):
        assert (place / SOCKET).stat().st_mode & 0o077 == 0
