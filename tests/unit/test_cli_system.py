"""One system on one data directory, and commands that find it."""

import json
import subprocess
import sys

import pytest

from cli import system
from cli.errors import CliError


def test_what_a_running_system_publishes_is_found(tmp_path):
    with system.claim(tmp_path) as claimed:
        assert system.addresses(tmp_path) == {}
        claimed.publish({"orchestrator": "127.0.0.1:1", "redis": "127.0.0.1:2"})
        claimed.publish({"orchestrator": "127.0.0.1:3"})
        assert system.addresses(tmp_path) == {"orchestrator": "127.0.0.1:3"}
        assert system.address("orchestrator", "", tmp_path) == "127.0.0.1:3"
    assert system.addresses(tmp_path) == {}


def test_a_given_address_is_taken_as_it_is(tmp_path):
    assert system.address("orchestrator", "far:1", tmp_path) == "far:1"


def test_no_system_is_an_error_that_says_how_to_start_one(tmp_path):
    with pytest.raises(CliError) as failure:
        system.address("orchestrator", "", tmp_path)
    assert failure.value.code == "UNAVAILABLE"
    assert "verity up" in failure.value.line().plain


def test_a_second_system_on_the_same_directory_is_refused(tmp_path):
    with (
        system.claim(tmp_path),
        pytest.raises(CliError, match="already running"),
        system.claim(tmp_path),
    ):
        pass


def test_what_a_killed_system_left_behind_is_not_believed(tmp_path):
    script = (
        "import os, pathlib, sys\n"
        "from cli import system\n"
        "with system.claim(pathlib.Path(sys.argv[1])) as claimed:\n"
        "    claimed.publish({'orchestrator': '127.0.0.1:9'})\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert json.loads((tmp_path / system.FILE).read_text())["addresses"]
    assert system.addresses(tmp_path) == {}
    with system.claim(tmp_path):
        pass


def test_a_data_directory_that_cannot_be_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(CliError, match=r"Not a directory|File exists") as failure,
        system.claim(tmp_path / "file"),
    ):
        pass
    assert "--data-dir" in failure.value.hint


@pytest.mark.parametrize("content", ["", '{"pid": 1, "addr', '{"pid": 1}'])
def test_a_half_written_file_is_as_good_as_none(tmp_path, content):
    with system.claim(tmp_path):
        (tmp_path / system.FILE).write_text(content)
        assert system.addresses(tmp_path) == {}
