"""An issuer of tokens, and calls that carry one."""

import json
import time
from pathlib import Path

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from services.chassis import identity
from services.chassis.identity import Caller
from services.chassis.settings import Settings

ISSUER, AUDIENCE = "https://issuer.test", "verity"
EVERYTHING = ("ask", "ingest", "read", "admin")


class Issuer:
    """Signs with a key of its own, whose public half it writes to a file."""

    def __init__(self, directory: Path, kid: str = "key-1") -> None:
        self.kid = kid
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.jwks = directory / "jwks.json"
        self.publish()

    def jwk(self) -> dict:
        public = ECAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return {**public, "kid": self.kid, "use": "sig", "alg": "ES256"}

    def publish(self, *more: dict) -> None:
        self.jwks.write_text(json.dumps({"keys": [self.jwk(), *more]}))

    def settings(self, **more) -> Settings:
        return Settings(
            auth="jwt", jwt_issuer=ISSUER, jwt_audience=AUDIENCE, jwks=str(self.jwks), **more
        )

    def token(self, subject="ann", tenant="acme", scopes=EVERYTHING, groups=(), **claims) -> str:
        """A good one; `claims` replace its claims, None leaves one out."""
        now = int(time.time())
        said = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "exp": now + 600,
            "nbf": now - 60,
            "sub": subject,
            "tenant": tenant,
            "scope": " ".join(scopes),
            "groups": list(groups),
            **claims,
        }
        said = {name: value for name, value in said.items() if value is not None}
        return jwt.encode(said, self.key, "ES256", headers={"kid": self.kid})

    def caller(self, subject="ann", tenant="acme", scopes=EVERYTHING, groups=()) -> Caller:
        token = self.token(subject, tenant, scopes, groups)
        return Caller(subject, tenant, frozenset(scopes), frozenset(groups), token)


class Speaking:
    """A stub whose every call is made by one caller."""

    def __init__(self, stub, caller: Caller) -> None:
        self._stub = stub._stub if isinstance(stub, Speaking) else stub
        self.caller = caller

    def __getattr__(self, name):
        method = getattr(self._stub, name)

        def call(*args, **options):
            with identity.calling(self.caller):
                return method(*args, **options)

        return call
