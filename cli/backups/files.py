"""The files of a backup: the embedded index and the originals, copied while nothing changes."""

import json
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cli.errors import CliError
from services.retrieval import sparse_files
from services.retrieval.copying import SOCKET

INDEX, ORIGINALS = "index", "originals"


@contextmanager
def still(data_dir: Path, seconds: float) -> Iterator[Path]:
    """Where `index` and `originals` lie and do not change: a copy by the service, if it runs."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.settimeout(seconds)
        if not _connected(asking, data_dir):
            yield data_dir
            return
        try:
            reply = json.loads(asking.makefile().readline())
        except (OSError, ValueError) as error:
            raise CliError(
                "The retrieval service made no copy.",
                code="UNAVAILABLE",
                hint="See its log; allow more time with --timeout.",
            ) from error
        if "copy" not in reply:
            raise CliError(
                f"The retrieval service could not make a copy: {reply.get('error')}.",
                hint="It takes the room of the index once more under VERITY_DATA_DIR.",
            )
        yield Path(reply["copy"])


def held(data_dir: Path) -> bool:
    """Whether a retrieval service runs on the directory."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        return _connected(asking, data_dir)


def _connected(asking: socket.socket, data_dir: Path) -> bool:
    try:
        asking.connect(str(data_dir / SOCKET))
    except (FileNotFoundError, ConnectionRefusedError):
        return False
    except OSError as error:
        raise CliError(
            f"The retrieval service cannot be asked for a copy: {error.strerror}.",
            hint="Run this as the service's user, or stop the service first.",
        ) from error
    return True


def copy(source: Path, target: Path) -> None:
    """A tree, without what is still being written; one that is missing is an empty one."""
    if source.is_dir():
        shutil.copytree(
            source,
            target,
            copy_function=sparse_files.copy,
            ignore=shutil.ignore_patterns(".*"),
        )
    else:
        target.mkdir(parents=True)


def copy_from_url(url: str, target: Path) -> None:
    """The originals of a store that fsspec knows; those that are there already are passed over."""
    files, root = _store(url)
    for path in files.find(root):
        name = path.removeprefix(root).lstrip("/")
        to = target / name
        if not to.resolve().is_relative_to(target.resolve()):
            raise CliError("The store of originals names a file outside of itself.")
        if not to.exists():
            to.parent.mkdir(parents=True, exist_ok=True)
            files.get_file(path, str(to))


def copy_to_url(source: Path, url: str) -> list[str]:
    """Puts the originals that are missing there; names those that it put."""
    files, root = _store(url)
    put = []
    try:
        for path in sorted(path for path in source.rglob("*") if path.is_file()):
            to = f"{root}/{path.relative_to(source).as_posix()}"
            if not files.exists(to):
                files.makedirs(to.rpartition("/")[0], exist_ok=True)
                put.append(to)
                files.put_file(str(path), to)
    except Exception:
        remove_from_url(url, put)
        raise
    return put


def remove_from_url(url: str, paths: list[str]) -> None:
    """Takes back what was put."""
    files, _ = _store(url)
    for path in paths:
        if files.exists(path):
            files.rm_file(path)


def _store(url: str) -> tuple[Any, str]:
    # Here, so that commands without one do not pay for it.
    from fsspec.core import url_to_fs  # noqa: PLC0415

    files, root = url_to_fs(url, use_listings_cache=False)
    return files, root.rstrip("/")
