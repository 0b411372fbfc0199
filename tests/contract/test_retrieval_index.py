"""What an Index promises, held against every adapter; against a real server with QDRANT_URL."""

import asyncio
import math
import uuid

import grpc
import pytest
from retrieval_stores import edge, opened_stores, prepare

from services.chassis import deadline
from services.chassis.errors import DeadlineExceeded, Unavailable
from services.retrieval import bm25
from services.retrieval.index import FIELDS, Kind, Point, SparseVector, Where
from services.retrieval.passage import Metadata
from services.retrieval.payload import days, to_day
from services.retrieval.qdrant_layout import Layout
from services.retrieval.qdrant_server import ServerIndex, open_server_index

DIMENSIONS = 4


@pytest.fixture(params=opened_stores(), ids=lambda store: store.__name__)
async def index(request, directory):
    async with request.param(directory, DIMENSIONS) as index:
        yield index


def id_(name):
    return str(uuid.uuid5(uuid.NAMESPACE_OID, name))


def passage(name, *, dense=(1, 0, 0, 0), text="", tenant="a", sha256="v1", **payload):
    payload = {"document_id": "d", "text": text, "sha256": sha256, **payload}
    return Point(
        id_(name),
        {"tenant": tenant, "kind": "passage", **payload},
        [float(x) for x in dense],
        bm25.passage_vector(text),
    )


def where(tenant="a", kind=Kind.PASSAGE, **conditions):
    return Where(tenant, kind, **conditions)


async def names(index, condition):
    return {record.id for record in await index.scroll(condition)}


async def test_preparing_twice_is_the_same_as_once(index):
    await index.upsert([passage("p")])
    await prepare(index)
    assert await names(index, where()) == {id_("p")}


async def test_a_point_comes_back_with_its_payload_whole(index):
    payload = {
        "text": "§ 4.2 “quoted” \U0001d54f",
        "regions": [[0, 5, 1, 72.125, 90.1, 300.0, 99.9], [5, 9, 2]],
        "empty": [],
        "flag": True,
        "time": 1764448718.123456,
    }
    await index.upsert([passage("p", **payload)])
    found = await index.get("a", Kind.PASSAGE, [id_("p"), id_("unknown"), "no UUID", ""])
    assert list(found) == [id_("p")]
    assert {key: found[id_("p")].payload[key] for key in payload} == payload


async def test_a_point_is_got_by_its_own_tenant_and_kind_only(index):
    await index.upsert([passage("p")])
    assert await index.get("b", Kind.PASSAGE, [id_("p")]) == {}
    assert await index.get("a", Kind.DOCUMENT, [id_("p")]) == {}


async def test_of_two_points_with_one_id_the_last_is_kept(index):
    await index.upsert([passage("p", text="first"), passage("p", text="second")])
    found = await index.get("a", Kind.PASSAGE, [id_("p")])
    assert found[id_("p")].payload["text"] == "second"


async def test_only_new_leaves_a_known_point_as_it_is(index):
    await index.upsert([passage("p", text="first")], only_new=True)
    await index.upsert([passage("p", text="second"), passage("q", text="third")], only_new=True)
    found = await index.get("a", Kind.PASSAGE, [id_("p"), id_("q")])
    assert found[id_("p")].payload["text"] == "first"
    assert found[id_("q")].payload["text"] == "third"


async def test_fields_of_the_points_that_match_are_amended_and_nothing_else_of_them(index):
    await index.upsert(
        [
            passage("p", text="funds", authority=1, tags=["x"]),
            passage("q", text="funds", authority=1, tags=["x"], document_id="e"),
            passage("r", text="funds", authority=1, tags=["x"], tenant="b"),
        ]
    )
    before = {record.id: dict(record.payload) for record in await index.scroll(where())}
    condition = where(any_of={"document_id": ["d"]})
    await index.amend(condition, {"authority": [1, 3], "tags": ["x", "y"]})
    # With several values a field matches as each of them.
    for bounds in ({"at_least": {"authority": 3}}, {"at_most": {"authority": 1}}):
        assert id_("p") in await names(index, where(**bounds))
    await index.amend(condition, {"authority": 3, "tags": []})
    expected = {**before, id_("p"): {**before[id_("p")], "authority": 3, "tags": []}}
    assert {record.id: dict(record.payload) for record in await index.scroll(where())} == expected
    (other,) = await index.scroll(where("b"))
    assert other.payload["authority"] == 1
    assert await names(index, where(at_least={"authority": 2})) == {id_("p")}
    dense, sparse = await index.nearest(where(), (1, 0, 0, 0), bm25.query_vector("funds"), limit=9)
    assert {hit.id for hit in dense} == {hit.id for hit in sparse} == {id_("p"), id_("q")}


