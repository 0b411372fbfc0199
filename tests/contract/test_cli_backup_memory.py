"""Redis's part of a backup, on a real one: all keys, what is left of their lives, or nothing."""

import json
import shutil

import pytest
import redis

from cli.backups import memory, own_redis
from cli.errors import CliError
from tests.stores import Store


@pytest.fixture
def store(tmp_path):
    (tmp_path / "r").mkdir()
    with Store(tmp_path / "r") as running:
        yield running


@pytest.fixture
def client(store):
    with redis.Redis.from_url(store.url) as opened:
        yield opened


def filled(client):
    client.hset("verity:1:{a:b}:answer:1", mapping={"body": b"\x00\xff", "historical_quality": "1"})
    client.expire("verity:1:{a:b}:answer:1", 1000)
    client.rpush("verity:1:{a}:log", "one", "two")
    client.set("verity:1:{a:b}:claim:x", "held", px=1)
    client.set("another", "application's")
    return {"verity:1:{a:b}:answer:1", "verity:1:{a}:log"}


def kept(client):
    """All names but the one that ends this moment."""
    return {name.decode() for name in client.scan_iter()} - {"verity:1:{a:b}:claim:x"}


def test_what_was_kept_is_kept_again_with_what_is_left_of_its_life(client, tmp_path):
    names = filled(client)
    assert memory.dump(client, tmp_path / "m") in (2, 3)  # The claim ends this moment.
    while client.exists("verity:1:{a:b}:claim:x"):
        pass
    client.flushall()
    assert memory.restore(client, tmp_path / "m", replace=False) == 2
    assert kept(client) == names
    assert client.hget("verity:1:{a:b}:answer:1", "body") == b"\x00\xff"
    assert client.lrange("verity:1:{a}:log", 0, -1) == [b"one", b"two"]
    assert 900 < client.ttl("verity:1:{a:b}:answer:1") <= 1000
    assert client.ttl("verity:1:{a}:log") == -1


def test_a_store_that_holds_answers_is_not_written_over_unless_it_is_said(client, tmp_path):
    filled(client)
    memory.dump(client, tmp_path / "m")
    client.set("verity:1:{a:b}:newer", "x")
    with pytest.raises(CliError, match="already holds"):
        memory.restore(client, tmp_path / "m", replace=False)
    assert client.get("verity:1:{a:b}:newer") == b"x"
    memory.restore(client, tmp_path / "m", replace=True)
    assert client.get("verity:1:{a:b}:newer") is None
    assert client.get("another") == b"application's"


def test_nothing_ends_between_being_staged_and_being_renamed(client, tmp_path):
    client.set("verity:1:{a:b}:claim:y", "held", px=60_000)
    memory.dump(client, tmp_path / "m")
    assert [name for name, _ in memory._stage(client, tmp_path / "m", 0)] == [
        b"verity:1:{a:b}:claim:y"
    ]
    assert client.pttl("restoring:verity:1:{a:b}:claim:y") > 3_000_000
    assert memory.restore(client, tmp_path / "m", replace=True) == 1
    assert 0 < client.pttl("verity:1:{a:b}:claim:y") <= 60_000


@pytest.mark.parametrize("damage", ["dump", "line"])
def test_a_backup_that_redis_refuses_leaves_it_as_it_was(client, tmp_path, damage):
    filled(client)
    memory.dump(client, tmp_path / "m")
    lines = (tmp_path / "m").read_text().splitlines()
    last = json.loads(lines[-1])
    lines[-1] = json.dumps({**last, "dump": "AAAA", "ends_ms": None}) if damage == "dump" else "{}"
    (tmp_path / "m").write_text("\n".join(lines))
    before = kept(client)
    with pytest.raises(CliError, match="It is as it was"):
        memory.restore(client, tmp_path / "m", replace=True)
    assert kept(client) == before


def test_a_redis_of_our_own_has_all_on_disk_when_it_is_left(tmp_path):
    with own_redis.on(tmp_path / "own") as client:
        client.set("verity:1:{a}:log", "x")
    shutil.copytree(tmp_path / "own", tmp_path / "copy")
    with own_redis.on(tmp_path / "copy") as client:
        assert client.get("verity:1:{a}:log") == b"x"
