"""Files of which most was never written: the engine allocates more than it fills."""

import errno
import os
import shutil
from pathlib import Path

_PIECE = 1024 * 1024


def copy(source: str | Path, target: str | Path) -> str:
    """As shutil.copy2, and holes stay holes: an index of 2 MB is not one of 280 MB as a copy.

    Returns:
        Where the copy is, as shutil.copytree wants it.
    """
    with Path(source).open("rb", 0) as data, Path(target).open("wb") as copied:
        end = 0
        while (start := _next_data(data.fileno(), end)) is not None:
            end = os.lseek(data.fileno(), start, os.SEEK_HOLE)
            data.seek(start)
            copied.seek(start)
            # Not os.sendfile: between files it is Linux alone that has it.
            while start < end:
                copied.write(piece := data.read(min(_PIECE, end - start)))
                if not piece:  # Cut short meanwhile.
                    break
                start += len(piece)
        copied.truncate(os.fstat(data.fileno()).st_size)
    shutil.copystat(source, target)
    return str(target)


def _next_data(file: int, at: int) -> int | None:
    try:
        return os.lseek(file, at, os.SEEK_DATA)
    except OSError as error:
        if error.errno == errno.ENXIO:  # None from there on.
            return None
        raise
