"""A copy has the same bytes, and takes no more of the disk than what was written."""

import os

import pytest

from services.retrieval import sparse_files

MIB = 1024 * 1024


@pytest.mark.parametrize(
    "written",
    [
        {},
        {0: b"first"},
        {0: b"first", 40 * MIB: b"last"},
        {7 * MIB: b"in the middle" * 1000, 63 * MIB: b"x" * MIB},
    ],
    ids=["nothing", "its beginning", "its ends", "parts of it"],
)
def test_a_copy_is_the_same_and_its_holes_are_holes(written, tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    with source.open("wb") as file:
        for at, data in written.items():
            file.seek(at)
            file.write(data)
        file.truncate(64 * MIB)
    os.utime(source, (1_000_000, 1_000_000))
    assert sparse_files.copy(source, target) == str(target)
    assert target.read_bytes() == source.read_bytes()
    assert target.stat().st_mtime == 1_000_000
    assert target.stat().st_blocks <= source.stat().st_blocks + 8


def test_an_empty_file_and_one_without_holes_are_copied_too(tmp_path):
    for data in (b"", b"words" * 100_000):
        (tmp_path / "source").write_bytes(data)
        sparse_files.copy(tmp_path / "source", tmp_path / "target")
        assert (tmp_path / "target").read_bytes() == data


def test_what_was_longer_there_is_replaced(tmp_path):
    (tmp_path / "source").write_bytes(b"new")
    (tmp_path / "target").write_bytes(b"what was there before")
    sparse_files.copy(tmp_path / "source", tmp_path / "target")
    assert (tmp_path / "target").read_bytes() == b"new"


def test_only_what_was_written_is_read(tmp_path):
    with (tmp_path / "source").open("wb") as file:
        for at, data in ((MIB, b"first" * MIB), (40 * MIB, b"last")):
            file.seek(at)
            file.write(data)
        file.truncate(64 * MIB)
    with (tmp_path / "source").open("rb", 0) as file:
        read = list(sparse_files.pieces(file))
    assert sum(len(piece) for _, piece in read) < 7 * MIB
    whole = (tmp_path / "source").read_bytes()
    assert all(whole[at : at + len(piece)] == piece for at, piece in read)
