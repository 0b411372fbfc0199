"""An ingest that breaks off: nothing that came is sent again, nothing made is made again."""

import asyncio
import hashlib
import os
import signal
import sys
from contextlib import aclosing
from pathlib import Path

import pytest
from retrieval_parts import (
    DIMENSIONS,
    MODEL,
    everything,
    ingest,
    pieces,
    put_together,
    upload,
)
from retrieval_stores import edge

from services.chassis.errors import InvalidInput, OutOfRange
from services.retrieval import bm25
from services.retrieval.catalog import Filter
from services.retrieval.index import Kind, Where
from services.retrieval.passage import document_id
from services.retrieval.progress import Outcome, Progress, Result, Stage
from services.retrieval.spool import Spool

TEXT = "".join(f"passage number {n}\n" for n in range(200))
SHA256 = hashlib.sha256(TEXT.encode()).hexdigest()
OLD = "the version before\n"


@pytest.fixture
async def parts(directory):
    async with edge(directory) as index, put_together(index, directory) as parts:
        yield parts


def spooled(directory):
    return [path for path in (directory / "uploads").rglob("*") if path.is_file()]


def vectors_kept(directory):
    sizes = [path.stat().st_size for path in spooled(directory) if path.name.startswith("vectors")]
    return sum(sizes) // (16 + 4 * DIMENSIONS)


async def cut_off(parts, text, at, *, tenant="a", **fields):
    """Sends the first bytes and goes away."""
    announced = upload(sha256=SHA256, **fields)
    async with aclosing(parts.ingestor.ingest(tenant, announced, pieces(text[:at]))) as events:
        async for event in events:
            if event.bytes_received == at:
                return


async def continued(parts, text, **fields):
    """Sends what is not there yet, as the first event says; the events, and what was sent."""
    sent = []
    first = asyncio.get_running_loop().create_future()

    async def rest():
        async for piece in pieces(text[await first :]):
            sent.append(piece)
            yield piece

    events = []
    announced = upload(sha256=SHA256, **fields)
    async for event in parts.ingestor.ingest("a", announced, rest()):
        if not events:
            first.set_result(event.bytes_received)
        events.append(event)
    return events, b"".join(sent).decode()


async def test_an_upload_that_broke_off_is_continued_where_it_was(parts, directory):
    before = await everything(parts)
    await cut_off(parts, TEXT, 700)
    assert await everything(parts) == before
    events, sent = await continued(parts, TEXT)
    assert events[0] == Progress(Stage.RECEIVING, 700)
    assert sent == TEXT[700:]
    assert events[-1].outcome is Outcome.CREATED
    document = events[-1].document
    assert (document.sha256, document.size_bytes) == (SHA256, len(TEXT))
    assert await parts.originals.data("a", document.id, SHA256) == TEXT.encode()
    assert spooled(directory) == []


async def test_bytes_that_are_known_are_not_sent_again(parts):
    await ingest(parts, TEXT)
    events, sent = await continued(parts, TEXT)
    assert sent == ""
    assert events[-1].outcome is Outcome.UNCHANGED
    events, sent = await continued(parts, TEXT, authority=3)
    assert sent == ""
    assert events[-1].outcome is Outcome.METADATA_UPDATED


@pytest.mark.parametrize("offset", [1, 699, 701, 2**40])
async def test_a_call_that_goes_on_elsewhere_is_told_where_the_upload_is(parts, offset):
    await cut_off(parts, TEXT, 700)
    with pytest.raises(OutOfRange, match="700 bytes of this file are here"):
        await ingest(parts, TEXT[700:], sha256=SHA256, offset=offset)
    assert (await ingest(parts, TEXT[700:], sha256=SHA256, offset=700))[-1].document.version == 1


async def test_an_upload_that_is_not_known_has_no_bytes(parts):
    with pytest.raises(OutOfRange, match="0 bytes of this file are here"):
        await ingest(parts, TEXT, sha256=SHA256, offset=7)
    with pytest.raises(InvalidInput) as caught:
        await ingest(parts, TEXT, offset=7)
    assert caught.value.violations[0].field == "metadata.sha256"


