"""Parts of the gateway that need no network: rates, the page's files, what JSON becomes."""

import gzip

import pytest
from starlette.requests import Request
from verity.v1 import retrieval_service_pb2 as retrieval

from services.gateway import wire
from services.gateway.page import Page
from services.gateway.problem import Problem
from services.gateway.rates import Rates, client_of


def test_a_burst_is_allowed_and_then_the_steady_rate():
    rates = Rates(2, 3)
    assert [rates.wait("192.0.2.1", 0) for _ in range(4)] == [0, 0, 0, 0.5]
    assert rates.wait("192.0.2.1", 0.5) == 0
    assert rates.wait("192.0.2.1", 0.5) == 0.5
    assert [rates.wait("192.0.2.1", 100) for _ in range(4)] == [0, 0, 0, 0.5]


def test_each_client_has_its_own_rate():
    rates = Rates(1, 1)
    assert rates.wait("192.0.2.1", 0) == 0
    assert rates.wait("192.0.2.2", 0) == 0
    assert rates.wait("192.0.2.1", 0) == 1


def test_a_rate_of_zero_is_no_limit():
    rates = Rates(0, 1)
    assert {rates.wait("192.0.2.1", 0) for _ in range(100)} == {0}


def test_however_many_clients_come_memory_is_bounded():
    rates = Rates(1, 1, most_clients=10)
    for number in range(1000):
        rates.wait(f"10.0.{number // 256}.{number % 256}", 0)
    assert len(rates._buckets) == 10


def test_a_clock_that_goes_back_gives_no_tokens():
    rates = Rates(1, 1)
    assert rates.wait("192.0.2.1", 10) == 0
    assert rates.wait("192.0.2.1", 5) == 1


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:0:1::5", "2001:db8:0:1::/64"),
        ("2001:db8:0:1:ffff::", "2001:db8:0:1::/64"),
        ("", ""),
        ("unix:", ""),
    ],
)
def test_a_client_is_an_address_or_a_network(address, client):
    assert client_of(address) == client


SCRIPT = b"export const word = 'Verity';\n" * 100


@pytest.fixture
def page(tmp_path):
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_bytes(b"<!doctype html><title>Verity</title>")
    (folder / "assets" / "index-BfE3a_9x.js").write_bytes(SCRIPT)
    (folder / "icon.svg").write_bytes(b"<svg/>")
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    return Page(folder)


def ask(file, **headers):
    raw = [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()]
    return file.response(Request({"type": "http", "method": "GET", "headers": raw}))


def test_a_hashed_file_is_kept_for_ever_and_sent_small(page):
    file = page.find("/assets/index-BfE3a_9x.js", "*/*")
    reply = ask(file, accept_encoding="br, gzip")
    assert reply.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert reply.headers["content-encoding"] == "gzip"
    assert reply.headers["content-type"].startswith("text/javascript")
    assert reply.headers["vary"] == "Accept-Encoding"
    assert gzip.decompress(reply.body) == SCRIPT
    assert ask(file).body == SCRIPT


def test_the_index_is_asked_for_each_time_and_not_sent_again(page):
    file = page.find("/", "text/html")
    reply = ask(file)
    assert reply.headers["cache-control"] == "no-cache"
    for tag in (
        reply.headers["etag"],
        "W/" + reply.headers["etag"],
        '"x", ' + reply.headers["etag"],
    ):
        again = ask(file, if_none_match=tag)
        assert (again.status_code, again.body) == (304, b"")
    assert ask(file, if_none_match='"other"').status_code == 200


def test_a_path_of_the_page_itself_is_its_index(page):
    index = page.find("/", "text/html")
    assert page.find("/conversations/42", "text/html,*/*") is index
    assert page.find("/conversations/42", "application/json") is None
    assert page.find("/assets/gone-BfE3a_9x.js", "text/html") is None


@pytest.mark.parametrize(
    "path",
    ["/../secret.txt", "/assets/../../secret.txt", "/%2e%2e/secret.txt", "//etc/passwd",
     "/..\\secret.txt", "/link.txt", "/assets", "/assets/", "/\0", "/index.html\0.js"],
)  # fmt: skip
def test_no_path_leads_out_of_the_page(page, path):
    assert page.find(path, "*/*") is None


def test_without_a_page_there_is_nothing(tmp_path):
    assert Page(tmp_path / "none").find("/", "text/html") is None


def test_a_dotted_name_of_a_query_is_a_field_of_a_field():
    request = retrieval.RetrieveRequest()
    wire.from_query(
        [("query", "why"), ("filter.tags", "a"), ("filter.tags", "b"), ("limit", "3")], {}, request
    )
    assert request == retrieval.RetrieveRequest(
        query="why", limit=3, filter=retrieval.DocumentFilter(tags=["a", "b"])
    )


@pytest.mark.parametrize(
    "name", ["filter", "filter.none", "query.x", "passages.x", ".", "", "a" * 500]
)
def test_a_name_of_no_field_is_refused_and_not_repeated_at_length(name):
    with pytest.raises(Problem) as caught:
        wire.from_query([(name, "x")], {}, retrieval.RetrieveRequest())
    assert caught.value.http == 400
    assert len(caught.value.violations[0][0]) <= 100


@pytest.mark.parametrize(
    ("header", "seconds"),
    [(None, 9), ("2S", 2), ("500m", 0.5), ("1H", 9), ("250000u", 0.25), ("0S", 0), (" 3S ", 3)],
)
def test_a_client_may_shorten_a_deadline(header, seconds):
    assert wire.timeout(header, 9) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "view",
    [
        {"query": "why", "limit": "3"},
        {"query": "why", "limit": False},
        {"query": "why", "limit": 1.5},
        {"query": "why", "limit": -1},
        {"query": "why", "filter": {"min_authority": 1.0}},
        {"query": "why", "filter": {"min_authority": True}},
        {"query": "why", "filter": {"minAuthority": "GOD"}},
        {"query": "why", "filter": {"min_authority": "0"}},
        {"query": "why", "filter": {"tags": "a"}},
        {"query": "why", "filter": {"tags": [7]}},
        {"query": "why", "filter": [{}]},
        {"query": ["why"]},
    ],
)
def test_a_value_of_another_type_is_refused(view):
    with pytest.raises(Problem) as caught:
        wire.from_json_object(view, retrieval.RetrieveRequest())
    assert caught.value.http == 400


def test_null_is_a_field_that_is_not_there_and_64_bits_may_be_a_number():
    metadata = retrieval.IngestMetadata()
    wire.from_json_object({"source_name": None, "size_bytes": 7, "authority": 3}, metadata)
    assert metadata == retrieval.IngestMetadata(size_bytes=7, authority="AUTHORITY_HIGH")
