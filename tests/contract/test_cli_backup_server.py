"""Backup and restore of a system with its vectors on a Qdrant server and a real Redis."""

import json

import pytest
import redis

from cli import backup as command
from cli.errors import CliError
from services.retrieval.index import collection_name
from services.retrieval.onnx import OnnxEmbedder
from tests.qdrant_rest import FakeQdrant, served
from tests.stores import Store

ALIAS = collection_name(OnnxEmbedder.model, OnnxEmbedder.dimensions)
KEY = "verity:1:{t:c}:answer:1"
ORIGINAL = "tenant-t/doc/hash/original"


@pytest.fixture
def qdrant():
    with served(FakeQdrant(api_key="hunter2")) as fake:
        yield fake


@pytest.fixture
def system(tmp_path, qdrant, monkeypatch):
    """The stores of a cluster, as its settings name them; what they hold is put in."""
    (tmp_path / "r").mkdir()
    qdrant.collections[f"{ALIAS}-3"] = b"vectors"
    qdrant.aliases |= {ALIAS: f"{ALIAS}-3", "another": "application"}
    original = tmp_path / "originals" / ORIGINAL
    original.parent.mkdir(parents=True)
    original.write_bytes(b"PDF")
    with Store(tmp_path / "r") as store, redis.Redis.from_url(store.url) as client:
        for name, value in {
            "VERITY_QDRANT_URL": qdrant.url,
            "VERITY_QDRANT_API_KEY": qdrant.api_key,
            "VERITY_ORIGINALS_URL": f"file://{tmp_path}/originals",
            "VERITY_REDIS_URL": store.url,
        }.items():
            monkeypatch.setenv(name, value)
        client.hset(KEY, "body", b"answer")
        yield client


@pytest.fixture
def kept(tmp_path, system):
    command.backup(tmp_path / "backup", data_dir=tmp_path / "none", as_json=True)
    return tmp_path / "backup"


def put_back(tmp_path, kept, *, replace=False):
    command.restore(kept, data_dir=tmp_path / "none", replace=replace, as_json=True)


def lost(tmp_path, qdrant, client):
    client.flushall()
    qdrant.collections.clear()
    qdrant.aliases.clear()
    (tmp_path / "originals" / ORIGINAL).unlink()


def test_a_backup_holds_the_alias_that_no_snapshot_holds_and_leaves_none_on_the_server(
    kept, qdrant, capsys
):
    held = json.loads((kept / "manifest.json").read_text())
    assert held["aliases"] == {ALIAS: f"{ALIAS}-3"}
    assert held["stores"]["qdrant"] == "1.16.0"
    assert qdrant.snapshots == {}
    assert (kept / "vectors.snapshot").read_bytes() == b"vectors"
    assert (kept / "vectors.snapshot").stat().st_mode & 0o077 == 0
    assert "hunter2" not in capsys.readouterr().out


def test_what_was_lost_is_put_back_alias_and_all(tmp_path, kept, qdrant, system):
    lost(tmp_path, qdrant, system)
    put_back(tmp_path, kept)
    assert qdrant.collections[qdrant.aliases[ALIAS]] == b"vectors"
    assert system.hget(KEY, "body") == b"answer"
    assert (tmp_path / "originals" / ORIGINAL).read_bytes() == b"PDF"


def test_what_is_there_is_only_replaced_when_it_is_said_and_stays_beside(
    tmp_path, kept, qdrant, system
):
    with pytest.raises(CliError, match="already has"):
        put_back(tmp_path, kept)
    put_back(tmp_path, kept, replace=True)
    assert qdrant.aliases[ALIAS] == f"{ALIAS}-4"
    assert f"{ALIAS}-3" in qdrant.collections


@pytest.mark.parametrize("fails", ["vectors", "memory"])
def test_a_restore_that_fails_leaves_every_store_as_it_was(tmp_path, kept, qdrant, system, fails):
    lost(tmp_path, qdrant, system)
    if fails == "vectors":
        qdrant.refuses_uploads = True
    else:
        system.set("verity:1:{t:d}:log", "of another")
    with pytest.raises(CliError):
        put_back(tmp_path, kept)
    assert qdrant.collections == qdrant.aliases == {}
    assert system.hget(KEY, "body") is None
    assert not (tmp_path / "originals" / ORIGINAL).exists()


@pytest.mark.parametrize("damage", ["schema", "file", "engine", "model"])
def test_a_backup_that_does_not_fit_is_refused_before_anything_is_touched(
    tmp_path, kept, qdrant, system, damage
):
    lost(tmp_path, qdrant, system)
    path = kept / "manifest.json"
    held = json.loads(path.read_text())
    match damage:
        case "schema":
            held["schema"]["index"] += 1
        case "file":
            (kept / "vectors.snapshot").write_bytes(b"damaged")
        case "engine":
            held["engine"] = "embedded"
        case "model":
            held["collection"] = "verity-another-64-v3"
    path.write_text(json.dumps(held))
    with pytest.raises(CliError):
        put_back(tmp_path, kept)
    assert qdrant.collections == {}
    assert system.dbsize() == 0


def test_a_cluster_of_several_nodes_is_refused_with_what_to_do(tmp_path, qdrant, system):
    qdrant.peers = 3
    with pytest.raises(CliError, match="is a cluster") as caught:
        command.backup(tmp_path / "backup", data_dir=tmp_path / "none")
    assert "each node" in caught.value.hint
    assert not (tmp_path / "backup" / "manifest.json").exists()


def test_a_wrong_key_is_told_without_it(tmp_path, qdrant, system):
    qdrant.api_key = "another"
    with pytest.raises(CliError, match="401"):
        command.backup(tmp_path / "backup", data_dir=tmp_path / "none")


def test_a_directory_that_holds_something_is_not_written_into(tmp_path, system):
    (tmp_path / "backup").mkdir()
    (tmp_path / "backup" / "file").touch()
    with pytest.raises(CliError, match="already"):
        command.backup(tmp_path / "backup", data_dir=tmp_path / "none")