async def test_an_upload_may_start_anew_whatever_is_there(parts):
    await cut_off(parts, "not at all " * 70, 700)
    events = await ingest(parts, TEXT, sha256=SHA256, offset=0)
    assert events[-1].outcome is Outcome.CREATED


async def test_an_upload_of_another_tenant_is_not_known(parts):
    await cut_off(parts, TEXT, 700, tenant="b")
    events, sent = await continued(parts, TEXT)
    assert events[0].bytes_received == 0
    assert sent == TEXT


async def test_bytes_that_are_not_those_announced_are_refused_and_forgotten(parts):
    before = await everything(parts)
    await cut_off(parts, "x" * 700, 700)
    with pytest.raises(InvalidInput) as caught:
        await continued(parts, TEXT)
    assert caught.value.reason == "DAMAGED_FILE"
    assert await everything(parts) == before
    events, sent = await continued(parts, TEXT)
    assert sent == TEXT
    assert events[-1].outcome is Outcome.CREATED


async def test_an_upload_that_is_ended_early_is_refused_and_can_be_continued(parts):
    before = await everything(parts)
    with pytest.raises(InvalidInput) as caught:
        await ingest(parts, TEXT[:700], sha256=SHA256, size_bytes=len(TEXT))
    assert caught.value.reason == "DAMAGED_FILE"
    assert await everything(parts) == before
    _, sent = await continued(parts, TEXT, size_bytes=len(TEXT))
    assert sent == TEXT[700:]


async def test_more_bytes_than_were_announced_are_refused_at_the_first_too_many(parts):
    with pytest.raises(InvalidInput, match="10 bytes were announced, and 14 came"):
        await ingest(parts, TEXT, size_bytes=10)


async def test_of_two_calls_with_the_same_bytes_one_keeps_them_and_both_end(parts, directory):
    held = parts.ingestor.ingest("a", upload(sha256=SHA256), pieces(TEXT))
    async with aclosing(held):
        while (await anext(held)).bytes_received < 700:
            pass
        events, sent = await continued(parts, TEXT)
        assert sent == TEXT
        assert events[-1].outcome is Outcome.CREATED
        *_, last = [event async for event in held]
        assert last.outcome is Outcome.UNCHANGED
    assert spooled(directory) == []


@pytest.mark.parametrize("embedded", [1, 100])
async def test_passages_that_were_embedded_are_not_embedded_again(parts, directory, embedded):
    async with aclosing(parts.ingestor.ingest("a", upload(), pieces(TEXT))) as events:
        async for event in events:
            if event.passages_embedded >= embedded:
                break
    kept = vectors_kept(directory)
    assert embedded <= event.passages_embedded <= kept < 200
    batches = parts.embedder.batches
    with next(p for p in spooled(directory) if p.name.startswith("vectors")).open("ab") as file:
        file.write(b"cut off")
    batches.clear()
    events = await ingest(parts, TEXT)
    assert {text for batch in batches for text in batch} == set(TEXT.splitlines(True)[kept:])
    # The same as if it had been made in one go.
    hits, _ = await parts.index.nearest(*await query(parts), limit=200)
    await parts.ingestor.delete("a", events[-1].document.id)
    await ingest(parts, TEXT)
    again, _ = await parts.index.nearest(*await query(parts), limit=200)
    assert {h.id: pytest.approx(h.score) for h in hits} == {h.id: h.score for h in again}


@pytest.mark.parametrize("text", ["damaged" + TEXT, " \n"])
async def test_nothing_is_kept_of_a_file_that_is_refused(parts, directory, text):
    with pytest.raises(InvalidInput):
        await ingest(parts, text, sha256=hashlib.sha256(text.encode()).hexdigest())
    assert spooled(directory) == []


