"""How much one tenant may keep."""

import pytest
from retrieval_parts import ingest, put_together
from retrieval_stores import edge, quick_directory

from services.chassis.errors import Overloaded
from services.retrieval.progress import Outcome, Result


async def outcome(parts, text, name, tenant="a"):
    *_, last = await ingest(parts, text, name, tenant=tenant)
    assert isinstance(last, Result)
    return last.outcome


async def test_one_document_too_many_is_refused_and_a_new_version_and_another_tenant_are_not():
    with quick_directory() as directory:
        async with edge(directory) as index, put_together(index, directory, max_documents=2) as own:
            for name in ("1.txt", "2.txt"):
                await ingest(own, f"words of {name}\n", name)
            with pytest.raises(Overloaded, match="2 documents") as caught:
                await ingest(own, "words of 3\n", "3.txt")
            assert caught.value.retry_after > 0
            assert await outcome(own, "other words\n", "2.txt") is Outcome.REPLACED
            assert await outcome(own, "words of 3\n", "3.txt", "b") is Outcome.CREATED
            (first, *_), _ = await own.listing.page("a", 10, "")
            await own.ingestor.delete("a", first.document.id)
            assert await outcome(own, "words of 3\n", "3.txt") is Outcome.CREATED


async def test_bytes_are_counted_without_those_of_the_version_before():
    with quick_directory() as directory:
        async with edge(directory) as index, put_together(index, directory, tenant_bytes=40) as own:
            await ingest(own, "a" * 30, "1.txt")
            with pytest.raises(Overloaded, match="40 bytes"):
                await ingest(own, "b" * 11, "2.txt")
            assert await outcome(own, "c" * 40, "1.txt") is Outcome.REPLACED
            with pytest.raises(Overloaded):
                await ingest(own, "c" * 41, "1.txt")
            assert await outcome(own, "c" * 40, "1.txt") is Outcome.UNCHANGED
