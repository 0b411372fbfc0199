"""A whole backup: every store's part of it, written together, or put back all or not at all."""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from cli import surroundings, system
from cli.backups import files, manifest, memory, own_redis, qdrant
from cli.backups.manifest import Manifest
from cli.checks.index import model_of, wanted
from cli.errors import CliError
from cli.surroundings import Origin, Told
from services.orchestrator.redis_memory import SCHEMA_VERSION as MEMORY
from services.retrieval.index import SCHEMA_VERSION as INDEX
from services.retrieval.originals import LAYOUT_VERSION as ORIGINALS

SCHEMA = {"index": INDEX, "originals": ORIGINALS, "memory": MEMORY}
EMBEDDED, SERVER = "embedded", "server"
REDIS = "redis"
_STAGED, _BEFORE = ".restoring", ".before-restore"


@contextmanager
def private() -> Iterator[None]:
    """What is written is for its owner alone: it holds every document and every answer."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the stores are.

    Attributes:
        data_dir: The retrieval service's.
        system: The directory of a system of `verity up`; None elsewhere.
        collection: The index's name.
        redis_url: Empty for a local system that is stopped.
    """

    data_dir: Path
    system: Path | None
    collection: str
    redis_url: str
    originals_url: str = ""
    qdrant_url: str = ""
    qdrant_key: str = ""

    @property
    def root(self) -> Path:
        """Of all that lies in files, a local system's Redis among it."""
        return self.system or self.data_dir

    @contextmanager
    def redis(self) -> Iterator[Redis]:
        with _explained():
            if self.system and not self.redis_url:
                with own_redis.on(self.system / REDIS) as client:
                    yield client
            else:
                with Redis.from_url(self.redis_url, socket_connect_timeout=5) as client:
                    yield client


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except RedisError as error:
        raise CliError(
            f"Redis failed: {type(error).__name__}.",
            code="UNAVAILABLE",
            hint="See VERITY_REDIS_URL, and `verity doctor`.",
        ) from error


@contextmanager
def opened(data_dir: Path, *, to_restore: bool = False) -> Iterator[Place]:
    """The stores of the system on the directory, running or not; else those of the settings."""
    with ExitStack() as stack:
        running = bool(system.addresses(data_dir))
        told = surroundings.all_told(data_dir)
        settings: Any = told["retrieval"].settings
        asks: Any = told["orchestrator"].settings
        if settings is None or asks is None:
            raise CliError(
                "Retrieval and orchestrator are not both installed here.",
                hint='pip install "verity[retrieval,orchestrator,cli]"',
            )
        local = (
            running
            or (data_dir / "retrieval").is_dir()
            or (data_dir / system.FILE).exists()
            # All of it may be lost.
            or (to_restore and not _apart(data_dir, settings, told["orchestrator"]))
        )
        if local and (to_restore or not running):
            # Nothing starts on it meanwhile; a system that runs is told of as such.
            stack.enter_context(system.claim(data_dir))
        stopped = local and not running
        yield Place(
            data_dir=data_dir / "retrieval" if stopped else Path(settings.data_dir),
            system=data_dir if local else None,
            collection=wanted(*model_of(settings.embedding_model_dir)),
            redis_url="" if stopped else asks.redis_url,
            originals_url=settings.originals_url,
            qdrant_url=settings.qdrant_url,
            qdrant_key=settings.qdrant_api_key.get_secret_value(),
        )


def _apart(data_dir: Path, retrieval: Any, orchestrator: Told) -> bool:
    """Whether the settings name stores of their own: those of no system of `verity up`."""
    origin = (orchestrator.origins or {}).get("VERITY_REDIS_URL")
    own_redis_told = origin in {Origin.ENVIRONMENT, Origin.FILE}
    return bool(retrieval.qdrant_url) or (own_redis_told and Path(retrieval.data_dir) == data_dir)


def back_up(place: Place, directory: Path, seconds: float) -> Manifest:
    stores: dict[str, str] = {}
    aliases: dict[str, str] = {}
    with place.redis() as client:
        stores["redis"] = str(client.info("server").get("redis_version", ""))
        memory.dump(client, directory / memory.FILE)
    if place.qdrant_url:
        aliases = _save_server(place, directory, stores, seconds)
    else:
        with files.still(place.data_dir, seconds) as still:
            files.copy(still / files.INDEX, directory / files.INDEX)
            if not place.originals_url:
                files.copy(still / files.ORIGINALS, directory / files.ORIGINALS)
        if place.originals_url:
            files.copy_from_url(place.originals_url, directory / files.ORIGINALS)
        if not any((directory / files.INDEX).glob("*/CURRENT")):
            raise CliError(
                f"There is no index under {place.data_dir}.", hint="Is --data-dir the right one?"
            )
    made = Manifest(
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        verity=metadata.version("verity"),
        schema=SCHEMA,
        engine=SERVER if place.qdrant_url else EMBEDDED,
        collection=place.collection,
        aliases=aliases,
        stores=stores,
    )
    return manifest.write(directory, made)


