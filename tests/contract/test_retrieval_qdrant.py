"""What a Qdrant server is asked, word by word: a recording server stands in for it."""

import asyncio
import json
import os
import sys
import uuid
from contextlib import AsyncExitStack, asynccontextmanager

import grpc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qdrant_client import grpc as qdrant
from qdrant_recorder import recorded_qdrant

from services.chassis import deadline
from services.chassis.errors import DeadlineExceeded, FailedPrecondition, Unavailable
from services.retrieval.__main__ import Settings
from services.retrieval.index import (
    FIELDS,
    FieldType,
    Kind,
    Point,
    SparseVector,
    Where,
    collection_name,
)
from services.retrieval.onnx import OnnxEmbedder
from services.retrieval.qdrant_layout import Layout
from services.retrieval.qdrant_server import open_server_index

ALIAS = collection_name("m", 4)
LAYOUT = Layout(4)
SPARSE = SparseVector((7, 9), (1.0, 1.0))
EVERYTHING = Where("a", Kind.PASSAGE)


@asynccontextmanager
async def prepared(*, api_key="", layout=LAYOUT):
    async with (
        recorded_qdrant() as (recorded, port),
        open_server_index(
            f"http://127.0.0.1:{port}", api_key=api_key, grpc_port=port, model="m", layout=layout
        ) as index,
    ):
        await index.prepare()
        yield index, recorded


def point(name="p", **payload):
    id_ = str(uuid.uuid5(uuid.NAMESPACE_OID, name))
    return Point(id_, {"tenant": "a", "kind": "passage", **payload}, [1.0, 0.0, 0.0, 0.0], SPARSE)


async def test_the_first_start_makes_a_collection_with_every_field_indexed_and_an_alias():
    async with prepared() as (index, recorded):
        assert recorded.aliases == {ALIAS: f"{ALIAS}-1"}
        assert index.collection == ALIAS
        (made,) = recorded.asked("Create")
        dense = made.vectors_config.params_map.map["dense"]
        assert (dense.size, dense.distance) == (4, qdrant.Distance.Cosine)
        assert made.sparse_vectors_config.map["bm25"].modifier == qdrant.Modifier.Idf
        indexed = {call.field_name: call for call in recorded.asked("CreateFieldIndex")}
        assert set(indexed) == set(FIELDS)
        assert all(call.wait and call.collection_name == f"{ALIAS}-1" for call in indexed.values())
        for name, kind in FIELDS.items():
            params = indexed[name].field_index_params
            if kind is FieldType.INTEGER:
                assert params.integer_index_params.range
            else:
                assert params.keyword_index_params.is_tenant is (kind is FieldType.TENANT)


async def test_a_server_that_goes_and_comes_back_is_used_again_by_itself():
    async def finds():
        try:
            await index.nearest(EVERYTHING, [1.0, 0, 0, 0], SPARSE, limit=3)
        except Unavailable:
            return False
        return True

    async with AsyncExitStack() as stack:
        recorded, port = await stack.enter_async_context(recorded_qdrant())
        url = f"http://127.0.0.1:{port}"
        async with open_server_index(
            url, api_key="", grpc_port=port, model="m", layout=LAYOUT
        ) as index:
            await index.prepare()
            assert await finds()
            await stack.aclose()
            assert not await finds()
            async with recorded_qdrant(recorded, port), asyncio.timeout(30):
                # The channel itself waits between its tries.
                while not await finds():
                    pass
            assert len(recorded.asked("Create")) == 1


async def test_a_second_start_makes_nothing_anew_but_an_index_that_is_missing():
    async with prepared() as (index, recorded):
        del recorded.schemas[f"{ALIAS}-1"]["authority"]
        recorded.calls.clear()
        await index.prepare()
        assert recorded.asked("Create") == []
        assert [call.field_name for call in recorded.asked("CreateFieldIndex")] == ["authority"]


@pytest.mark.parametrize(
    ("field", "schema"),
    [
        ("authority", qdrant.PayloadSchemaInfo(data_type=qdrant.PayloadSchemaType.Keyword)),
        ("document_type", qdrant.PayloadSchemaInfo(data_type=qdrant.PayloadSchemaType.Text)),
        ("tenant", qdrant.PayloadSchemaInfo(data_type=qdrant.PayloadSchemaType.Keyword)),
        (
            "to_day",
            qdrant.PayloadSchemaInfo(
                data_type=qdrant.PayloadSchemaType.Integer,
                params=qdrant.PayloadIndexParams(
                    integer_index_params=qdrant.IntegerIndexParams(lookup=True, range=False)
                ),
            ),
        ),
    ],
)
async def test_a_field_that_is_indexed_otherwise_is_refused_by_name(field, schema):
    async with prepared() as (index, recorded):
        recorded.schemas[f"{ALIAS}-1"][field] = schema
        with pytest.raises(FailedPrecondition, match=f"field {field} "):
            await index.prepare()


