"""Who calls, for whom and with which rights, as it was verified; nothing that a request says."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from services.chassis.errors import PermissionDenied, Unauthenticated

TENANT = re.compile(r"[A-Za-z0-9_.-]{1,64}")
# A caller with more groups than this is taken to be in none of the others.
MOST_GROUPS, MOST_CHARS = 500, 255

# What carries a caller inward: its own token, or a neighbour's word for it.
TOKEN, WORD = "authorization", "verity-caller-bin"


@dataclass(frozen=True, slots=True)
class Caller:
    """One who calls.

    Attributes:
        subject: Who it is; empty where callers are not asked who they are.
        tenant: Whose data it works with.
        scopes: What it may do; None: everything.
        groups: What it is a member of; None: of every group there is.
        token: As it came, to be passed on; empty for none.
    """

    subject: str
    tenant: str
    scopes: frozenset[str] | None
    groups: frozenset[str] | None
    token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Claims:
    """Which claims of a token say what."""

    tenant: str = "tenant"
    scopes: str = "scope"
    groups: str = "groups"


_caller: ContextVar[Caller] = ContextVar("caller")


def caller() -> Caller:
    """Who made the RPC being served. Outside of one there is nobody, and LookupError."""
    return _caller.get()


@contextmanager
def calling(one: Caller) -> Iterator[None]:
    """In the block, this one calls."""
    before = _caller.set(one)
    try:
        yield
    finally:
        _caller.reset(before)


def forwarded(*, by_word: bool) -> dict[str, str | bytes]:
    """The metadata that tell the next service who calls; none outside of an RPC.

    Args:
        by_word: The next service knows this one by its certificate, and may take its word.
    """
    one = _caller.get(None)
    if one is None:
        return {}
    told: dict[str, str | bytes] = {}
    if one.token:
        told[TOKEN] = f"Bearer {one.token}"
    if by_word and one.scopes is not None and one.groups is not None:
        told[WORD] = json.dumps(
            {
                "subject": one.subject,
                "tenant": one.tenant,
                "scopes": sorted(one.scopes),
                "groups": sorted(one.groups),
            }
        ).encode()
    return told


def bearer(value: str | None) -> str:
    """The token of an authorization header. Raises Unauthenticated where there is none."""
    scheme, _, token = (value or "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated("A bearer token is needed: authorization: Bearer TOKEN.")
    return token.strip()


def of_claims(claims: Mapping[str, Any], names: Claims, token: str) -> Caller:
    """The caller whose verified claims these are. Raises PermissionDenied without a tenant."""
    return _made(
        claims.get("sub"),
        claims.get(names.tenant),
        claims.get(names.scopes),
        claims.get(names.groups),
        token,
    )


def of_word(word: bytes) -> Caller:
    """The caller that a trusted neighbour speaks for. Raises Unauthenticated for no such word."""
    try:
        said = json.loads(word)
        return _made(said["subject"], said["tenant"], said["scopes"], said["groups"], "")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Unauthenticated(f"{WORD} is not as services of this version write it.") from error


def of_certificate(name: str, said: Mapping[str, Any]) -> Caller:
    """The caller with this name in its certificate, and what the file of callers says of it."""
    return _made(
        said.get("subject", name), said.get("tenant"), said.get("scopes"), said.get("groups"), ""
    )


def permit(one: Caller, any_of: Collection[str]) -> None:
    """Raises PermissionDenied unless it has one of the scopes; what has none is for nobody."""
    if one.scopes is not None and not one.scopes & set(any_of):
        wanted = " or ".join(sorted(any_of)) or "one that nobody has"
        raise PermissionDenied(f"This method needs the scope {wanted}.")


def _made(subject: Any, tenant: Any, scopes: Any, groups: Any, token: str) -> Caller:
    if not isinstance(subject, str) or not 0 < len(subject) <= MOST_CHARS:
        raise Unauthenticated("The identity names no subject.")
    if not isinstance(tenant, str) or not TENANT.fullmatch(tenant):
        raise PermissionDenied("The identity names no tenant.")
    return Caller(subject, tenant, _words(scopes), _words(groups, spaces=False), token)


def _words(value: Any, *, spaces: bool = True) -> frozenset[str]:
    """The words of a list, or of a text: OAuth writes scopes as one, separated by spaces."""
    if isinstance(value, str):
        value = value.split() if spaces else [value]
    if not isinstance(value, list):
        return frozenset()
    words = (word for word in value if isinstance(word, str) and 0 < len(word) <= MOST_CHARS)
    return frozenset(sorted(words)[:MOST_GROUPS])