async def test_what_is_kept_of_a_document_goes_with_it(parts, directory):
    async with aclosing(parts.ingestor.ingest("a", upload(), pieces(TEXT))) as events:
        async for event in events:
            if event.passages_embedded:
                break
    assert spooled(directory)
    await ingest(parts, TEXT)
    await parts.ingestor.delete("a", document_id("a", "policy.txt"))
    assert spooled(directory) == []


class Clock:
    def __init__(self):
        self.now = 1e9

    def __call__(self):
        return self.now


def a_spool(directory, clock, max_bytes=1_000_000):
    return Spool(
        directory,
        model=MODEL,
        dimensions=DIMENSIONS,
        max_bytes=max_bytes,
        max_age_seconds=100,
        clock=clock,
    )


async def keep(spool, clock, name, size, tenant="a"):
    sha256 = hashlib.sha256(name.encode()).hexdigest()
    async with spool.draft(tenant, sha256, size) as draft:
        await draft.append(bytes(size))
        if draft._folder:
            for path in (draft._folder, *draft._folder.iterdir()):
                os.utime(path, (clock.now, clock.now))
    clock.now += 1


async def kept(spool, name, tenant="a"):
    sha256 = hashlib.sha256(name.encode()).hexdigest()
    async with spool.draft(tenant, sha256, 0) as draft:
        return len(await draft.data())


async def test_drafts_have_the_room_they_have_and_the_oldest_go(directory):
    clock = Clock()
    spool = a_spool(directory, clock)
    for number in range(4):
        await keep(spool, clock, f"{number}", 300_000)
    await keep(spool, clock, "other", 300_000, tenant="b")
    assert [await kept(spool, f"{n}") for n in range(4)] == [0, 300_000, 300_000, 300_000]
    assert await kept(spool, "other", "b") == 300_000
    await keep(spool, clock, "large", 1_000_001)
    assert await kept(spool, "large") == 0
    # Small ones count for something as well.
    for number in range(50):
        await keep(spool, clock, f"small {number}", 1)
    assert len(list((directory / "tenant-a").iterdir())) <= 1_000_000 // (64 * 1024) + 1


async def test_a_draft_that_is_held_is_not_taken_for_room(directory):
    clock = Clock()
    spool = a_spool(directory, clock)
    held = hashlib.sha256(b"held").hexdigest()
    async with spool.draft("a", held, 900_000) as draft:
        await draft.append(bytes(900_000))
        await keep(spool, clock, "other", 300_000)
        assert len(await draft.data()) == 900_000


async def test_drafts_that_nobody_comes_back_to_go(directory):
    clock = Clock()
    spool = a_spool(directory, clock)
    await keep(spool, clock, "old", 10)
    clock.now += 98
    await spool.sweep()
    assert await kept(spool, "old") == 10
    await keep(spool, clock, "old", 0)
    clock.now += 100
    await spool.sweep()
    assert list((directory / "tenant-a").iterdir()) == []


async def test_drafts_that_come_and_go_beside_each_other_do_not_disturb_one_another(directory):
    spool = a_spool(directory, Clock())

    async def come_and_go(caller):
        for number in range(100):
            name = hashlib.sha256(f"{caller} {number}".encode()).hexdigest()
            async with spool.draft("a", name, 1) as draft:
                await draft.append(b"x")
                await draft.discard()

    await asyncio.gather(*map(come_and_go, range(8)))


async def test_a_draft_that_goes_while_another_is_made_is_made_anew(directory, monkeypatch):
    made, mkdir = [], Path.mkdir

    def there_and_gone(path, *arguments, **more):
        made.append(path)
        if len(made) == 1:
            raise FileExistsError(path)
        mkdir(path, *arguments, **more)

    monkeypatch.setattr(Path, "mkdir", there_and_gone)
    async with a_spool(directory, Clock()).draft("a", "a" * 64, 1) as draft:
        await draft.append(b"x")
        assert await draft.data() == b"x"
    assert len(made) > 1


