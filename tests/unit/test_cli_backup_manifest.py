"""A backup is whole and of this version, or it is refused before anything is touched."""

import json
from pathlib import Path

import pytest

from cli.backups import manifest
from cli.backups.manifest import Manifest
from cli.backups.qdrant import next_generation
from cli.backups.whole import SCHEMA as NOW
from cli.errors import CliError

SCHEMA = {"index": 3, "memory": 1}


@pytest.fixture
def made(tmp_path):
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "segment").write_bytes(b"vectors")
    manifest.write(tmp_path, Manifest("2030-01-01", "1.0", SCHEMA, "embedded", "verity-x-3-v3"))
    return tmp_path


def refused(directory, schema=SCHEMA):
    with pytest.raises(CliError) as caught:
        manifest.check(directory, manifest.read(directory), schema)
    assert caught.value.hint or "outside" in caught.value.message
    return caught.value.message


def test_a_backup_that_is_whole_is_taken(made):
    held = manifest.read(made)
    manifest.check(made, held, SCHEMA)
    assert set(held.files) == {"index/segment"}
    assert held.collection == "verity-x-3-v3"


def test_a_directory_without_a_manifest_is_no_backup(tmp_path):
    assert "is no backup" in refused(tmp_path)


@pytest.mark.parametrize(("store", "version"), [("index", 4), ("memory", 2), ("originals", 1)])
def test_another_schema_is_refused_by_the_stores_name(made, store, version):
    message = refused(made, {**SCHEMA, store: version})
    assert store in message
    assert str(version) in message


def test_a_file_that_changed_is_refused_by_name(made):
    (made / "index" / "segment").write_bytes(b"vectorz")
    assert refused(made) == "The backup's index/segment is damaged."


def test_a_file_that_is_missing_is_refused_by_name(made):
    (made / "index" / "segment").unlink()
    assert "index/segment is missing" in refused(made)


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"format": "x"}', '{"format": 1, "odd": 2}'])
def test_a_damaged_manifest_is_refused(made, content):
    (made / manifest.NAME).write_text(content)
    with pytest.raises(CliError):
        manifest.read(made)


def test_a_later_format_is_refused(made):
    (made / manifest.NAME).write_text(json.dumps({"format": 2}))
    assert "has format 2" in refused(made)


def test_a_name_that_leads_out_of_the_backup_is_refused(made):
    path = made / manifest.NAME
    held = json.loads(path.read_text())
    held["files"]["../../etc/hostname"] = {"sha256": "0", "bytes": 1}
    path.write_text(json.dumps(held))
    assert "outside" in refused(made)


def test_what_is_restored_gets_a_name_that_no_collection_has():
    assert next_generation("a-v3", ["a-v3-1", "a-v3-7", "a-v31-9", "b"]) == "a-v3-8"
    assert next_generation("a-v3", []) == "a-v3-1"


def test_the_guide_to_upgrades_says_the_versions_of_now():
    text = (Path(__file__).parents[2] / "docs" / "upgrade.md").read_text()
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    said = {row[0]: row[2] for row in rows if len(row) > 3}
    assert {store: said[store] for store in NOW} == {store: str(n) for store, n in NOW.items()}
