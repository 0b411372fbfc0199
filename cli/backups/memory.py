"""Redis's part of a backup: every key as DUMP says it, with the moment at which it ends."""

import base64
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from redis import Redis
from redis.exceptions import RedisError, ResponseError

from cli.errors import CliError

T = TypeVar("T")

FILE = "memory.jsonl"
_KEYS = b"verity:*"
# Beside the real names and, as what stands in braces decides, on the same node.
_RESTORING = b"restoring:"
_STAGED_MS = 3_600_000
_BATCH = 200
_NO_END = -1


def dump(client: "Redis", file: Path) -> int:
    """Writes all keys; how many. A key that ends meanwhile is left out."""
    count = 0
    with file.open("w") as lines:
        for keys in _batches(_scan(client, _KEYS)):
            with client.pipeline(transaction=True) as pipeline:
                pipeline.time()
                for key in keys:
                    pipeline.dump(key)
                    pipeline.pttl(key)
                (seconds, micros), *replies = pipeline.execute()
            now = int(seconds) * 1000 + int(micros) // 1000
            for key, held, left in zip(keys, replies[::2], replies[1::2], strict=True):
                if held is None:
                    continue
                line = {
                    "key": _text(key),
                    "ends_ms": None if left == _NO_END else now + left,
                    "dump": _text(held),
                }
                lines.write(json.dumps(line) + "\n")
                count += 1
    return count


def restore(client: "Redis", file: Path, *, replace: bool) -> int:
    """Puts all keys back that have not ended; how many. All of them, or the store is as it was.

    Raises CliError.
    """
    if not replace and next(_scan(client, _KEYS), None) is not None:
        raise CliError(
            "Redis already holds answers.",
            hint="Restore into an empty one, or give --replace to put the backup in their place.",
        )
    seconds, micros = client.time()
    now = int(seconds) * 1000 + int(micros) // 1000
    try:
        names = list(_stage(client, file, now))
    except (RedisError, ValueError, KeyError) as error:
        _remove(client, _RESTORING + _KEYS)
        why = "is of a newer version" if _is_newer(error) else type(error).__name__
        raise CliError(
            f"Redis did not take the backup's answers: {why}. It is as it was.",
            hint="Restore into a Redis that is at least as new as the one that was backed up.",
        ) from error
    with client.pipeline(transaction=True) as pipeline:
        for key in _scan(client, _KEYS):
            pipeline.unlink(key)
        for name, ends in names:
            # Until here none could end: a name that is gone would break off the renaming.
            pipeline.rename(_RESTORING + name, name)
            if ends is None:
                pipeline.persist(name)
            else:
                pipeline.pexpireat(name, ends)
        pipeline.execute()
    return len(names)


def _stage(client: "Redis", file: Path, now: int) -> Iterator[tuple[bytes, int | None]]:
    """Restores under other names, for an hour; yields the real ones and when each ends."""
    _remove(client, _RESTORING + _KEYS)
    with file.open() as lines:
        for some in _batches(map(json.loads, lines)):
            names = []
            with client.pipeline(transaction=False) as pipeline:
                for line in some:
                    ends = line["ends_ms"]
                    if ends is not None and ends <= now:
                        continue
                    name = base64.b64decode(line["key"], validate=True)
                    held = base64.b64decode(line["dump"], validate=True)
                    pipeline.restore(_RESTORING + name, _STAGED_MS, held)
                    names.append((name, ends))
                pipeline.execute()
            yield from names


def _remove(client: "Redis", pattern: bytes) -> None:
    for keys in _batches(_scan(client, pattern)):
        client.unlink(*keys)


def _scan(client: "Redis", pattern: bytes) -> Iterator[bytes]:
    seen = set()
    for key in client.scan_iter(match=pattern, count=1000):
        if key not in seen:  # It may come twice.
            seen.add(key)
            yield key


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    left = iter(items)
    while some := list(islice(left, _BATCH)):
        yield some


def _is_newer(error: Exception) -> bool:
    return isinstance(error, ResponseError) and "version or checksum" in str(error)


def _text(value: Any) -> str:
    return base64.b64encode(value).decode()
