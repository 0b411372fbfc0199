"""Files of which most was never written: the engine allocates more than it fills."""

import errno
import os
import shutil
from collections.abc import Iterator
from io import FileIO
from pathlib import Path

_PIECE = 1024 * 1024


def copy(source: str | Path, target: str | Path) -> str:
    """As shutil.copy2, and holes stay holes: an index of 2 MB is not one of 280 MB as a copy.

    Returns:
        Where the copy is, as shutil.copytree wants it.
    """
    with Path(source).open("rb", 0) as data, Path(target).open("wb") as copied:
        # Not os.sendfile: between files it is Linux alone that has it.
        for start, piece in pieces(data):
            copied.seek(start)
            copied.write(piece)
        copied.truncate(os.fstat(data.fileno()).st_size)
    shutil.copystat(source, target)
    return str(target)


def pieces(file: FileIO) -> Iterator[tuple[int, bytes]]:
    """What was written of it, in order, and where in it."""
    end = 0
    while (start := _next_data(file.fileno(), end)) is not None:
        end = os.lseek(file.fileno(), start, os.SEEK_HOLE)
        file.seek(start)
        while start < end and (piece := file.read(min(_PIECE, end - start))):
            yield start, piece
            start += len(piece)


def _next_data(file: int, at: int) -> int | None:
    try:
        return os.lseek(file, at, os.SEEK_DATA)
    except OSError as error:
        if error.errno == errno.ENXIO:  # None from there on.
            return None
        raise
