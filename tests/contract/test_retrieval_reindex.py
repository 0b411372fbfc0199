"""A new collection behind the same alias: built while it is read and written, and the way back."""

import asyncio
import sys
import uuid
from contextlib import asynccontextmanager
from types import ModuleType

import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient
from retrieval_parts import (
    DIMENSIONS,
    MODEL,
    WordEmbedder,
    everything,
    found,
    ingest,
    pieces,
    put_together,
    upload,
)
from retrieval_stores import prepare, quick_directory

from services.chassis.errors import Aborted, FailedPrecondition, NotFound, Unavailable
from services.retrieval import sentence_transformer
from services.retrieval.__main__ import Settings
from services.retrieval.bm25 import passage_vector, query_vector
from services.retrieval.catalog import Catalog
from services.retrieval.index import Kind, Point, Where, collection_name
from services.retrieval.leases import Leases
from services.retrieval.progress import Outcome, Progress
from services.retrieval.qdrant_layout import Generations, Layout
from services.retrieval.qdrant_server import ServerIndex
from services.retrieval.reindex import __main__ as reindex
from services.retrieval.reindexing import Reindexer, drop, rollback

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect")

ALIAS = collection_name(MODEL, DIMENSIONS)
LAYOUT = Layout(DIMENSIONS, quantization="scalar-int8")


@asynccontextmanager
async def put_up():
    """The service's parts on a server's client, and what rebuilds its index."""
    client = AsyncQdrantClient(":memory:")
    with quick_directory() as directory:
        try:
            index = ServerIndex(client, ALIAS, Layout(DIMENSIONS))
            await prepare(index)
            async with put_together(index, directory) as parts:
                yield client, parts
        finally:
            await client.close()


def of(parts, kind=Leases):
    """The leases of a collection."""
    return lambda index: kind(index, Catalog(index), parts.originals, seconds=60)


def reindexer(client, parts, target=None, *, source=ALIAS, anew=None, leases=Leases):
    target = target or Generations(client, ALIAS, LAYOUT)
    return Reindexer(client, target, source, of(parts, leases), anew)


async def test_the_alias_is_switched_under_queries_and_ingests_and_nothing_is_lost():
    async with put_up() as (client, parts):
        for number in range(5):
            await ingest(parts, f"alpha {number}\nbeta {number}\n", f"{number}.txt")
        await ingest(parts, "alpha of another\n", "b.txt", tenant="b")
        done = asyncio.Event()
        searches = 0

        async def searching():
            nonlocal searches
            while not done.is_set():
                texts = await found(parts, "alpha")
                assert {f"alpha {number}\n" for number in range(5)} <= set(texts)
                searches += 1

        async def ingesting():
            for number in range(5, 15):
                try:
                    await ingest(parts, f"alpha {number}\n", f"{number}.txt")
                except (Unavailable, Aborted):
                    # As any client does that is told to try again.
                    await asyncio.sleep(0.01)
                    await ingest(parts, f"alpha {number}\n", f"{number}.txt")

        readers = [asyncio.create_task(searching()) for _ in range(3)]
        writer = asyncio.create_task(ingesting())
        built = await reindexer(client, parts).build(drain_seconds=30)
        await writer
        done.set()
        await asyncio.gather(*readers)
        assert searches
        assert (built.before, built.collection) == (f"{ALIAS}-1", f"{ALIAS}-2")
        assert await Generations(client, ALIAS, LAYOUT).current() == f"{ALIAS}-2"
        assert len(await found(parts, "alpha")) == 20
        assert await found(parts, "alpha", tenant="b") == ["alpha of another\n"]
        assert (await everything(parts)).leases == {}


async def test_what_is_copied_is_the_same_and_found_the_same():
    async with put_up() as (client, parts):
        await ingest(parts, "alpha beta\ngamma\falpha\n")
        before, hits = await everything(parts), await found(parts, "alpha beta")
        built = await reindexer(client, parts).build(drain_seconds=1)
        assert (built.documents, built.passages) == (1, 3)
        assert await everything(parts) == before
        assert await found(parts, "alpha beta") == hits