async def test_a_collection_of_another_model_is_refused():
    async with prepared() as (index, recorded):
        made = recorded.collections[f"{ALIAS}-1"]
        made.vectors_config.params_map.map["dense"].size = 768
        with pytest.raises(FailedPrecondition, match="4 dimensions"):
            await index.prepare()
        made.vectors_config.params_map.map["dense"].size = 4
        made.sparse_vectors_config.map["bm25"].modifier = 0
        with pytest.raises(FailedPrecondition, match="rarity"):
            await index.prepare()


async def test_an_alias_that_was_set_to_another_models_collection_is_refused():
    async with prepared() as (index, recorded):
        recorded.aliases[ALIAS] = collection_name("other", 4) + "-1"
        with pytest.raises(FailedPrecondition, match="another model"):
            await index.prepare()


async def test_how_a_collection_is_made_is_a_setting():
    layout = Layout(
        4,
        quantization="scalar-int8",
        replication_factor=3,
        write_consistency_factor=2,
        shard_number=6,
        on_disk=True,
    )
    async with prepared(layout=layout) as (_, recorded):
        (made,) = recorded.asked("Create")
        assert made.quantization_config.scalar.type == qdrant.QuantizationType.Int8
        assert (made.replication_factor, made.write_consistency_factor) == (3, 2)
        assert made.shard_number == 6
        assert made.vectors_config.params_map.map["dense"].on_disk
    async with prepared(layout=Layout(4, quantization="binary")) as (_, recorded):
        assert recorded.asked("Create")[0].quantization_config.HasField("binary")
    async with prepared() as (_, recorded):
        assert not recorded.asked("Create")[0].HasField("quantization_config")


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
async def test_every_call_carries_the_key_goes_to_the_alias_and_ends_with_the_callers_time():
    async with prepared(api_key="secret") as (index, recorded):
        assert all(call.metadata["api-key"] == "secret" for call in recorded.calls)
        recorded.calls.clear()
        async with deadline.within(10):
            await index.upsert([point()])
            await index.delete(EVERYTHING)
            await index.get("a", Kind.PASSAGE, [point().id])
            await index.nearest(EVERYTHING, [1.0, 0, 0, 0], SPARSE, limit=3)
            await index.scroll(EVERYTHING)
            await index.tally(EVERYTHING, "passage_count")
        assert [call.method for call in recorded.calls] == [
            *("Upsert", "Delete", "GetPoints", "QueryBatch", "Scroll", "Facet")
        ]
        for call in recorded.calls:
            assert call.metadata["api-key"] == "secret"
            assert call.request.collection_name == ALIAS
            assert call.request.timeout == 10
            # The client gives writes its own most; they end by being cancelled, see below.
            assert call.seconds < (31 if call.method in {"Upsert", "Delete"} else 11)


async def test_a_write_is_seen_by_the_next_read_as_it_waits_to_be_applied():
    async with prepared() as (index, recorded):
        await index.upsert([point(str(n)) for n in range(65)])
        await index.upsert([point()], only_new=True)
        await index.delete(EVERYTHING)
        first, second, leased = recorded.asked("Upsert")
        assert (len(first.points), len(second.points)) == (64, 1)
        assert all(call.wait for call in (first, second, leased, *recorded.asked("Delete")))
        assert leased.update_mode == qdrant.UpdateMode.InsertOnly
        assert leased.ordering.type == qdrant.WriteOrderingType.Strong


async def test_a_server_that_hangs_is_given_up_at_the_deadline_and_told_so():
    async with prepared() as (index, recorded):
        recorded.hangs = {"Upsert", "QueryBatch", "Scroll"}
        for call in (
            lambda: index.upsert([point()]),
            lambda: index.nearest(EVERYTHING, [1.0, 0, 0, 0], SPARSE, limit=3),
            lambda: index.scroll(EVERYTHING),
        ):
            recorded.cancelled.clear()
            with pytest.raises(DeadlineExceeded):
                async with deadline.within(0.1):
                    await call()
            async with asyncio.timeout(5):
                await recorded.cancelled.wait()


async def test_a_server_that_answers_unavailable_is_unavailable_and_any_other_word_is_ours():
    async with prepared() as (index, recorded):
        recorded.refuses = {"Upsert": grpc.StatusCode.UNAVAILABLE}
        with pytest.raises(Unavailable):
            await index.upsert([point()])
        recorded.refuses = {"Upsert": grpc.StatusCode.UNAUTHENTICATED}
        with pytest.raises(RuntimeError, match="UNAUTHENTICATED"):
            await index.upsert([point()])


KEYWORDS = [name for name, kind in FIELDS.items() if kind is FieldType.KEYWORD and name != "kind"]
INTEGERS = [name for name, kind in FIELDS.items() if kind is FieldType.INTEGER]
VALUES = st.lists(st.text(max_size=5), min_size=1, max_size=3)
WHERES = st.builds(
    Where,
    tenant=st.text(max_size=8),
    kind=st.sampled_from(Kind),
    any_of=st.dictionaries(st.sampled_from(KEYWORDS), VALUES, max_size=3),
    none_of=st.dictionaries(st.sampled_from(KEYWORDS), VALUES, max_size=2),
    at_least=st.dictionaries(st.sampled_from(INTEGERS), st.integers(0, 10**8), max_size=2),
    at_most=st.dictionaries(st.sampled_from(INTEGERS), st.integers(0, 10**8), max_size=2),
)


