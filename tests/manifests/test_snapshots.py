"""The nightly job copies each node's collections with their aliases, and keeps the newest sets."""

import hashlib
import importlib.util
import json
import threading
import urllib.error
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.manifests.rendered import K8S

CONTENT = b"vectors" * 1000
ALIASES = [{"alias_name": "verity-v3", "collection_name": "verity-v3-1"}]


@pytest.fixture(scope="module")
def snapshots():
    path = K8S / "base/qdrant/snapshots/snapshots.py"
    spec = importlib.util.spec_from_file_location("snapshots", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Qdrant(BaseHTTPRequestHandler):
    """What Qdrant answers to the calls of the job; `server` remembers them."""

    def log_message(self, *_):
        pass

    def reply(self, body, code=200):
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer(self):
        self.server.seen.append((self.command, self.path, self.headers.get("api-key")))
        results = {
            "/collections": {"collections": [{"name": "verity-v3-1"}, {"name": "verity-v3-0"}]},
            "/aliases": {"aliases": ALIASES},
        }
        path = self.path.partition("?")[0]
        if path == "/":
            self.reply(json.dumps({"version": "1.20.0"}).encode())
        elif self.command == "POST":
            self.reply(json.dumps({"result": {"name": "made.snapshot"}}).encode())
        elif self.command == "DELETE":
            self.reply(json.dumps({"result": True}).encode())
        elif path.endswith("made.snapshot"):
            self.reply(CONTENT, 500 if self.server.broken else 200)
        else:
            self.reply(json.dumps({"result": results[path]}).encode())

    do_GET = do_POST = do_DELETE = answer  # noqa: N815 - as http.server names them


@pytest.fixture
def qdrant():
    with ThreadingHTTPServer(("127.0.0.1", 0), Qdrant) as server:
        server.seen, server.broken = [], False
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def node(snapshots, qdrant):
    return snapshots.Node(f"http://127.0.0.1:{qdrant.server_port}", "key")


def test_every_collection_of_every_node_is_copied_and_the_aliases_with_them(
    snapshots, qdrant, node, tmp_path
):
    taken = snapshots.take([node, node], tmp_path, "2026-01-01T021700Z")

    manifest = json.loads((taken / "manifest.json").read_text())
    assert manifest["aliases"] == ALIASES
    assert manifest["versions"] == ["1.20.0", "1.20.0"]
    assert {one["name"] for one in manifest["files"]} == {
        f"verity-v3-{collection}.{number}.snapshot" for collection in (0, 1) for number in (0, 1)
    }
    for one in manifest["files"]:
        assert (taken / one["name"]).read_bytes() == CONTENT
        assert one["sha256"] == hashlib.sha256(CONTENT).hexdigest()
    # Qdrant keeps none of them, and every call has the key.
    count = {method: sum(m == method for m, *_ in qdrant.seen) for method in ("POST", "DELETE")}
    assert count == {"POST": 4, "DELETE": 4}
    assert {key for *_, key in qdrant.seen} == {"key"}


def test_a_copy_that_breaks_off_gets_no_name_and_leaves_nothing_in_qdrant(
    snapshots, qdrant, node, tmp_path
):
    qdrant.broken = True
    with pytest.raises(urllib.error.HTTPError) as refused:
        snapshots.take([node], tmp_path, "2026-01-01T021700Z")
    refused.value.close()
    assert not (tmp_path / "2026-01-01T021700Z").exists()
    assert [method for method, *_ in qdrant.seen][-1] == "DELETE"


def test_the_newest_sets_are_kept(snapshots, node, tmp_path):
    for day in range(1, 5):
        snapshots.take([node], tmp_path, f"2026-01-0{day}T021700Z")
    snapshots.prune(tmp_path, 2)
    assert sorted(path.name[:10] for path in tmp_path.iterdir()) == ["2026-01-03", "2026-01-04"]
