"""The built page over HTTP, beside the API."""

import pytest

from tests.gateway_parts import gateway

SCRIPT = b"export const word = 'Verity';\n" * 100


@pytest.fixture
async def served(tmp_path):
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_bytes(b"<!doctype html><title>Verity</title>")
    (folder / "assets" / "index-BfE3a_9x.js").write_bytes(SCRIPT)
    (tmp_path / "secret.txt").write_text("secret")
    async with gateway(folder) as running:
        yield running


async def test_the_page_is_at_the_root_and_at_its_own_paths(served):
    for path in ("/", "/index.html", "/conversations/42"):
        reply = await served.client.get(path, headers={"accept": "text/html"})
        assert (reply.status_code, reply.text) == (200, "<!doctype html><title>Verity</title>")
        assert reply.headers["content-type"] == "text/html; charset=utf-8"
        assert reply.headers["cache-control"] == "no-cache"


async def test_a_hashed_asset_is_kept_for_ever_and_asked_for_by_its_tag(served):
    reply = await served.client.get("/assets/index-BfE3a_9x.js")
    assert reply.content == SCRIPT
    assert reply.headers["content-encoding"] == "gzip"
    assert "immutable" in reply.headers["cache-control"]
    again = await served.client.get(
        "/assets/index-BfE3a_9x.js", headers={"if-none-match": reply.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")
    head = await served.client.head("/assets/index-BfE3a_9x.js")
    assert (head.status_code, head.content) == (200, b"")


@pytest.mark.parametrize(
    "path",
    ["/../secret.txt", "/%2e%2e/secret.txt", "/assets/%2e%2e/%2e%2e/secret.txt",
     "/..%2fsecret.txt", "/..%5csecret.txt", "//secret.txt", "/%00", "/assets/"],
)  # fmt: skip
async def test_no_path_leads_out_of_the_page(served, path):
    host, _, port = served.url.removeprefix("http://").rpartition(":")
    import asyncio  # noqa: PLC0415

    # As it is: a client of ours would tidy the path.
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    reply = await reader.read()
    writer.close()
    assert b" 404 " in reply.splitlines()[0]
    assert b"secret" not in reply


async def test_what_is_not_there_is_a_problem_also_for_a_browser_below_v1(served):
    for path in ("/v1/nothing", "/assets/gone.js"):
        reply = await served.client.get(path, headers={"accept": "text/html"})
        assert reply.status_code == 404
        assert reply.headers["content-type"] == "application/problem+json"


async def test_without_a_page_the_root_says_where_the_api_is():
    async with gateway() as served:
        reply = await served.client.get("/", headers={"accept": "text/html"})
    assert reply.status_code == 404
    assert "/openapi.json" in reply.json()["detail"]