async def test_one_can_go_back_to_the_collection_before_and_drop_what_is_not_in_use():
    async with put_up() as (client, parts):
        target = Generations(client, ALIAS, LAYOUT)
        with pytest.raises(FailedPrecondition, match="no collection before"):
            await rollback(client, target, of(parts), drain_seconds=1)
        await ingest(parts, "old\n", "old.txt")
        await reindexer(client, parts).build(drain_seconds=1)
        await ingest(parts, "new\n", "new.txt")
        assert await rollback(client, target, of(parts), drain_seconds=1) == f"{ALIAS}-1"
        assert set(await found(parts, "old new")) == {"old\n"}
        await ingest(parts, "after\n", "after.txt")
        assert set(await found(parts, "old after")) == {"old\n", "after\n"}
        assert await drop(client, target) == [f"{ALIAS}-2"]
        assert await target.all() == [f"{ALIAS}-1"]


async def test_going_back_waits_for_writes_that_had_begun_and_leaves_no_half_of_one():
    async with put_up() as (client, parts):
        target = Generations(client, ALIAS, LAYOUT)
        await ingest(parts, "old\n", "old.txt")
        await reindexer(client, parts).build(drain_seconds=1)
        lines = "".join(f"alpha {number}\n" for number in range(120))
        going_back = None
        async for event in parts.ingestor.ingest("a", upload("long.txt"), pieces(lines)):
            if isinstance(event, Progress) and event.passages_indexed and going_back is None:
                going_back = asyncio.create_task(
                    rollback(client, target, of(parts), drain_seconds=30)
                )
        assert event.outcome is Outcome.CREATED
        assert await going_back == f"{ALIAS}-1"
        stored = await everything(parts)
        assert {one["source_name"] for one in stored.documents.values()} == {"old.txt"}
        assert {one["source_name"] for one in stored.passages.values()} == {"old.txt"}
        assert stored.leases == {}


class Unheard(Generations):
    """What it is told to switch to, it says it could not."""

    async def switch(self, to):
        await super().switch(to)
        raise Unavailable("late")


class Deaf(Generations):
    """It cannot be switched."""

    async def switch(self, to):
        raise Unavailable("late")


class Stuck(Leases):
    """The sign that it puts up it cannot take down."""

    async def _release(self, lease):
        raise Unavailable("late")


@pytest.mark.parametrize(
    ("kind", "leases"), [(Unheard, Leases), (Generations, Stuck)], ids=["switch", "sign"]
)
async def test_what_fails_after_the_switch_takes_nothing_from_the_new_collection(kind, leases):
    async with put_up() as (client, parts):
        await ingest(parts, "alpha\n")
        target = kind(client, ALIAS, LAYOUT)
        built = await reindexer(client, parts, target, leases=leases).build(drain_seconds=1)
        assert await target.current() == built.collection == f"{ALIAS}-2"
        assert await found(parts, "alpha") == ["alpha\n"]
        await ingest(parts, "beta\n", "beta.txt")


async def test_a_switch_of_which_nothing_is_known_leaves_both_collections():
    async with put_up() as (client, parts):
        await ingest(parts, "alpha\n")
        target = Deaf(client, ALIAS, LAYOUT)
        with pytest.raises(Unavailable):
            await reindexer(client, parts, target).build(drain_seconds=1)
        # A server may do it yet.
        assert await target.all() == [f"{ALIAS}-1", f"{ALIAS}-2"]
        await ingest(parts, "beta\n", "beta.txt")
        assert set(await found(parts, "alpha beta")) == {"alpha\n", "beta\n"}


