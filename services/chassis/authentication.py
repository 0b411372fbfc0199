"""How callers are known here: by their tokens, by their certificates, or not at all."""

import json
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import structlog

from services.chassis import identity
from services.chassis.errors import PermissionDenied, Unauthenticated
from services.chassis.identity import Caller
from services.chassis.settings import Settings

if TYPE_CHECKING:
    from services.chassis.tokens import Tokens

Headers = Mapping[str, str | bytes]


class Authenticator(Protocol):
    """Says who calls. Raises Unauthenticated, PermissionDenied and Unavailable."""

    async def caller(self, headers: Headers, peers: Collection[str] | None) -> Caller:
        """Who sent these headers.

        Args:
            headers: Of the call, their names in lower case.
            peers: The names in the certificate at the other end, which may have none; None where
                nobody asks for one.
        """
        ...

    async def ready(self) -> None:
        """Returns once callers can be told apart."""
        ...


@dataclass(frozen=True, slots=True)
class Nobody:
    """Asks nobody: all are the same caller, who may do everything with one tenant's data."""

    tenant: str

    async def caller(self, headers: Headers, peers: Collection[str] | None) -> Caller:  # noqa: ARG002 - as every authenticator
        return Caller("", self.tenant, None, None)

    async def ready(self) -> None:
        return


@dataclass(frozen=True, slots=True)
class ByToken:
    """Verifies the caller's own token, whoever passes it on.

    Attributes:
        peers: Names of which the other end's certificate must have one; none: not looked at.
    """

    tokens: "Tokens"
    peers: frozenset[str]

    async def caller(self, headers: Headers, peers: Collection[str] | None) -> Caller:
        if peers is not None and self.peers and not self.peers & set(peers):
            raise PermissionDenied("The certificate at the other end is not one that may call.")
        return await self.tokens.caller(identity.bearer(_text(headers.get(identity.TOKEN))))

    async def ready(self) -> None:
        await self.tokens.keys.ready()


class ByCertificate:
    """Knows callers by their certificates, and takes the word of named neighbours for others.

    Args:
        callers: A JSON file: by a name in the certificate, the caller's tenant, scopes and groups.
        peers: Names in the certificates of services whose word is taken.
    """

    def __init__(self, callers: Path | None, peers: frozenset[str]) -> None:
        self._file, self._peers = callers, peers
        self._seen, self._callers = -1, dict[str, Caller]()
        self._log = structlog.get_logger(__name__).bind()
        if callers:
            self._callers = read_callers(callers)
            self._seen = callers.stat().st_mtime_ns

    async def caller(self, headers: Headers, peers: Collection[str] | None) -> Caller:
        if identity.WORD in headers:
            word = headers[identity.WORD]
            if not self._peers & set(peers or ()) or isinstance(word, str):
                raise PermissionDenied("This certificate may not speak for others.")
            return identity.of_word(word)
        self._follow()
        for name in peers or ():
            if found := self._callers.get(name):
                return found
        raise Unauthenticated("The certificate at the other end names no caller that is known.")

    async def ready(self) -> None:
        return

    def _follow(self) -> None:
        """Reads the file again where it has changed; one that cannot be read changes nothing."""
        try:
            seen = self._file.stat().st_mtime_ns if self._file else -1
            if self._file and seen != self._seen:
                self._seen = seen
                self._callers = read_callers(self._file)
        except (OSError, ValueError) as error:
            self._log.warning("callers_not_read", error=type(error).__name__)


def read_callers(file: Path) -> dict[str, Caller]:
    """The callers of a file. Raises ValueError, naming what does not fit."""
    try:
        listed = json.loads(file.read_bytes())
        return {name: identity.of_certificate(name, said) for name, said in listed.items()}
    except (Unauthenticated, PermissionDenied, AttributeError, ValueError) as error:
        raise ValueError(
            "VERITY_CALLERS_FILE is not JSON of the form "
            '{"NAME": {"tenant": "…", "scopes": ["ask"], "groups": []}}'
        ) from error


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Authenticator]:
    """The authenticator that the settings choose."""
    peers = frozenset(settings.listed("tls_peers"))
    match settings.auth:
        case "jwt":
            # Here, so that a process that needs none of it is spared 60 ms and 11 MB.
            from services.chassis.keys import Keys  # noqa: PLC0415
            from services.chassis.tokens import Expected, Tokens  # noqa: PLC0415

            claims = identity.Claims(
                settings.jwt_tenant_claim, settings.jwt_scopes_claim, settings.jwt_groups_claim
            )
            expected = Expected(
                settings.jwt_issuer,
                settings.jwt_audience,
                settings.listed("jwt_algorithms"),
                settings.jwt_leeway_seconds,
                claims,
            )
            async with Keys(settings.jwks, fresh_seconds=settings.jwks_seconds).running() as keys:
                yield ByToken(Tokens(keys, expected), peers)
        case "mtls":
            yield ByCertificate(settings.callers_file, peers)
        case _:
            structlog.get_logger(__name__).warning(
                "authentication_is_off",
                meaning="whoever reaches this port may read, write and delete everything",
                mend="set VERITY_AUTH to jwt or mtls",
            )
            yield Nobody(settings.tenant)


def _text(value: str | bytes | None) -> str | None:
    return value if isinstance(value, str) else None