@pytest.mark.parametrize(
    ("conditions", "admitted"),
    [
        ({}, True),
        ({"any_of": {"tags": ["x", "z"], "document_id": ["d"]}}, True),
        ({"any_of": {"tags": ["x"], "document_id": ["e"]}}, False),
        ({"none_of": {"tags": ["y"]}}, False),
        ({"none_of": {"tags": ["z"]}}, True),
        ({"at_least": {"authority": 2}, "at_most": {"authority": 2}}, True),
        ({"at_least": {"authority": 3}}, False),
        ({"at_most": {"authority": 1}}, False),
    ],
)
async def test_what_a_condition_admits_is_what_the_store_finds(index, conditions, admitted):
    point = passage("p", authority=2, tags=["x", "y"])
    await index.upsert([point])
    condition = where(**conditions)
    assert condition.admits(point.payload) is admitted
    assert bool(await names(index, condition)) is admitted


async def test_a_point_may_have_no_vectors_and_is_then_never_near(index):
    await index.upsert([Point(id_("r"), {"tenant": "a", "kind": "passage"}), passage("p")])
    by_dense, _ = await index.nearest(where(), [1, 0, 0, 0], SparseVector((), ()), limit=10)
    assert [hit.id for hit in by_dense] == [id_("p")]
    assert await names(index, where()) == {id_("p"), id_("r")}


async def test_dense_hits_come_by_cosine_best_first(index):
    await index.upsert(
        [
            passage("far", dense=(0, 0, 1, 0)),
            passage("near", dense=(2, 0.2, 0, 0)),  # Length plays no part.
            passage("middle", dense=(1, 1, 0, 0)),
        ]
    )
    by_dense, by_sparse = await index.nearest(where(), [1, 0, 0, 0], SparseVector((), ()), limit=2)
    assert [hit.id for hit in by_dense] == [id_("near"), id_("middle")]
    assert by_dense[1].score == pytest.approx(math.sqrt(0.5), abs=1e-5)
    assert by_sparse == []


async def test_sparse_hits_score_as_bm25_over_the_tenants_passages(index):
    texts = {
        "one": "the proof of funds must be notarized",
        "two": "funds are transferred by wire",
        "three": "the report covers revenue, and revenue only",
    }
    await index.upsert([passage(name, text=text) for name, text in texts.items()])
    # Neither another tenant's passages nor records without terms change what is rare.
    await index.upsert([passage(f"b{i}", text="notarized", tenant="b") for i in range(5)])
    await index.upsert([Point(id_("r"), {"tenant": "a", "kind": "document"})])
    _, hits = await index.nearest(
        where(), [1, 0, 0, 0], bm25.query_vector("notarized funds"), limit=10
    )
    assert [hit.id for hit in hits] == [id_("one"), id_("two")]

    def idf(with_term):
        return math.log((3 - with_term + 0.5) / (with_term + 0.5) + 1)

    def weight(length):
        return 1 * (bm25.K1 + 1) / (1 + bm25.K1 * (1 - bm25.B + bm25.B * length / bm25.MEAN_TERMS))

    assert hits[0].score == pytest.approx((idf(1) + idf(2)) * weight(7), rel=1e-3)
    assert hits[1].score == pytest.approx(idf(2) * weight(5), rel=1e-3)


async def test_hits_carry_what_says_whether_they_are_current_and_no_text(index):
    await index.upsert([passage("p", text="notarized")])
    found = await index.nearest(where(), [1, 0, 0, 0], bm25.query_vector("notarized"), limit=1)
    for (hit,) in found:
        assert hit.payload == {"document_id": "d", "sha256": "v1"}
    query = bm25.query_vector("notarized")
    found = await index.nearest(where(), [1, 0, 0, 0], query, limit=1, bare=True)
    assert [[hit.payload for hit in part] for part in found] == [[{}], [{}]]


async def test_every_read_and_delete_keeps_to_its_tenant(index):
    await index.upsert([passage("a"), passage("b", tenant="b", text="word")])
    by_dense, by_sparse = await index.nearest(
        where(), [1, 0, 0, 0], bm25.query_vector("word"), limit=10
    )
    assert [hit.id for hit in by_dense] == [id_("a")]
    assert by_sparse == []
    assert await names(index, where()) == {id_("a")}
    await index.delete(where())
    assert await names(index, where()) == set()
    assert await names(index, where("b")) == {id_("b")}


async def test_conditions_of_one_field_are_alternatives_and_fields_are_combined(index):
    await index.upsert(
        [
            passage("p1", document_type="policy", authority=3, tags=["aml", "eu"]),
            passage("p2", document_type="kyc", authority=2, tags=["aml"]),
            passage("p3", document_type="filing", authority=1, tags=[], sha256="v2"),
        ]
    )
    cases = [
        ({"any_of": {"document_type": ["policy", "kyc"]}}, {"p1", "p2"}),
        ({"any_of": {"document_type": ["policy", "kyc"], "tags": ["eu"]}}, {"p1"}),
        ({"any_of": {"tags": ["eu", "aml"]}, "at_least": {"authority": 3}}, {"p1"}),
        ({"at_least": {"authority": 2}}, {"p1", "p2"}),
        ({"none_of": {"sha256": ["v1"]}}, {"p3"}),
        ({"any_of": {"document_type": ["none"]}}, set()),
    ]
    for conditions, expected in cases:
        condition = where(**conditions)
        assert await names(index, condition) == {id_(name) for name in expected}
        by_dense, _ = await index.nearest(condition, [1, 0, 0, 0], SparseVector((), ()), limit=9)
        assert {hit.id for hit in by_dense} == {id_(name) for name in expected}


