"""A backup put back on this machine takes the place of all that is there, or of nothing."""

import shutil
from errno import EIO
from pathlib import Path

import pytest
import redis

from cli.backups import memory, own_redis, whole
from cli.errors import CliError

NAME, OLD, NEW = "verity:1:{a}:log", "old", "new"
# Each part is renamed away, and another renamed into its place.
RENAMES = 2 * 3


def filled(folder, words):
    for part in ("index/verity-v4", "originals"):
        (folder / part).mkdir(parents=True)
        (folder / part / "CURRENT").write_text(words)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A stopped system that holds something, and a backup of another that held something else."""
    folder = tmp_path_factory.mktemp("made")
    filled(folder / "var/retrieval", OLD)
    filled(folder / "backup", NEW)
    with own_redis.on(folder / "var/redis") as client:
        client.set(NAME, NEW)
        memory.dump(client, folder / "backup" / memory.FILE)
        client.set(NAME, OLD)
    return folder


@pytest.fixture
def place(made, tmp_path):
    system = shutil.copytree(made / "var", tmp_path / "var")
    return whole.Place(system / "retrieval", system, "verity-v4", redis_url="")


@pytest.fixture
def backup(made, tmp_path):
    return shutil.copytree(made / "backup", tmp_path / "backup")


@pytest.fixture
def failing(monkeypatch):
    """Makes the renames of these numbers fail, counted from 0, as those of a failing disk do."""
    real, numbers = Path.rename, iter(range(100))

    def fail(*chosen):
        def rename(self, target):
            if next(numbers) in chosen:
                raise OSError(EIO, "Input/output error")
            return real(self, target)

        monkeypatch.setattr(Path, "rename", rename)

    return fail


def tree(folder):
    return {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")}


def test_a_backup_takes_the_place_of_what_is_there(place, backup):
    whole.put_back_locally(place, backup, replace=True)
    assert {path.read_text() for path in place.data_dir.rglob("CURRENT")} == {NEW}
    with own_redis.on(place.system / "redis") as client:
        assert client.get(NAME) == NEW.encode()
    assert {path.name for path in place.system.iterdir()} == {"retrieval", "redis"}


@pytest.mark.parametrize("number", range(RENAMES))
def test_a_rename_that_fails_leaves_everything_as_it_was(place, backup, failing, number):
    before = tree(place.system)
    failing(number)
    with pytest.raises(CliError, match="All is as it was"):
        whole.put_back_locally(place, backup, replace=True)
    assert tree(place.system) == before


def test_what_cannot_be_renamed_back_is_kept_and_the_error_says_where(place, backup, failing):
    failing(2, 3)
    with pytest.raises(CliError, match="could not be put back") as refused:
        whole.put_back_locally(place, backup, replace=True)
    kept = place.system / ".before-restore"
    assert str(kept) in refused.value.hint
    assert (kept / "index/verity-v4/CURRENT").read_text() == OLD


def test_what_a_killed_restore_had_renamed_away_outlives_one_that_fails(place, backup):
    kept = place.system / ".before-restore/index"
    kept.mkdir(parents=True)
    (backup / memory.FILE).write_text("{}")
    with pytest.raises(CliError, match="did not take"):
        whole.put_back_locally(place, backup, replace=True)
    assert kept.is_dir()


def test_a_redis_that_ends_before_its_time_is_no_success(tmp_path):
    def use():
        with own_redis.on(tmp_path / "redis") as client:
            client.shutdown(nosave=True)
            client.get(NAME)

    with pytest.raises(redis.ConnectionError):
        use()
