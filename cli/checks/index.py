"""Whether the index is there, whole, and of this version's model and schema."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cli.checks.finding import Finding, failure, fine, skipped, warning
from services.chassis.errors import FailedPrecondition, Overloaded, Unavailable
from services.retrieval.index import FIELDS, SCHEMA_VERSION, collection_name
from services.retrieval.qdrant_layout import Layout

_PREFIX = "verity-"
_REBUILD = "`python -m services.retrieval.reindex build --from ALIAS`, or ingest again"


@dataclass(frozen=True, slots=True)
class Found:
    """What a Qdrant server holds.

    Attributes:
        aliases: Each alias with the collection it names.
        collections: All there are.
        fields: Fields indexed in the collection that our alias names.
        refused: Why that collection does not fit, as the service would say it.
        status: Its colour.
    """

    aliases: Mapping[str, str]
    collections: Collection[str]
    fields: Collection[str] = ()
    refused: str = ""
    status: str = "green"


def embedded(directory: Path, wanted: str) -> list[Finding]:
    """The embedded engine's directory; `wanted` is the collection, or how its name begins."""
    try:
        held = sorted(path.name for path in directory.iterdir() if (path / "CURRENT").is_file())
    except FileNotFoundError:
        held = []
    except OSError as error:
        says = f"{directory} cannot be read: {error.strerror}"
        return [failure("index", says, "let the service's user own it")]
    ours = [name for name in held if _is(name, wanted)]
    if not ours:
        return [_none_of_ours(str(directory), wanted, held)]
    shard = directory / ours[0] / (directory / ours[0] / "CURRENT").read_text().strip()
    if not shard.is_dir():
        says = f"{ours[0]} names {shard.name} as its current directory, which is missing"
        return [failure("index", says, "`verity restore`, or remove it and ingest again")]
    found = [fine("index", f"{ours[0]}, embedded")]
    if not os.access(shard, os.W_OK | os.X_OK):
        found = [failure("index", f"{shard} cannot be written to", "let the service's user own it")]
    return found


def _is(name: str, wanted: str) -> bool:
    """A whole name, or for a model from a directory its mark, the schema's number at the end."""
    return name == wanted or (
        wanted.endswith("-") and name.startswith(wanted) and name.endswith(f"-v{SCHEMA_VERSION}")
    )


def _none_of_ours(where: str, wanted: str, held: Sequence[str]) -> Finding:
    if not held:
        says = f"{where} holds no index: nothing has been ingested, or it is the wrong place"
        mend = "see VERITY_DATA_DIR; start the service, and ingest or `verity restore`"
        return failure("index", says, mend)
    says = (
        f"{where} holds {', '.join(held)}, and not {wanted}: another model's or another version's"
    )
    mend = "go back to that model and version, or ingest again (docs/upgrade.md)"
    return failure("index", says, mend)


async def read_server(
    url: str, *, api_key: str, grpc_port: int, alias: str, layout: Layout
) -> Found:
    """What the server holds. Raises Unavailable, or RuntimeError when it refuses."""
    # A laptop is spared the client, which takes most of a second to import.
    from services.retrieval.qdrant_call import bounded  # noqa: PLC0415
    from services.retrieval.qdrant_layout import Generations  # noqa: PLC0415
    from services.retrieval.qdrant_server import connect  # noqa: PLC0415

    client = connect(url, api_key=api_key, grpc_port=grpc_port)
    try:
        async with bounded():
            named = {
                one.alias_name: one.collection_name for one in (await client.get_aliases()).aliases
            }
        async with bounded():
            names = [one.name for one in (await client.get_collections()).collections]
        found = Found(named, names)
        if alias not in named or named[alias] not in names:
            return found
        async with bounded():
            info = await client.get_collection(named[alias])
        refused = ""
        generations = Generations(client, alias, layout)
        try:
            await generations.current()
            generations.check_vectors(named[alias], info.config.params)
        except FailedPrecondition as error:
            refused = str(error)
        fields = tuple(info.payload_schema)
        return Found(named, names, fields, refused, info.status.value)
    finally:
        await client.close()


async def server(
    url: str, *, api_key: str, grpc_port: int, alias: str, layout: Layout
) -> list[Finding]:
    """All that is to be said of the index on a server."""
    try:
        found = await read_server(
            url, api_key=api_key, grpc_port=grpc_port, alias=alias, layout=layout
        )
    except (Unavailable, Overloaded):
        mend = "start it, and see VERITY_QDRANT_URL and VERITY_QDRANT_GRPC_PORT"
        return [failure("index", "Qdrant cannot be reached", mend)]
    except RuntimeError as error:  # Its words are ours.
        return [failure("index", str(error), "see VERITY_QDRANT_API_KEY, and Qdrant's log")]
    return judge(alias, found)


def judge(alias: str, found: Found) -> list[Finding]:
    """What a server's collections mean for an alias; pure."""
    if alias not in found.aliases:
        numbered = sorted(name for name in found.collections if name.startswith(f"{alias}-"))
        if numbered:
            says = f"the alias {alias} is missing; {', '.join(numbered)} are there"
            mend = f"make the alias for the one in use before: {numbered[-1]}? (docs/upgrade.md)"
            return [failure("index", says, mend)]
        held = [name for name in found.aliases if name.startswith(_PREFIX)]
        return [_none_of_ours("Qdrant", alias, held)]
    current = found.aliases[alias]
    if current not in found.collections:
        says = f"{alias} names {current}, which is missing"
        return [failure("index", says, "restore its snapshot (docs/upgrade.md)")]
    if found.refused:
        return [failure("index", found.refused, _REBUILD)]
    said = []
    if missing := sorted(set(FIELDS) - set(found.fields)):
        says = f"{current} does not index {', '.join(missing)}"
        said.append(warning("index", says, "restart the retrieval service: it makes them"))
    if found.status == "red":
        says = f"{current} is red: Qdrant cannot write to it"
        said.append(failure("index", says, "see Qdrant's log, and the room on its disk"))
    return said or [fine("index", f"{alias} names {current}")]


def wanted(model: str, dimensions: int) -> str:
    """The collection of a model; of a model whose dimensions are not known (0), how it begins."""
    return collection_name(model, dimensions) if dimensions else f"{_PREFIX}{model}-"


def unknown(says: str) -> list[Finding]:
    """The index was not looked at."""
    return [skipped("index", says)]


def model_of(directory: str) -> tuple[str, int]:
    """The embedding model's mark, and its dimensions; 0 where only the model itself knows."""
    if directory:
        from services.retrieval.sentence_transformer import mark  # noqa: PLC0415 - most have no such model

        return mark(Path(directory)), 0
    from services.retrieval.onnx import OnnxEmbedder  # noqa: PLC0415

    return OnnxEmbedder.model, OnnxEmbedder.dimensions