async def test_every_query_prefetch_corpus_and_deletion_names_the_tenant_and_declared_fields():
    async with prepared() as (index, recorded):
        loop = asyncio.get_running_loop()

        async def ask(where):
            recorded.calls.clear()
            await index.nearest(where, [1.0, 0, 0, 0], SPARSE, limit=3)
            await index.scroll(where)
            await index.tally(where, "authority")
            await index.delete(where)
            return list(filters(recorded))

        @settings(max_examples=25, deadline=None)
        @given(where=WHERES)
        def check(where):
            found = asyncio.run_coroutine_threadsafe(ask(where), loop).result()
            assert len(found) >= 6
            for one in found:
                assert {"tenant": where.tenant} in [
                    {condition.field.key: condition.field.match.keyword} for condition in one.must
                ]
                assert not one.should
                assert not one.HasField("min_should")
                fields = {condition.field.key for condition in (*one.must, *one.must_not)}
                assert fields <= set(FIELDS)

        await asyncio.to_thread(check)


def filters(recorded):
    """Every filter in what was asked, on whatever level."""
    for batch in recorded.asked("QueryBatch"):
        pending = list(batch.query_points)
        while pending:
            query = pending.pop()
            yield query.filter
            pending += query.prefetch
            if query.params.HasField("idf"):
                yield query.params.idf.corpus
    yield from (request.filter for request in recorded.asked("Scroll"))
    yield from (request.filter for request in recorded.asked("Facet"))
    yield from (request.points.filter for request in recorded.asked("Delete"))


@pytest.mark.parametrize(
    ("url", "refused"),
    [
        ("http://qdrant:6333", True),
        ("http://10.1.2.3:6333", True),
        ("http://localhost.example:6333", True),
        ("", True),
        ("https://qdrant:6333", False),
        ("http://localhost:6333", False),
        ("http://127.0.0.1:6333", False),
        ("http://[::1]:6333", False),
    ],
)
def test_a_key_is_sent_encrypted_or_to_this_machine_alone(url, refused):
    given = {"qdrant_url": url, "qdrant_api_key": "secret"}
    if refused:
        with pytest.raises(ValueError, match="in the clear"):
            Settings(**given)
    else:
        assert Settings(**given).qdrant_url == url
    assert Settings(qdrant_url=url).qdrant_url == url


async def test_an_https_address_is_spoken_to_encrypted():
    async with (
        recorded_qdrant() as (recorded, port),
        open_server_index(
            f"https://127.0.0.1:{port}",
            api_key="secret",
            grpc_port=port,
            model="m",
            layout=Layout(4),
        ) as index,
    ):
        # The server speaks plain text: were the client to do so too, the call would arrive.
        with pytest.raises((Unavailable, DeadlineExceeded)):
            async with deadline.within(2):
                await index.prepare()
        assert recorded.calls == []


async def command(*arguments, port):
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.retrieval.reindex", *arguments),
        env={
            **os.environ,
            "VERITY_QDRANT_URL": f"http://127.0.0.1:{port}",
            "VERITY_QDRANT_GRPC_PORT": str(port),
            "VERITY_QDRANT_QUANTIZATION": "scalar-int8",
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, error = await process.communicate()
    return process.returncode, json.loads(out) if out else {}, error.decode()


async def test_the_command_builds_anew_as_the_settings_say_switches_at_once_and_back():
    alias = collection_name(OnnxEmbedder.model, OnnxEmbedder.dimensions)
    async with recorded_qdrant() as (recorded, port):
        code, _, error = await command("build", port=port)
        assert (code, error.strip().splitlines()[-1]) == (
            1,
            f"NotFound: There is no alias {alias} on the server.",
        )
        async with open_server_index(
            f"http://127.0.0.1:{port}",
            api_key="",
            grpc_port=port,
            model=OnnxEmbedder.model,
            layout=Layout(OnnxEmbedder.dimensions),
        ) as index:
            await index.prepare()
        recorded.calls.clear()
        code, built, error = await command("build", port=port)
        assert (code, built["collection"]) == (0, f"{alias}-2"), error
        assert recorded.collections[f"{alias}-2"].quantization_config.HasField("scalar")
        assert recorded.aliases == {alias: f"{alias}-2"}
        # Away and to in one request: there is no moment without an alias.
        (switch,) = recorded.asked("UpdateAliases")
        assert [action.WhichOneof("action") for action in switch.actions] == [
            *("delete_alias", "create_alias")
        ]
        _, rolled_back, _ = await command("rollback", port=port)
        assert rolled_back == {"collection": f"{alias}-1"}
        assert recorded.aliases == {alias: f"{alias}-1"}
        _, listed, _ = await command("list", port=port)
        assert listed == {"collection": f"{alias}-1", "all": [f"{alias}-1", f"{alias}-2"]}
        _, dropped, _ = await command("drop", port=port)
        assert dropped == {"dropped": [f"{alias}-2"]}
        assert set(recorded.collections) == {f"{alias}-1"}
