"""Everything that `verity doctor` looks at, at once, each for so long and no longer."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import grpc

from cli import config
from cli.checks import certificates, clocks, index, machine, memory, model, policy, serving
from cli.checks.finding import Finding, failure, fine, skipped, warning
from cli.redaction import shown
from cli.surroundings import Told
from cli.unknown_names import unknown

Look = Callable[[], Awaitable[list[Finding]]]
AGENTS = ("retrieval", "generation", "verification")


@dataclass(frozen=True, slots=True)
class Doctor:
    """Everything that is looked at, at once, each for so long and no longer.

    Attributes:
        told: The settings of each service.
        addresses: Where they answer, when they run on this machine; else settings say.
        gateway: The gateway's HOST:PORT, where it is not among the addresses.
        seconds: The most one look may take.
    """

    told: dict[str, Told]
    addresses: dict[str, str]
    gateway: str
    seconds: float
    _offsets: dict[str, float] = field(default_factory=dict)

    async def look(self) -> list[Finding]:
        """All findings, in the order in which one would mend them."""
        looks: list[tuple[str, Look]] = [
            ("settings", self._settings),
            ("modules", self._modules),
            ("paths", self._paths),
            ("certificates", self._certificates),
            ("policy", self._policy),
            ("disk", self._disk),
            ("index", self._index),
            ("redis", self._memory),
            ("model", self._model),
            ("ocr", self._ocr),
            ("services", self._services),
            ("gateway", self._gateway),
        ]
        found = await asyncio.gather(*(self._bounded(name, look) for name, look in looks))
        return [*(one for some in found for one in some), *clocks.judge(self._offsets)]

    async def _bounded(self, name: str, look: Look) -> list[Finding]:
        try:
            # Longer than what it waits for, so that its own words are heard.
            async with asyncio.timeout(2 * self.seconds):
                return await look()
        except TimeoutError:
            return [failure(name, f"no end within {2 * self.seconds:g} s", "try --timeout")]
        except Exception as error:  # noqa: BLE001 - the others still have something to say
            return [failure(name, f"could not be looked at: {type(error).__name__}", "report this")]

    async def _settings(self) -> list[Finding]:
        found = []
        for service, told in self.told.items():
            found += [
                failure(
                    f"{service} settings",
                    f"{name or 'together'}: {reason}".strip(),
                    "see settings.env",
                )
                for name, reason in told.faults
            ]
        for name, near in unknown(os.environ, config.known(self.told)):
            meant = f"rename it to {near}" if near else "remove it, or see settings.env"
            found.append(warning("settings", f"{name} is no setting, and changes nothing", meant))
        return found or [fine("settings", "all fit")]

    async def _modules(self) -> list[Finding]:
        here = [told.service for told in self.told.values() if not told.missing]
        absent = [
            skipped(f"{told.service} modules", f"it is not installed here ({told.missing})")
            for told in self.told.values()
            if told.missing
        ]
        return [*machine.modules(here), *absent]

    async def _paths(self) -> list[Finding]:
        found = []
        for service in self.told.values():
            for name in ("embedding_model_dir", "reranker_dir", "cross_encoder_dir"):
                if path := service.get(name):
                    found += machine.directory(f"VERITY_{name.upper()}", str(path))
        retrieval = self.told["retrieval"]
        if retrieval.settings and not retrieval.get("originals_url"):
            place = Path(retrieval.get("data_dir")) / "originals"
            found += machine.writable("originals", "VERITY_DATA_DIR", place)
        elif retrieval.settings:
            found += await asyncio.to_thread(_originals, retrieval.get("originals_url"))
        return found

    async def _certificates(self) -> list[Finding]:
        found: list[Finding] = []
        for tls in {tls for told in self.told.values() if (tls := told.get("tls"))}:
            of = [name for name, told in self.told.items() if told.get("tls") == tls]
            # Elsewhere this is the certificate of one of them; whether the others' have their names
            # shows when they are called.
            names = {_host(self.addresses[name]) for name in of if name in self.addresses}
            files = certificates.Files(
                _read(tls.certificate), _read(tls.key), _read(tls.ca), _mode(tls.key)
            )
            service = of[0] if len(of) == 1 else "tls"
            found += certificates.judge(service, files, datetime.now(UTC), names - {""})
        return found or [skipped("certificates", "no TLS is set: VERITY_TLS_CERTIFICATE is empty")]

    async def _policy(self) -> list[Finding]:
        return policy.judge(
            {
                service: {
                    name: told.get(name)
                    for name in (
                        "auth",
                        "profile",
                        "tls",
                        "bind",
                        *(["gateway_bind"] * (service == "gateway")),
                    )
                }
                for service, told in self.told.items()
                if told.settings
            }
        )

    async def _disk(self) -> list[Finding]:
        retrieval = self.told["retrieval"]
        if retrieval.settings is None:
            return []
        data_dir = Path(retrieval.get("data_dir"))
        held = None if retrieval.get("qdrant_url") else data_dir / "index"
        return await asyncio.to_thread(machine.room, data_dir, held)

    async def _index(self) -> list[Finding]:
        settings: Any = self.told["retrieval"].settings
        if settings is None:
            return index.unknown("the retrieval service is not installed here")
        name, dimensions = await asyncio.to_thread(index.model_of, settings.embedding_model_dir)
        wanted = index.wanted(name, dimensions)
        if not settings.qdrant_url:
            return await asyncio.to_thread(
                index.embedded, Path(settings.data_dir) / "index", wanted
            )
        if not dimensions:
            return index.unknown("an index of a model from a directory is looked at by its service")
        return await index.server(
            settings.qdrant_url,
            api_key=settings.qdrant_api_key.get_secret_value(),
            grpc_port=settings.qdrant_grpc_port,
            alias=wanted,
            layout=settings.layout(dimensions),
        )

    async def _memory(self) -> list[Finding]:
        settings: Any = self.told["orchestrator"].settings
        if settings is None:
            return [skipped("redis", "the orchestrator is not installed here")]
        looked = await memory.look(settings.redis_url, time.time, self.seconds)
        self._offsets.update(looked.offsets)
        return looked.findings

    async def _model(self) -> list[Finding]:
        settings: Any = self.told["generation"].settings
        if settings is None or not settings.asks_a_model:
            return [skipped("model", "none is asked: the extractive backend drafts")]
        from services.generation.endpoint import Endpoint  # noqa: PLC0415 - most name no model

        key = settings.openai_api_key.get_secret_value()
        endpoint = Endpoint(settings.model, settings.openai_base_url, key)
        headers = {"api-key": key} if endpoint.is_azure else {"Authorization": f"Bearer {key}"}
        found, offsets = await model.look(
            endpoint.url, headers if key else {}, settings.model, self.seconds
        )
        self._offsets.update(offsets)
        return found

    async def _ocr(self) -> list[Finding]:
        settings: Any = self.told["retrieval"].settings
        if settings is None or not settings.ocr_seconds:
            return []
        return await asyncio.to_thread(machine.ocr, settings.ocr_languages, self.seconds)

    async def _services(self) -> list[Finding]:
        targets = {name: self._target(name) for name in ("orchestrator", *AGENTS)}
        replies = dict(
            zip(
                targets,
                await asyncio.gather(*(self._ask(target) for target in targets.values())),
                strict=True,
            )
        )
        self._offsets.update(
            {name: one.offset for name, one in replies.items() if one.offset is not None}
        )
        found = [
            one
            for name, reply in replies.items()
            for one in serving.judge(name, targets[name], reply)
        ]
        return [*found, *serving.versions(replies, metadata.version("verity"))]

    async def _ask(self, target: str) -> serving.Reply:
        return await serving.ask(target, self._credentials(), self.seconds)

    def _credentials(self) -> grpc.ChannelCredentials | None:
        tls = next((tls for told in self.told.values() if (tls := told.get("tls"))), None)
        held = [_read(path) for path in (tls.ca, tls.key, tls.certificate)] if tls else []
        # What cannot be read is said of the certificates.
        return grpc.ssl_channel_credentials(*held) if held and all(held) else None

    async def _gateway(self) -> list[Finding]:
        address = self.gateway or self.addresses.get("gateway", "")
        if not address:
            return [skipped("gateway", "say where it is with --gateway HOST:PORT")]
        found, offsets = await serving.gateway(address, self.seconds)
        self._offsets.update(offsets)
        return found

    def _target(self, service: str) -> str:
        """Where others call it: as the running system says, else as those who call it are told."""
        if service in self.addresses:
            return self.addresses[service]
        for caller in ("gateway", "orchestrator"):
            if target := self.told[caller].get(f"{service}_target"):
                return str(target)
        return ""


def _originals(url: str) -> list[Finding]:
    from fsspec.core import url_to_fs  # noqa: PLC0415 - most name no store

    where = shown("VERITY_ORIGINALS_URL", url)
    try:
        files, root = url_to_fs(url)
        files.exists(root)
    except Exception as error:  # noqa: BLE001 - each store has errors of its own
        mend = "see VERITY_ORIGINALS_URL, and the store's own variables, such as AWS_*"
        says = f"{where} cannot be reached: {type(error).__name__}"
        return [failure("originals", says, mend)]
    return [fine("originals", f"{where} answers")]


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except OSError:
        return 0


def _host(target: str) -> str:
    """The name in a target that a certificate must have; none where it is found otherwise."""
    bare = target.rpartition("/")[2] if target.startswith("dns:") else target
    return (
        ""
        if bare.startswith(("unix:", "xds:", "ipv4:", "ipv6:"))
        else bare.rpartition(":")[0].strip("[]")
    )