def _save_server(
    place: Place, directory: Path, stores: dict[str, str], seconds: float
) -> dict[str, str]:
    """The originals before and after: whichever version the snapshot names is among them."""
    where = place.originals_url or str((place.data_dir / files.ORIGINALS).resolve())
    (directory / files.ORIGINALS).mkdir()
    files.copy_from_url(where, directory / files.ORIGINALS)
    with qdrant.Server(place.qdrant_url, place.qdrant_key, seconds) as server:
        if not server.alone():
            raise CliError(
                "This Qdrant is a cluster, of which each node holds a part.",
                hint="Take a snapshot on each node: docs/upgrade.md.",
            )
        stores["qdrant"] = server.version()
        aliases = server.aliases()
        if place.collection not in aliases:
            raise CliError(
                f"Qdrant has no alias {place.collection}.",
                hint="`verity doctor` says what is missing.",
            )
        server.save(aliases[place.collection], directory / qdrant.FILE)
    files.copy_from_url(where, directory / files.ORIGINALS)
    return {name: to for name, to in aliases.items() if name.startswith("verity-")}


def check_fits(held: Manifest, place: Place) -> None:
    engine = SERVER if place.qdrant_url else EMBEDDED
    if held.engine != engine:
        raise CliError(
            f"The backup is of the {held.engine} engine, these settings are of the {engine} one.",
            hint="See VERITY_QDRANT_URL; documents can be ingested anew on another engine.",
        )
    if held.collection != place.collection:
        raise CliError(
            f"The backup is of {held.collection}, these settings are of {place.collection}: "
            "another embedding model.",
            hint="Set VERITY_EMBEDDING_MODEL_DIR as it was.",
        )


def put_back_locally(place: Place, directory: Path, *, replace: bool) -> None:
    """All is made ready beside what is there, and takes its place by renames, which are undone."""
    if not replace and any((place.data_dir / files.INDEX).glob("*/CURRENT")):
        raise CliError(
            f"{place.root} already holds documents.",
            hint="Restore into an empty directory, or give --replace.",
        )
    if files.held(place.data_dir):
        raise CliError(
            f"A retrieval service still runs on {place.data_dir}.", hint="Stop the system first."
        )
    put, staged = [], place.root / _STAGED
    shutil.rmtree(staged, ignore_errors=True)
    try:
        files.copy(directory / files.INDEX, staged / files.INDEX)
        if place.originals_url:
            put = files.copy_to_url(directory / files.ORIGINALS, place.originals_url)
        else:
            files.copy(directory / files.ORIGINALS, staged / files.ORIGINALS)
        if not place.redis_url:
            with _explained(), own_redis.on(staged / REDIS) as client:
                memory.restore(client, directory / memory.FILE, replace=False)
        with _swapped(place, staged):
            if place.redis_url:
                with place.redis() as client:
                    memory.restore(client, directory / memory.FILE, replace=replace)
    except BaseException:
        if put:
            files.remove_from_url(place.originals_url, put)
        raise
    finally:
        shutil.rmtree(staged, ignore_errors=True)


@contextmanager
def _swapped(place: Place, staged: Path) -> Iterator[None]:
    """Renames what is staged into its place; all of it, or none, as when the block fails."""
    # Not before now: what a restore that was killed had renamed away would lie there.
    before = place.root / _BEFORE
    shutil.rmtree(before, ignore_errors=True)
    before.mkdir(parents=True)
    done: list[tuple[Path, Path]] = []
    try:
        for source in sorted(staged.iterdir()):
            target = (place.root if source.name == REDIS else place.data_dir) / source.name
            target.parent.mkdir(parents=True, exist_ok=True)
            for origin, to in ((target, before / source.name), (source, target)):
                if origin.exists():
                    origin.rename(to)
                    done.append((origin, to))
        yield
    except BaseException as error:
        try:
            for origin, to in reversed(done):
                to.rename(origin)
        except OSError as again:
            raise CliError(
                "The backup could not be put in place, and what was there could not be put back: "
                f"{again.strerror}.",
                hint=f"It is under {before}: move it back before the system is started.",
            ) from again
        before.rmdir()
        if not isinstance(error, OSError):
            raise
        raise CliError(
            f"The backup could not be put in place: {error.strerror}. All is as it was.",
            hint="Is there something else under the data directory?",
        ) from error
    shutil.rmtree(before, ignore_errors=True)


def put_back(
    place: Place, directory: Path, held: Manifest, *, replace: bool, seconds: float
) -> None:
    """Originals, then vectors under a new name, then memory; the alias is switched last."""
    where = place.originals_url or str((place.data_dir / files.ORIGINALS).resolve())
    with qdrant.Server(place.qdrant_url, place.qdrant_key, seconds) as server:
        aliases = server.aliases()
        if held.collection in aliases and not replace:
            raise CliError(
                f"Qdrant already has {held.collection}.",
                hint="Give --replace to switch it to the backup; the collection of now stays.",
            )
        put = files.copy_to_url(directory / files.ORIGINALS, where)
        name = qdrant.next_generation(held.collection, server.collections())
        try:
            sha256 = str(held.files[qdrant.FILE]["sha256"])
            server.load(name, directory / qdrant.FILE, sha256)
            with place.redis() as client:
                memory.restore(client, directory / memory.FILE, replace=replace)
            server.switch(held.collection, name, replaces=held.collection in aliases)
        except CliError:
            files.remove_from_url(where, put)
            if name in server.collections():
                server.drop(name)
            raise