async def test_days_are_bounds_from_both_sides(index):
    def dated(name, **dates):
        return passage(name, **days(Metadata(name, "policy", authority=1, **dates)))

    await index.upsert(
        [
            dated("always"),
            dated("old", published="2019-01-31", effective_to="2024-03-01"),
            dated("new", published="2024-02-01", effective_from="2024-03-01"),
        ]
    )
    for day, expected in {
        "2024-02-29": {"always", "old"},
        "2024-03-01": {"always", "new"},  # The day of the end is a day after it.
        "2026-12-31": {"always", "new"},
    }.items():
        number = to_day(day)
        in_force = where(at_most={"from_day": number}, at_least={"to_day": number + 1})
        assert await names(index, in_force) == {id_(name) for name in expected}
    published = where(at_least={"published_day": 20190131}, at_most={"published_day": 20240131})
    assert await names(index, published) == {id_("old")}


async def test_a_scroll_reads_past_one_page_and_only_the_named_fields(index):
    points = [passage(str(number), text="x", number=number) for number in range(1100)]
    await index.upsert(points)
    records = await index.scroll(where(), fields=["number"])
    assert sorted(record.payload["number"] for record in records) == list(range(1100))
    assert all(list(record.payload) == ["number"] for record in records)


async def test_a_tally_counts_points_by_value(index):
    counts = [("d1", 3, "kyc"), ("d2", 3, "policy"), ("d3", 7, "kyc")]
    await index.upsert(
        [
            Point(
                id_(name),
                {"tenant": "a", "kind": "document", "passage_count": n, "document_type": word},
            )
            for name, n, word in counts
        ]
    )
    documents = where(kind=Kind.DOCUMENT)
    assert await index.tally(documents, "passage_count") == {3: 2, 7: 1}
    kyc = where(kind=Kind.DOCUMENT, any_of={"document_type": ["kyc"]})
    assert await index.tally(kyc, "passage_count") == {3: 1, 7: 1}
    assert await index.tally(where("b", Kind.DOCUMENT), "passage_count") == {}


@pytest.mark.parametrize(
    "conditions",
    [
        {"any_of": {"text": ["x"]}},
        {"none_of": {"page_number": ["x"]}},
        {"at_least": {"version": 1}},
        {"at_least": {"document_type": 1}},
        {"at_most": {"effective_from": 1}},
        {"any_of": {"document_type": "policy"}},
        {"any_of": {"document_type": []}},
    ],
)
def test_a_condition_on_anything_but_a_declared_field_is_refused(conditions):
    with pytest.raises(ValueError, match="no declared"):
        where(**conditions)


async def test_the_embedded_index_keeps_its_points_when_it_is_opened_again(directory):
    for expected in ({id_("p")}, {id_("p"), id_("q")}):
        async with edge(directory, DIMENSIONS) as index:
            await index.upsert([passage("q" if len(expected) == 2 else "p")])
            assert await names(index, where()) == expected
            info = await index._shard.read(lambda shard: shard.info())
            assert set(info.payload_schema) == set(FIELDS)


async def test_one_process_only_may_open_the_embedded_index(directory):
    async with edge(directory, DIMENSIONS):
        with pytest.raises(RuntimeError, match="in use by another process"):
            async with edge(directory, DIMENSIONS):
                pass


class SilentClient:
    """A server that took the call and never answers."""

    async def retrieve(self, *args, **kwargs):
        await asyncio.Event().wait()


async def test_a_server_that_hangs_is_given_up_at_the_callers_deadline():
    index = ServerIndex(SilentClient(), "c", Layout(DIMENSIONS))
    started = asyncio.get_running_loop().time()
    with pytest.raises(DeadlineExceeded):
        async with deadline.within(0.05):
            await index.get("a", Kind.PASSAGE, [id_("p")])
    assert asyncio.get_running_loop().time() - started < 1


class RefusingClient:
    """A server that does not know the collection."""

    async def retrieve(self, *args, **kwargs):
        raise grpc.aio.AioRpcError(
            grpc.StatusCode.NOT_FOUND, grpc.aio.Metadata(), grpc.aio.Metadata()
        )


async def test_what_a_server_says_of_our_request_is_not_passed_on_as_said_of_our_callers():
    index = ServerIndex(RefusingClient(), "c", Layout(DIMENSIONS))
    with pytest.raises(RuntimeError, match="NOT_FOUND"):
        await index.get("a", Kind.PASSAGE, [id_("p")])


async def test_a_server_that_is_down_is_unavailable_and_says_nothing_of_where_it_is():
    async with open_server_index(
        "http://127.0.0.1:9", api_key="", grpc_port=9, model="test", layout=Layout(DIMENSIONS)
    ) as index:
        with pytest.raises(Unavailable) as caught:
            await index.get("a", Kind.PASSAGE, [id_("p")])
    assert "127.0.0.1" not in str(caught.value)