@pytest.mark.parametrize("sha256", ["", "..", "../../etc", "A" * 64, "a" * 63])
async def test_what_is_no_hash_is_no_path(directory, sha256):
    with pytest.raises(ValueError, match="SHA-256"):
        async with a_spool(directory, Clock()).draft("a", sha256, 1):
            pass
    assert list(directory.iterdir()) == []


async def query(parts):
    (vector,) = parts.embedder.encode(["passage number 7"])
    return Where("a", Kind.PASSAGE), vector, bm25.query_vector("passage number 7")


async def readers_see(parts, text):
    passages, report = await parts.searcher.search("a", "passage version", Filter(), 50)
    lines = text.splitlines(keepends=True)
    assert {passage.text for passage in passages} <= set(lines)
    assert (len(passages), report.passage_count) == (min(50, len(lines)), len(lines))


# What the process that is killed runs: it ingests TEXT over OLD and ends itself at a point.
KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from contextlib import aclosing
sys.path[:0] = [str(Path(sys.argv[3])), str(Path(sys.argv[3]).parent)]
from retrieval_parts import WordEmbedder, pieces, put_together, upload
from retrieval_stores import edge
from contract.test_retrieval_resume import SHA256, TEXT

directory, point = Path(sys.argv[1]), sys.argv[2]

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

class Dying:
    def __init__(self, index):
        self._index = index
        # The first is the lease; then come groups of passages, and the record.
        self._left = 3 if point == "passages" else -1

    def __getattr__(self, name):
        real = getattr(self._index, name)
        if name == "delete" and point == "cleaning":
            return die
        if name != "upsert":
            return real
        async def upsert(points, **kwargs):
            self._left -= 1
            if self._left == 0 or (point == "record" and points[0].payload["kind"] == "document"):
                die()
            await real(points, **kwargs)
        return upsert

class Embedder(WordEmbedder):
    def encode(self, texts):
        if point == "embedding" and len(self.batches) == 2:
            die()
        return super().encode(texts)

async def main():
    async with edge(directory) as index:
        async with put_together(Dying(index), directory, embedder=Embedder()) as parts:
            announced = upload(sha256=SHA256)
            async for event in parts.ingestor.ingest("a", announced, pieces(TEXT)):
                if point == "receiving" and event.bytes_received >= 700:
                    die()

asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("point", "received", "embedded", "survivor"),
    [
        ("receiving", 700, range(1), OLD),
        ("embedding", len(TEXT), range(1, 200), OLD),
        ("passages", len(TEXT), range(1, 200), OLD),
        ("record", len(TEXT), range(200, 201), OLD),
        ("cleaning", len(TEXT), range(200, 201), TEXT),
    ],
)
async def test_a_process_that_is_killed_leaves_one_version_and_what_it_did_is_not_done_again(
    directory, point, received, embedded, survivor
):
    async with edge(directory) as index, put_together(index, directory) as parts:
        await ingest(parts, OLD)
        before = await everything(parts)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED, str(directory), point, str(Path(__file__).parents[1])
    )
    assert await process.wait() == -signal.SIGKILL
    kept = vectors_kept(directory)
    assert kept in embedded
    async with edge(directory) as index, put_together(index, directory) as parts:
        # What readers see before anything is mended, and after.
        for _ in range(2):
            await readers_see(parts, survivor)
            await parts.leases.recover(alone=True)
        if survivor is OLD:
            assert await everything(parts) == before
        events, sent = await continued(parts, TEXT)
        assert len(sent) == (0 if survivor is TEXT else len(TEXT) - received)
        texts = [t for batch in parts.embedder.batches for t in batch]
        new = [text for text in texts if text != "passage version"]
        assert len(new) == (0 if survivor is TEXT else 200 - kept)
        assert isinstance(events[-1], Result)
        await readers_see(parts, TEXT)
        stored = (await everything(parts)).passages
        assert sorted(p["text"] for p in stored.values()) == sorted(TEXT.splitlines(keepends=True))
