"""Whom a process believes: the settings of identity and of TLS."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings

# Of tokens: signed with a key that only the issuer has. HS* would make every verifier an issuer.
ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


@dataclass(frozen=True, slots=True)
class Tls:
    """Where the files of TLS are, each in PEM.

    Attributes:
        certificate: Our own, those of its issuers after it.
        key: Its private key, without a password.
        ca: Of those whose certificates we take for others' names.
    """

    certificate: Path
    key: Path
    ca: Path


class Trust(BaseSettings):
    """How callers are known, and how services know each other."""

    profile: Literal["dev", "prod"] = "dev"

    # How callers are known; empty: not at all, which the prod profile wants to be said.
    auth: Literal["", "none", "jwt", "mtls"] = ""
    # Whose data callers work with where nobody is asked.
    tenant: str = Field(default="default", pattern=r"^[A-Za-z0-9_.-]{1,64}$")
    jwt_issuer: str = ""
    jwt_audience: str = ""
    # Joined by commas.
    jwt_algorithms: str = "RS256,ES256"
    # A file or an https URL.
    jwks: str = ""
    jwks_seconds: float = Field(default=300.0, ge=1)
    jwt_leeway_seconds: float = Field(default=10.0, ge=0, le=300)
    jwt_tenant_claim: str = Field(default="tenant", min_length=1)
    jwt_scopes_claim: str = Field(default="scope", min_length=1)
    jwt_groups_claim: str = Field(default="groups", min_length=1)
    # For mtls: what callers with a certificate of their own may do.
    callers_file: Path | None = None

    # TLS, on the way in and out: all three files, or none.
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    tls_ca: Path | None = None
    # Names in certificates, joined by commas, of the services that may call.
    tls_peers: str = ""
    tls_client_certificates: Literal["required", "none"] = "required"

    @field_validator("callers_file", "tls_certificate", "tls_key", "tls_ca", mode="before")
    @classmethod
    def _empty_is_none(cls, value: Any) -> Any:
        return value or None

    @field_validator("jwt_algorithms")
    @classmethod
    def _algorithms_are_known(cls, value: str) -> str:
        if not _listed(value) or set(_listed(value)) - set(ALGORITHMS):
            raise ValueError(f"only these are safe here: {', '.join(ALGORITHMS)}")
        return value

    @field_validator("jwks")
    @classmethod
    def _keys_come_unchanged(cls, value: str) -> str:
        parts = urlsplit(value)
        if "://" in value and not (
            parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
        ):
            raise ValueError("keys are read from a file or an https:// URL")
        return value

    @model_validator(mode="after")
    def _callers_are_known(self) -> Self:
        if self.profile == "prod" and not self.auth:
            raise ValueError(
                "the prod profile needs VERITY_AUTH: jwt, mtls, or none, in so many words"
            )
        if self.auth == "jwt" and not (self.jwt_issuer and self.jwt_audience and self.jwks):
            raise ValueError(
                "auth jwt needs VERITY_JWT_ISSUER, VERITY_JWT_AUDIENCE and VERITY_JWKS"
            )
        if self.auth == "mtls":
            if not self.tls_certificate:
                raise ValueError("auth mtls needs VERITY_TLS_CERTIFICATE, _KEY and _CA")
            if self.tls_client_certificates == "none" or not (self.callers_file or self.tls_peers):
                raise ValueError(
                    "auth mtls needs certificates of clients, and VERITY_CALLERS_FILE or "
                    "VERITY_TLS_PEERS to say whose"
                )
        return self

    @model_validator(mode="after")
    def _tls_is_whole(self) -> Self:
        files = (self.tls_certificate, self.tls_key, self.tls_ca)
        if any(files) and not all(files):
            raise ValueError(
                "VERITY_TLS_CERTIFICATE, _KEY and _CA are given together or not at all"
            )
        if self.tls_peers and not (all(files) and self.tls_client_certificates == "required"):
            raise ValueError("VERITY_TLS_PEERS needs TLS with certificates of clients")
        return self

    @property
    def tls(self) -> Tls | None:
        """The files of TLS; None where calls go in the clear."""
        if self.tls_certificate and self.tls_key and self.tls_ca:
            return Tls(self.tls_certificate, self.tls_key, self.tls_ca)
        return None

    def listed(self, name: str) -> tuple[str, ...]:
        """The items of a setting that joins them by commas."""
        return _listed(getattr(self, name))


def _listed(value: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in value.split(",") if item.strip())