async def test_what_a_service_took_in_while_its_index_was_built_is_not_hidden_by_it():
    async with put_up() as (client, parts):
        await ingest(parts, "alpha\n")
        alias = collection_name("other", DIMENSIONS)
        target = Generations(client, alias, Layout(DIMENSIONS))
        other = ServerIndex(client, alias, Layout(DIMENSIONS))

        async def anew(tenant, passages):
            await prepare(other)  # As a service of the new version does that starts meanwhile.
            texts = [passage.text for passage in passages]
            return list(zip(WordEmbedder().encode(texts), map(passage_vector, texts), strict=True))

        with pytest.raises(FailedPrecondition, match="in use already"):
            await reindexer(client, parts, target, anew=anew).build(drain_seconds=1)
        assert await target.current() == f"{alias}-1"
        assert await target.all() == [f"{alias}-1"]


async def test_a_service_that_starts_while_its_index_is_switched_goes_on_with_the_new_one():
    async with put_up() as (client, _):
        alias = collection_name("other", DIMENSIONS)

        class Overtaken(Generations):
            async def create(self, name):
                await super().create(name)
                if name == f"{alias}-1":
                    await self.create(f"{alias}-2")
                    await self.switch(f"{alias}-2")

        target = Overtaken(client, alias, Layout(DIMENSIONS))
        await prepare(target)
        assert await target.current() == f"{alias}-2"


async def test_what_was_switched_while_it_was_copied_is_not_switched_back():
    async with put_up() as (client, parts):
        await ingest(parts, "alpha\n")

        class Overtaken(Generations):
            async def create(self, name):
                await super().create(name)
                if name == f"{ALIAS}-2":
                    await super().create(f"{ALIAS}-3")
                    await self.switch(f"{ALIAS}-3")

        target = Overtaken(client, ALIAS, LAYOUT)
        with pytest.raises(FailedPrecondition, match="switched meanwhile"):
            await reindexer(client, parts, target).build(drain_seconds=1)
        assert await target.current() == f"{ALIAS}-3"
        assert await target.all() == [f"{ALIAS}-1", f"{ALIAS}-3"]


async def test_a_write_that_does_not_end_keeps_all_as_it_is():
    async with put_up() as (client, parts):
        await ingest(parts, "alpha\n")
        document = next(iter((await everything(parts)).documents))
        async with parts.leases.writing("a", document):
            with pytest.raises(Aborted, match="did not end"):
                await reindexer(client, parts).build(drain_seconds=0)
        target = Generations(client, ALIAS, LAYOUT)
        assert await target.current() == f"{ALIAS}-1"
        assert await target.all() == [f"{ALIAS}-1"]
        await ingest(parts, "beta\n", "other.txt")
        assert set(await found(parts, "alpha beta")) == {"alpha\n", "beta\n"}


async def test_no_write_begins_while_the_index_is_switched():
    async with put_up() as (_, parts):
        async with parts.leases.closed(1):
            with pytest.raises(Unavailable, match="being switched"):
                await ingest(parts, "alpha\n")
        await ingest(parts, "alpha\n")
        assert await found(parts, "alpha") == ["alpha\n"]


def held_leases(parts, now, index=None, **options):
    index = index or parts.index
    return Leases(
        index, parts.catalog, parts.originals, seconds=60, clock=lambda: now[0], **options
    )


async def test_a_reindexer_that_was_killed_keeps_writes_away_no_longer_than_a_dead_writer():
    async with put_up() as (_, parts):
        now, document = [0.0], str(uuid.uuid4())
        leases = held_leases(parts, now)
        async with leases.closed(1):
            (sign,) = await parts.index.scroll(Where("", Kind.LEASE))
        await parts.index.upsert([Point(sign.id, sign.payload)])
        with pytest.raises(Unavailable, match="being switched"):
            async with leases.writing("a", document):
                pass
        now[0] += 120
        async with leases.writing("a", document):
            pass
        async with leases.closed(1):  # The next one neither waits for it nor leaves it.
            pass
        assert (await everything(parts)).leases == {}


class Renewed:
    """An index that tells of what is written to it."""

    def __init__(self, index):
        self._index = index
        self.upserted = asyncio.Event()

    def __getattr__(self, name):
        return getattr(self._index, name)

    async def upsert(self, points, **options):
        await self._index.upsert(points, **options)
        self.upserted.set()


