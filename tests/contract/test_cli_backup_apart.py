"""Backup and restore of an embedded index whose service and Redis run apart, as in containers."""

import socket

import pytest
import redis

from cli import backup as command
from cli.errors import CliError
from services.retrieval.copying import SOCKET
from services.retrieval.index import collection_name
from services.retrieval.onnx import OnnxEmbedder
from tests.stores import Store

COLLECTION = collection_name(OnnxEmbedder.model, OnnxEmbedder.dimensions)
KEY, OLD, NEW = "verity:1:{t:c}:answer:1", b"old", b"new"


@pytest.fixture
def volume(tmp_path):
    return tmp_path / "volume"


@pytest.fixture
def client(tmp_path, volume, monkeypatch):
    (tmp_path / "r").mkdir()
    with Store(tmp_path / "r") as store, redis.Redis.from_url(store.url) as opened:
        monkeypatch.setenv("VERITY_REDIS_URL", store.url)
        monkeypatch.setenv("VERITY_DATA_DIR", str(volume))
        yield opened


@pytest.fixture
def kept(tmp_path, volume, client):
    """A backup of what was there before what is there."""
    hold(volume, client, OLD)
    command.backup(tmp_path / "backup", data_dir=volume, as_json=True)
    hold(volume, client, NEW)
    return tmp_path / "backup"


def hold(volume, client, words):
    for file in (volume / "index" / COLLECTION / "CURRENT", volume / "originals/t/doc/original"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(words)
    client.set(KEY, words)


def held(volume, client):
    files = {path for path in volume.rglob("*") if path.is_file()}
    return {client.get(KEY)} | {path.read_bytes() for path in files}


def lost(volume, client):
    client.flushall()
    for path in sorted(volume.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def restore(kept, volume, *, replace=False):
    command.restore(kept, data_dir=volume, replace=replace, as_json=True)


def test_what_was_lost_is_put_back_where_the_services_look_for_it(kept, volume, client):
    lost(volume, client)
    restore(kept, volume)
    assert held(volume, client) == {OLD}
    assert {path.name for path in volume.iterdir()} == {"index", "originals"}


def test_what_is_there_is_only_replaced_when_it_is_said(kept, volume, client):
    with pytest.raises(CliError, match="already holds"):
        restore(kept, volume)
    assert held(volume, client) == {NEW}
    restore(kept, volume, replace=True)
    assert held(volume, client) == {OLD}


def test_a_redis_that_refuses_leaves_the_documents_as_they_were_too(kept, volume, client):
    client.config_set("maxmemory", 1)
    with pytest.raises(CliError, match="did not take"):
        restore(kept, volume, replace=True)
    assert held(volume, client) == {NEW}
    assert {path.name for path in volume.iterdir()} == {"index", "originals"}


def test_nothing_is_put_under_a_service_that_runs(kept, volume, client):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as service:
        service.bind(str(volume / SOCKET))
        service.listen()
        with pytest.raises(CliError, match="still runs"):
            restore(kept, volume, replace=True)
    assert held(volume, client) == {NEW}


def test_originals_that_lie_at_a_url_are_put_back_there_or_not_at_all(
    tmp_path, volume, client, monkeypatch
):
    elsewhere = tmp_path / "elsewhere"
    monkeypatch.setenv("VERITY_ORIGINALS_URL", f"file://{elsewhere}")
    hold(volume, client, OLD)
    (volume / "originals").rename(elsewhere)
    command.backup(tmp_path / "backup", data_dir=volume, as_json=True)
    lost(elsewhere, client)
    client.config_set("maxmemory", 1)
    with pytest.raises(CliError, match="did not take"):
        restore(tmp_path / "backup", volume, replace=True)
    assert not [path for path in elsewhere.rglob("*") if path.is_file()]
    client.config_set("maxmemory", 0)
    restore(tmp_path / "backup", volume, replace=True)
    assert (elsewhere / "t/doc/original").read_bytes() == OLD
    assert {path.name for path in volume.iterdir()} == {"index"}
