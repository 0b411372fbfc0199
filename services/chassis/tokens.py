"""Whose token this is: a JWT, signed by a known key, for us, and valid now."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import jwt

from services.chassis import identity
from services.chassis.errors import Unauthenticated
from services.chassis.keys import Keys

MOST_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True)
class Expected:
    """What a token must say.

    Attributes:
        algorithms: Those it may be signed with; some of trust.ALGORITHMS.
        leeway_seconds: What its clock may differ from ours.
        claims: Which claims say what of the caller.
    """

    issuer: str
    audience: str
    algorithms: Sequence[str] = ("RS256", "ES256")
    leeway_seconds: float = 10.0
    claims: identity.Claims = field(default_factory=identity.Claims)


class Tokens:
    """Verifies tokens."""

    def __init__(self, keys: Keys, expected: Expected) -> None:
        self.keys = keys
        self._expected = expected

    async def caller(self, token: str) -> identity.Caller:
        """Whose it is. Raises Unauthenticated, PermissionDenied and Unavailable."""
        if len(token) > MOST_BYTES:
            raise Unauthenticated(
                f"The token is longer than {MOST_BYTES} bytes; ask for one with fewer claims."
            )
        expected = self._expected
        try:
            header = jwt.get_unverified_header(token)
            # Before any key is looked at: what we do not verify with is not asked for.
            if header.get("alg") not in expected.algorithms:
                raise jwt.InvalidAlgorithmError
            key = await self.keys.get(header.get("kid"))
            claims = jwt.decode(
                token,
                jwt.PyJWK(key, key.get("alg") or header["alg"]),
                algorithms=list(expected.algorithms),
                issuer=expected.issuer,
                audience=expected.audience,
                leeway=expected.leeway_seconds,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except jwt.PyJWTError as error:
            raise Unauthenticated(_said(error)) from error
        return identity.of_claims(claims, expected.claims, token)


_SAID: dict[type[jwt.PyJWTError], str] = {
    jwt.ExpiredSignatureError: "The token has expired.",
    jwt.ImmatureSignatureError: "The token is not valid yet.",
    jwt.InvalidIssuedAtError: "The token is not valid yet.",
    jwt.InvalidAudienceError: "The token is for another audience.",
    jwt.InvalidIssuerError: "The token is from another issuer.",
    jwt.InvalidAlgorithmError: "The token is signed in a way that is not allowed here.",
    jwt.MissingRequiredClaimError: "The token lacks a claim: exp, iss, aud and sub are needed.",
}


def _said(error: jwt.PyJWTError) -> str:
    return next(
        (said for kind, said in _SAID.items() if isinstance(error, kind)),
        "The token cannot be verified.",
    )