async def test_while_the_index_is_closed_for_long_writers_are_told_so_again_and_again():
    async with put_up() as (_, parts):
        now, index = [0.0], Renewed(parts.index)
        leases = held_leases(parts, now, index, margin_seconds=0.04)
        async with leases.closed(1) as check:
            check()
            now[0] += 1000
            with pytest.raises(Unavailable, match="too long"):
                check()
            for _ in range(2):  # The first may have begun before.
                index.upserted.clear()
                await index.upserted.wait()
            check()
            with pytest.raises(Unavailable, match="being switched"):
                async with leases.writing("a", str(uuid.uuid4())):
                    pass


async def test_another_model_gets_an_alias_of_its_own_with_vectors_of_its_own():
    async with put_up() as (client, parts):
        await ingest(parts, "alpha beta\ngamma\n")
        await ingest(parts, "alpha\n", tenant="b")

        async def anew(tenant, passages):
            texts = [passage.text for passage in passages]
            vectors = [[*vector, 0.0] for vector in WordEmbedder().encode(texts)]
            return list(zip(vectors, map(passage_vector, texts), strict=True))

        alias = collection_name("other", DIMENSIONS + 1)
        target = Generations(client, alias, Layout(DIMENSIONS + 1))
        with pytest.raises(FailedPrecondition, match="embed its passages anew"):
            reindexer(client, parts, target)
        built = await reindexer(client, parts, target, anew=anew).build(drain_seconds=1)
        assert (built.documents, built.passages) == (2, 3)
        assert await target.current() == f"{alias}-2"
        assert await found(parts, "alpha")  # The old model's readers go on as before.
        index = ServerIndex(client, alias, Layout(DIMENSIONS + 1))
        await prepare(index)
        vector = [*WordEmbedder().encode(["gamma"])[0], 0.0]
        where = Where("a", Kind.PASSAGE)
        by_dense, by_sparse = await index.nearest(where, vector, query_vector("gamma"), limit=1)
        assert [hit.id for hit in by_dense] == [hit.id for hit in by_sparse]
        with pytest.raises(FailedPrecondition, match="in use already"):
            await reindexer(client, parts, target, anew=anew).build(drain_seconds=1)


class TwoWords:
    """A model in a directory, as sentence-transformers would load it."""

    def __init__(self, *_, **__):
        self.prompts = {}
        self.max_seq_length = None
        self.tokenizer = None

    def encode(self, sentences, **_):
        rows = [[1 + text.count("alpha"), 1 + text.count("gamma")] for text in sentences]
        return np.array([np.array(row) / np.linalg.norm(row) for row in rows], np.float32)


async def test_the_command_embeds_with_the_model_that_the_settings_name(monkeypatch):
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.setenv(name, "1")
    library = ModuleType("sentence_transformers")
    library.SentenceTransformer = TwoWords
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    async with put_up() as (client, parts):
        await ingest(parts, "alpha\fgamma gamma gamma\n")
        model = parts.directory / "model"
        model.mkdir()
        (model / "config.json").write_text("{}")
        settings = Settings(data_dir=parts.directory, embedding_model_dir=str(model))
        built = await reindex.do(settings, client, "build", source=ALIAS, drain_seconds=1)
        alias = collection_name(sentence_transformer.mark(model), 2)
        assert (built["collection"], built["documents"], built["passages"]) == (f"{alias}-2", 1, 2)
        listed = await reindex.do(settings, client, "list", source="", drain_seconds=1)
        assert listed["collection"] == built["collection"]
        index = ServerIndex(client, alias, Layout(2))
        await prepare(index)
        question = TwoWords().encode(["gamma gamma gamma"])[0].tolist()
        nearest, _ = await index.nearest(Where("a", Kind.PASSAGE), question, {}, limit=1)
        assert nearest[0].score == pytest.approx(1)


async def test_an_alias_that_is_not_there_is_not_found():
    async with put_up() as (client, parts):
        with pytest.raises(NotFound):
            await reindexer(client, parts, source="none", anew=lambda *_: None).build(
                drain_seconds=1
            )
